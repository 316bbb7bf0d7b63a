#!/usr/bin/env bash
# Imported mappings of Timeloop: counts and compute cycles are compared with the reports of the peer, and each difference must
# have a known cause. Runs of its mapper also pass `dflc import`, `check` and `fmt`. The reports are read from the reference
# folder beside the checkout (`REFERENCE=` names another); without it the test is skipped.
. tests/harness/script.sh
. tests/harness/peer.sh
reference=${REFERENCE:-../shared/reference}/timeloop
program=${OUT:-build/release}/tests/timeloop/timeloop
[ -f "$reference/fuzz/fuzz.jsonl" ] || skip_all "there is no $reference/fuzz/fuzz.jsonl"
spoilt=$work/spoilt
compare_with_peer

# A report that is off by one must be noticed in every kind of number.
mkdir -p "$spoilt/fuzz" "$spoilt/cases"
plain=$(sed -n '/"id": "fp0007"/p' "$reference/fuzz/fuzz.jsonl")
for field in reads fills updates capacity compute_cycles true_macs mac_energy_pJ energy_pJ_per_instance; do
    printf '%s\n' "$plain" | sed -E "s/\"$field\": [0-9]+/\"$field\": 999999/" >"$spoilt/fuzz/fuzz.jsonl"
    if "$program" "$spoilt" | tail -n 1 | grep -qx '0 passed, 1 failed'; then
        pass
    else
        fail "another number for $field is not noticed"
    fi
done

# Runs of the mapper: fixed lines and holes; what a level may hold is said where it is constrained. The only warnings name
# constraints that lines of the search may break.
for file in "$reference"/mapper/*/input.yaml; do
    name=$(basename "$(dirname "$file")")
    bypasses=$(grep -cE '^    bypass: \[[A-Z]' "$file")
    if "$DFLC" import timeloop "$file" -o "$spoilt/$name.dfl" >"$work/out" 2>&1 &&
        ! grep -E 'error|warning' "$work/out" | grep -qvE 'the search may add|warnings?$' &&
        "$DFLC" check "$spoilt/$name.dfl" >"$work/out" 2>&1 && [ ! -s "$work/out" ] &&
        "$DFLC" fmt --check "$spoilt/$name.dfl" >"$work/out" 2>&1 &&
        [ "$(grep -c 'holds' "$spoilt/$name.dfl")" -eq "$bypasses" ]; then
        pass
    else
        judge 1 "$name" "$work/out"
    fi
done

finish
