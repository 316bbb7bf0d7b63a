#!/usr/bin/env bash
# Measures the smallest command: starts the process, reads a small file, checks it. Prints the least and the middle time of
# many runs by the clock, since a loaded machine delays some of them, and the mean processor time. Fails above the bar.
set -eu
DFLC=${DFLC:-build/dflc}
export LC_ALL=C TIMEFORMAT='%U %S'
times=100 bar=5000
measure() {
    local from
    for _ in $(seq $times); do
        from=${EPOCHREALTIME/./}
        "$DFLC" check examples/gemm.dfl >/dev/null 2>&1
        printf '%d\n' $((${EPOCHREALTIME/./} - from)) >&3
    done
}
clock=$(mktemp)
trap 'rm -f "$clock"' EXIT
processor=$({ time measure 3>"$clock"; } 2>&1)
sort -n "$clock" | awk -v n=$times -v bar=$bar -v processor="$processor" '
    { at[NR] = $1 / 1000 }
    END {
        split(processor, used, " ")
        printf "start-up and check of a file    %8.2f ms at least, %.2f ms in the middle, process included (bar %g ms); " \
               "%.2f ms of a processor\n", at[1], at[int((NR + 1) / 2)], bar / 1000, 1000 * (used[1] + used[2]) / n
        exit at[1] > bar / 1000
    }'
