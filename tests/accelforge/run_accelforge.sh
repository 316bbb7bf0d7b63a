#!/usr/bin/env bash
# Imported mappings of AccelForge: our results are compared with the reports of the peer, and each difference must have a known
# cause. Every specification of the reference also passes `dflc import`, `check` and `fmt`. The data is read from the reference
# folder beside the checkout (`REFERENCE=` names another); without it the test is skipped.
. tests/harness/script.sh
. tests/harness/peer.sh
reference=${REFERENCE:-../shared/reference}/ffm
program=${OUT:-build/release}/tests/accelforge/accelforge
[ -f "$reference/model/m01_mm_two_level.yaml" ] || skip_all "there is no $reference/model/m01_mm_two_level.yaml"
compare_with_peer

# A report that is off must be noticed in every kind of number.
mkdir -p "$work/spoilt/model"
cp "$reference/model/m01_mm_two_level.yaml" "$work/spoilt/model/"
report=m01_mm_two_level.expected.json
for change in 's/"read", 768.0/"read", 769.0/' 's/"write", 6144.0/"write", 6145.0/' 's/"compute", 1536.0/"compute", 1535.0/' \
    's/"T0", 192.0/"T0", 191.0/' 's/"GlobalBuffer": 1984.0/"GlobalBuffer": 1983.0/' \
    's/"energy_dynamic": 147840.0/"energy_dynamic": 147841.0/' 's/^ "latency": 1536.0/ "latency": 1537.0/' \
    's/"energy_leak": 188.928/"energy_leak": 188/'; do
    sed "$change" "$reference/model/$report" >"$work/spoilt/model/$report"
    if cmp -s "$reference/model/$report" "$work/spoilt/model/$report"; then
        fail "$change changes nothing"
    elif "$program" "$work/spoilt" | tail -n 1 | grep -qx '0 passed, 1 failed'; then
        pass
    else
        fail "$change is not noticed"
    fi
done

# Specifications without a mapping: all are imported, and pass the checks.
imported=0
for file in "$reference"/mapper/*.yaml "$reference"/upstream/*.yaml; do
    case $file in *.mapping.yaml) continue ;; esac
    name=$(basename "$file" .yaml)
    if timeout 60 "$DFLC" import accelforge "$file" -o "$work/$name.dfl" 2>"$work/out"; then
        imported=$((imported + 1))
        if "$DFLC" check "$work/$name.dfl" >"$work/out" 2>&1 && [ ! -s "$work/out" ] &&
            "$DFLC" fmt --check "$work/$name.dfl" >"$work/out" 2>&1; then
            pass
        else
            judge 1 "$name as DFL" "$work/out"
        fi
    else
        judge 1 "$name" "$work/out"
    fi
done
echo "specifications without a mapping: $imported imported"

finish
