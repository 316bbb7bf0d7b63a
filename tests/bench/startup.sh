#!/usr/bin/env bash
# Measures the smallest command: starts the process, reads a small file, checks it. Prints the time by the clock, which grows
# with the load of the machine, and the processor time.
set -eu
DFLC=${DFLC:-build/dflc}
export LC_ALL=C TIMEFORMAT='%R %U %S'
times=50
took=$({ time for _ in $(seq $times); do "$DFLC" check examples/gemm.dfl >/dev/null 2>&1 || true; done; } 2>&1)
printf '%s\n' "$took" | awk -v n=$times '
    { printf "start-up and check of a file    %8.2f ms, process included (bar 5 ms); %.2f ms of a processor\n", 1000 * $1 / n, 1000 * ($2 + $3) / n }'
