#!/usr/bin/env bash
# Measures `dflc map` on specifications for which times of peers are known: processor seconds of the whole command with
# one thread, and elapsed seconds with one thread per processor; the best of three runs. Each row also shows the
# processor seconds of AccelForge's mapper for the specification (accelforge_runtime.csv, measured on one core of
# another machine).
set -eu
DFLC=${DFLC:-build/dflc}
export LC_ALL=C
reference=${REFERENCE:-../shared/reference}/ffm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() { # seconds FILE: user and system time
    local best=
    for _ in 1 2 3; do
        local t
        t=$( { TIMEFORMAT='%U %S'; time "$DFLC" map --jobs 1 "$1" >/dev/null 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }')
        best=$(awk -v a="${best:-1e9}" -v b="$t" 'BEGIN { print b < a ? b : a }')
        awk -v b="$best" 'BEGIN { exit !(b > 2) }' && break
    done
    echo "$best"
}

elapsed() { # elapsed FILE: elapsed seconds with all processors
    local best=
    for _ in 1 2 3; do
        local t
        t=$( { TIMEFORMAT='%R'; time "$DFLC" map "$1" >/dev/null 2>"$work/err"; } 2>&1 )
        best=$(awk -v a="${best:-1e9}" -v b="$t" 'BEGIN { print b < a ? b : a }')
        awk -v b="$best" 'BEGIN { exit !(b > 2) }' && break
    done
    echo "$best"
}

row() { # row NAME FILE PEER BAR
    local s c how
    s=$(seconds "$2") c=$(elapsed "$2")
    how=$(sed -n 's/^ *search .*: \([a-z ]*\)$/\1/p' "$work/err")
    awk -v n="$1" -v s="$s" -v c="$c" -v p="$3" -v b="$4" -v how="$how" 'BEGIN {
        printf "map %-30s %8.3f s, %.3f s on the clock (%s)", n, s, c, b
        if (p != "") printf ", AccelForge %.1f s: %.0f times", p, p / (s > 0.001 ? s : 0.001)
        printf "; %s\n", how
    }'
}

if [ -d "$reference/mapper" ]; then
    while read -r name bar; do
        case $name in u_*) file=$reference/upstream/$name.yaml ;; *) file=$reference/mapper/$name.yaml ;; esac
        "$DFLC" import accelforge "$file" -o "$work/$name.dfl" 2>/dev/null
        peer=$(awk -F, -v n="$name" '$1 == n { print $8 + $9 }' "$reference/accelforge_runtime.csv")
        row "$name" "$work/$name.dfl" "$peer" "$bar"
    done <<'END'
p01_chain1_EDP bar 10 ms
p04_chain4_EDP bar 10 ms
p22_residual_E bar 10 ms
p40_gpt_tiny_EDP bar 10 ms
p33_tpu_mm2 bar 50 ms
p36_eyeriss_mm3 bar 50 ms
p38_simba_mm3 bar 50 ms
p42_tpu_gpt67_prefill bar 1 s
p45_tpu_gpt175_prefill bar 1 s
u_snowcat_mixtral8x22B_prefill_unfused bar 1 s
u_snowcat_llama4_maverick_prefill_unfused bar 1 s
u_snowcat_llama4_scout_prefill_unfused bar 1 s
u_snowcat_qwen3_8B_prefill_unfused bar 1 s
u_tpu_v4i_gpt3_175B_prefill_unfused bar 1 s
END
else
    echo "map: skipped, there is no $reference/mapper"
fi
row "GPT-3 175B layer, std.tpu_v4i" tests/bench/gpt3_layer.dfl "" "bar 1 s"
# chain N EXTENTS: a chain of N matmuls, with the extents in turn, or all different ones.
chain() {
    awk -v n="$1" -v kind="$2" 'BEGIN {
        print "dfl 1;\nsystem chip {\n    memory dram { size = unlimited; bandwidth = 8B/s; energy = 100J/bit; }"
        print "    memory sram { size = 1KiB; bandwidth = 64B/s; energy = 1J/bit; }"
        print "    compute mac { rate = 1MAC/s; energy = 1J/MAC; }\n}\nworkload chain : i8 {"
        printf "    rank m = 32"
        for (i = 0; i <= n; i++) printf ", n%d = %d", i, kind == "equal" ? (i % 2 ? 32 : 16) : 16 + 8 * i
        print ";\n    input T0[m, n0];"
        for (i = 1; i <= n; i++) {
            printf "    weight W%d[n%d, n%d];\n    %sT%d[m, n%d] += T%d[m, n%d] * W%d[n%d, n%d];\n", i, i - 1, i,
                i == n ? "output " : "", i, i, i - 1, i - 1, i, i - 1, i
        }
        print "}\nmapping best for chain on chip { option overlap = perfect; ...; minimize energy; }"
    }' >"$work/chain.dfl"
}

for n in 1 10 100 1000; do
    chain "$n" equal
    row "chain of $n matmuls" "$work/chain.dfl" "$(awk -v n="$n" 'BEGIN { print 2 + 0.56 * n }')" "bar 1 ms each"
done
chain 100 different
row "100 different matmuls" "$work/chain.dfl" "" "no bar"
