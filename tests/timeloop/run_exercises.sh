#!/usr/bin/env bash
# Timeloop's own exercises and example designs (version 0.4), from their files and from the flattened form of its front end.
# What is imported must be without diagnostics in `check` and in the layout of `fmt`. Fixed mappings, and those that the peer's
# mapper found, must have the cycles of the peer within 0.5 % and its energy within 1 %. A search must be no worse
# than that of the peer (energy times cycles); two seconds suffice for that. Prints a table: the cycles here and of the peer,
# the energies in pJ, the difference, and what the peer counts differently. A folder that is refused is named with the reason.
# The folders are read beside the checkout (`REFERENCE=` names another place); without them the test is skipped.
. tests/harness/script.sh
exercises=${REFERENCE:-../shared/reference}/timeloop/exercises
[ -d "$exercises" ] || skip_all "there is no $exercises"

import_quietly() { # import_quietly NAME FILE...: imports the run to NAME.dfl; a warning names constraints or states an amount
    local name=$1
    shift
    "$DFLC" import timeloop "$@" -o "$work/$name.dfl" >"$work/out" 2>&1 && cp "$work/out" "$work/$name.said" &&
        ! grep -E 'warning' "$work/out" | grep -qvE 'the search may add|Timeloop counts [0-9.e+]+ pJ|[0-9]+ warnings?$' &&
        "$DFLC" check "$work/$name.dfl" >"$work/out" 2>&1 && [ ! -s "$work/out" ] &&
        "$DFLC" fmt --check "$work/$name.dfl" >"$work/out" 2>&1 &&
        return
    echo "$name: refused: $(grep -m 1 -E 'error|warning' "$work/out")"
    judge 1 "$name" "$work/out"
    return 1
}

compare() { # compare NAME STATS SEARCH: the CSV of NAME with the report of the peer
    awk -v name="$1" -v search="$3" -f tests/timeloop/exercises.awk "$2" "$work/$1.csv" "$work/$1.said" >"$work/line"
    local status=$?
    cat "$work/line"
    judge "$status" "$1 differs from the peer" "$work/line"
}

evaluate() { # evaluate NAME: to NAME.csv, without a diagnostic
    "$DFLC" eval --format csv "$work/$1.dfl" >"$work/$1.csv" 2>"$work/out" && [ ! -s "$work/out" ]
    judge $? "$1 is not evaluated without diagnostics" "$work/out"
}

run_fixed() { # run_fixed NAME STATS ERT FILE...
    local name=$1 stats=$2 ert=$3
    shift 3
    import_quietly "$name" "$@" "$ert" || return
    evaluate "$name"
    compare "$name" "$stats" 0
}

run_search() { # run_search NAME STATS ERT FILE...
    local name=$1 stats=$2 ert=$3
    shift 3
    import_quietly "$name" "$@" "$ert" || return
    "$DFLC" map --time-limit 2 --gap 50% "$work/$name.dfl" -o "$work/$name.found.dfl" >"$work/out" 2>&1
    [ -s "$work/$name.found.dfl" ]
    judge $? "$name has no result" "$work/out"
    mv "$work/$name.found.dfl" "$work/$name.dfl"
    evaluate "$name"
    compare "$name" "$stats" 1
}

printf '%-52s %8s %8s %12s %12s %10s  %s\n' run cycles peer energy peer difference 'the peer counts'
for folder in "$exercises"/*/; do
    folder=${folder%/}
    name=$(basename "$folder")
    [ -f "$folder/prob.yaml" ] || continue
    constraints=()
    [ ! -f "$folder/constraints.yaml" ] || constraints=("$folder/constraints.yaml")
    if [ -f "$folder/map.yaml" ]; then
        # The order of the files says nothing.
        run_fixed "$name" "$folder/stats.txt" "$folder/ERT_summary.yaml" "$folder/map.yaml" "$folder/prob.yaml" \
            "$folder/arch.yaml"
        run_fixed "$name.parsed" "$folder/stats.txt" "$folder/ERT_summary.yaml" "$folder/parsed.yaml"
    else
        run_fixed "$name.best" "$folder/best.stats.txt" "$folder/best.ERT_summary.yaml" "$folder/arch.yaml" \
            "$folder/best.map.yaml" "$folder/prob.yaml" "$exercises"/components/*.yaml
        run_search "$name" "$folder/best.stats.txt" "$folder/best.ERT_summary.yaml" "$folder/arch.yaml" "$folder/prob.yaml" \
            "$folder/mapper.yaml" ${constraints[@]+"${constraints[@]}"}
        run_search "$name.parsed" "$folder/best.stats.txt" "$folder/best.ERT_summary.yaml" "$folder/parsed.yaml"
    fi
    # All files of the folder: the one of the front end repeats the others.
    "$DFLC" import "$folder" -o "$work/folder.dfl" >"$work/out" 2>&1 &&
        [ "$(grep -c 'warning.E0710.: the front end of Timeloop wrote this file' "$work/out")" -eq 1 ]
    judge $? "$name as a folder" "$work/out"
    [ ! -f "$folder/map.yaml" ] || {
        "$DFLC" eval --format csv "$work/folder.dfl" >"$work/folder.csv" 2>"$work/out" &&
            cmp "$work/folder.csv" "$work/$name.csv" >>"$work/out" 2>&1
        judge $? "the result for the folder of $name" "$work/out"
    }
    # Without a table of energies, the result has none, and says so.
    "$DFLC" import timeloop "$folder/parsed.yaml" -o "$work/plain.dfl" >"$work/out" 2>&1 &&
        grep -q 'warning\[E0715\].*the energies are unknown' "$work/out" && ! grep -q pJ "$work/plain.dfl" &&
        "$DFLC" check "$work/plain.dfl" >"$work/out" 2>&1 && [ ! -s "$work/out" ]
    judge $? "$name from parsed.yaml alone" "$work/out"
done
finish
