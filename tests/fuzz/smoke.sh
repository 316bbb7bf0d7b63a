#!/usr/bin/env bash
# smoke.sh TARGET...: runs each libFuzzer program for FUZZ_SECONDS (30), from its seeds, its regressions and the texts
# of the tree. New inputs stay in $OUT/corpus/NAME, crashing inputs in $OUT/crashes. Ends with `N passed, N failed`.
# Targets bound their work by steps. So only an input that never ends reaches the limits on time: FUZZ_SLOWEST (120 s) for one
# input, and 15 times as much for all texts that come first, however slow or busy the machine is.
set -u
export LC_ALL=C
OUT=${OUT:-build/fuzz}
seconds=${FUZZ_SECONDS:-30} slowest=${FUZZ_SLOWEST:-120}
passed=0 failed=0
mkdir -p "$OUT/crashes"
for program in "$@"; do
    name=${program##*/fuzz_}
    corpus=$OUT/corpus/$name
    mkdir -p "$corpus"
    inputs=("$corpus")
    for dir in "tests/fuzz/seeds/$name" "tests/fuzz/regressions/$name"; do
        [ -d "$dir" ] && inputs+=("$dir")
    done
    case $name in
    lex | parse | fmt | sema | eval | map)
        for dir in examples stdlib tests/golden; do
            [ -d "$dir" ] && inputs+=("$dir")
        done
        ;;
    import) inputs+=(examples) ;;
    esac
    options=(-max_total_time="$seconds" -max_len=16384 -timeout="$slowest" -rss_limit_mb=2048 -print_final_stats=1
             -artifact_prefix="$OUT/crashes/$name-")
    [ -f tests/fuzz/dfl.dict ] && options+=(-dict=tests/fuzz/dfl.dict)
    timeout -k 10 $((seconds + 15 * slowest)) "$program" "${options[@]}" "${inputs[@]}" >"$OUT/$name.log" 2>&1 </dev/null
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$OUT/$name.log")
    if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
        printf 'ok %s: %s runs, %s features\n' "$name" "$runs" \
            "$(sed -n 's/.* ft: \([0-9]*\) .*/\1/p' "$OUT/$name.log" | tail -n 1)"
        passed=$((passed + 1))
    else
        echo "FAILED: $name (status $status, ${runs:-0} runs)"
        tail -n 40 "$OUT/$name.log" | sed 's/^/    /'
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
