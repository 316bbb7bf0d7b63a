#!/usr/bin/env bash
# Measures the smallest command: starts the process, reads a small file, checks it.
set -eu
times=50
start=$(date +%s%N)
for _ in $(seq $times); do "$DFLC" check examples/gemm.dfl >/dev/null 2>&1 || true; done
end=$(date +%s%N)
awk -v ns=$((end - start)) -v n=$times 'BEGIN { printf "start-up and check of a file    %8.2f ms, process included (bar 5 ms)\n", ns / n / 1e6 }'
