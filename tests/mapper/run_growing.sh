#!/usr/bin/env bash
# A matrix product whose work stalls for transfers, on buffers of growing size: the mapping that the search finds for a larger
# buffer is no slower, but for 1 %. These results are not proven: the search estimates waits by mapper/waits.h, which does not
# contain the ramp of two buffers (MODEL.md, "Two buffers"), so it may rank mappings that are nearly equal differently than the
# model. With 32 KiB it finds one that takes 0.2 % longer than with 24 KiB.
set -u
export LC_ALL=C NO_COLOR=1
sizes=(8 12 16 24 32 48 64 96 128 192 256)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 before=

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

"${DFLC:-build/dflc}" eval -q --format csv "$work/growing.dfl" >"$work/out" 2>"$work/told"
for size in "${sizes[@]}"; do
    now=$(awk -F, -v name="with_$size" '$1 == name { print $5; exit }' "$work/out")
    if [ -n "$now" ] && awk -v now="$now" -v before="${before:-$now}" 'BEGIN { exit !(now <= before * 1.01) }'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: with $size KiB: ${now:-nothing} s, with less ${before:-nothing} s"
    fi
    before=$now
done
[ "$failed" -eq 0 ] || cat "$work/told"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
