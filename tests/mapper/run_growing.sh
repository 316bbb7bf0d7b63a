#!/usr/bin/env bash
# A matrix product whose work stalls for transfers, on buffers of growing size. A mapping for a buffer fits a larger one, so
#   - the lower bound for a larger buffer is at most the time found for each smaller one;
#   - a result that is called optimal for a larger buffer is no slower than what was found for a smaller one;
#   - any other result is slower by no more than 1 %. Such results differ because the search ranks mappings by waits.h, whose
#     time of two buffers lacks the ramp (MODEL.md, "Two buffers"), before the model evaluates the best of them: of mappings
#     that are nearly equal it may pass on the slower one. With 32 KiB it finds one that takes 0.2 % longer than with 24 KiB.
set -u
export LC_ALL=C NO_COLOR=1
sizes=(8 12 16 24 32 48 64 96 128 192 256)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 least=

{
    cat <<'TEXT'
workload product : i8 {
    rank m = 256, n = 384, k = 384;
    input A[m, k];
    weight B[k, n];
    output Z[m, n] : i32 += A[m, k] * B[k, n];
}
system edge(room = 8KiB) {
    clock = 800MHz;
    memory dram { size = unlimited; bandwidth = 12.8GB/s; energy = 15pJ/bit; }
    memory sram { size = room; buffers = 2; bandwidth = 102.4GB/s; energy = 1.2pJ/bit; }
    network mesh = bus { multicast = row, col; reduce = row; }
    array row[16], col[16] over mesh {
        memory reg { size = 128B; energy = 0.05pJ/bit; }
        compute mac { rate = 1MAC/cycle; energy = 0.2pJ/MAC; }
    }
}
TEXT
    for size in "${sizes[@]}"; do
        echo "mapping with_$size for product on edge(room = ${size}KiB) { ...; minimize latency; }"
    done
} >"$work/growing.dfl"

"${DFLC:-build/dflc}" eval -q --format json "$work/growing.dfl" >"$work/out" 2>"$work/told"
# a line for each result: whether it is optimal, its value, and the lower bound (null = none)
grep -oE '"(value|lower_bound|optimal)": *[^,}]*' "$work/out" | sed 's/.*: *//' | paste -d ' ' - - - >"$work/results"
for size in "${sizes[@]}"; do
    read -r optimal now bound || now=
    if [ -n "$now" ] && awk -v now="$now" -v bound="$bound" -v optimal="$optimal" -v least="${least:-$now}" 'BEGIN {
        exit !(bound != "null" && bound <= least * (1 + 1e-9) && now <= least * (optimal == "true" ? 1 + 1e-9 : 1.01)) }'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: with $size KiB: ${now:-nothing} s, bound ${bound:-none}, with less ${least:-nothing} s"
    fi
    least=$(awk -v now="${now:-inf}" -v least="${least:-inf}" 'BEGIN { print now + 0 < least + 0 ? now : least }')
done <"$work/results"
[ "$failed" -eq 0 ] || cat "$work/told"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
