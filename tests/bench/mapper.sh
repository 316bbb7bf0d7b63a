#!/usr/bin/env bash
# Measures `dflc map` on specifications for which times of peers are known: processor seconds of the whole command with
# one thread, and elapsed seconds with one thread per processor; the best of three runs. Each row also shows the
# processor seconds of AccelForge's mapper for the specification (accelforge_runtime.csv, measured on one core of
# another machine). The rows `perfect` search tiles that divide, which is the space of the peer; the rows `default` search all
# tiles, with the overlap that the file gives, until LIMIT= seconds (30 by default) are over, and show gap and memory.
set -eu
DFLC=${DFLC:-build/dflc}
export LC_ALL=C
reference=${REFERENCE:-../shared/reference}/ffm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() { # seconds FILE OPTION...: user and system time
    local best=
    for _ in 1 2 3; do
        local t
        t=$( { TIMEFORMAT='%U %S'; time "$DFLC" map --jobs 1 "${@:2}" "$1" >/dev/null 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }')
        best=$(awk -v a="${best:-1e9}" -v b="$t" 'BEGIN { print b < a ? b : a }')
        awk -v b="$best" 'BEGIN { exit !(b > 2) }' && break
    done
    echo "$best"
}

elapsed() { # elapsed FILE OPTION...: elapsed seconds with all processors
    local best=
    for _ in 1 2 3; do
        local t
        t=$( { TIMEFORMAT='%R'; time "$DFLC" map "${@:2}" "$1" >/dev/null 2>"$work/err"; } 2>&1 )
        best=$(awk -v a="${best:-1e9}" -v b="$t" 'BEGIN { print b < a ? b : a }')
        awk -v b="$best" 'BEGIN { exit !(b > 2) }' && break
    done
    echo "$best"
}

row() { # row NAME FILE PEER BAR: the space of the peer
    local s c how
    s=$(seconds "$2" --tiles perfect) c=$(elapsed "$2" --tiles perfect)
    how=$(sed -n 's/^ *search .*: \([a-z ]*\)$/\1/p' "$work/err")
    awk -v n="$1" -v s="$s" -v c="$c" -v p="$3" -v b="$4" -v how="$how" 'BEGIN {
        printf "map perfect %-30s %8.3f s, %.3f s on the clock (%s)", n, s, c, b
        if (p != "") printf ", AccelForge %.1f s: %.0f times", p, p / (s > 0.001 ? s : 0.001)
        printf "; %s\n", how
    }'
}

default_row() { # default_row NAME FILE BAR: all tiles; one run
    local s
    s=$( { TIMEFORMAT='%U %S'; time "$DFLC" map -q -A all --jobs 1 --tiles imperfect --time-limit "${LIMIT:-30}" \
        --memory-limit 1GB "$2" >/dev/null 2>"$work/err" || true; } 2>&1 | awk '{ print $1 + $2 }')
    awk -v n="$1" -v s="$s" -v b="$3" '
        / search .*: / { how = $0; sub(/.*: /, "", how) }
        / value / { sub(/^ *value */, ""); value = $0 }
        /^ *lower bound / { gap = $0; sub(/.*gap /, "gap ", gap) }
        /E0601/ { how = how ", 1 GB was not enough" }
        END { printf "map default %-30s %8.3f s (%s); %s, %s, %s\n", n, s, b, how == "" ? "no result" : how, value, gap == "" ? "no bound" : gap }
    ' "$work/err"
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
default_row "100 different matmuls" "$work/chain.dfl" "bar 0.3 s each"

# network MODULE WORKLOAD CHIP_MODULE CHIP MINIMIZE
network() {
    printf 'dfl 1;\nimport std.workloads.%s as net;\nimport std.chips.%s as chip;\n' "$1" "$3" >"$work/net.dfl"
    printf 'mapping best for net.%s on chip.%s { ...; minimize %s; }\n' "$2" "$4" "$5" >>"$work/net.dfl"
}

sed 's/option overlap = perfect; //' tests/bench/gpt3_layer.dfl >"$work/layer.dfl"
default_row "GPT-3 175B layer, tpu_v4i" "$work/layer.dfl" "bar 3 s, proven"
sed 's/[.][.][.];/...; minimize energy;/' "$work/layer.dfl" >"$work/energy.dfl"
default_row "the same, energy alone" "$work/energy.dfl" "bar: a fifth of energy * latency, at least"
while read -r module chip workload; do
    for shape in 1000:1009:197 8192:128:4096; do
        IFS=: read -r m n k <<<"$shape"
        network gemm "$workload(M = $m, N = $n, K = $k)" "$module" "$chip" 'energy * latency'
        default_row "GEMM $m x $n x $k, $chip" "$work/net.dfl" "bar 0.3 s"
    done
done <<'END'
tpu_v4i tpu_v4i gemm
tpu_v4 tpu_v4 gemm
tpu_v2 tpu_v2 gemm
tpu_v5 tpu_v5p gemm
tpu_v1 tpu_v1 gemm_i8
a100 a100_80g gemm
h100 h100 gemm
mi300x mi300x gemm
wse2 wse2 gemm_fp16
gaudi gaudi3 gemm
graphcore gc200 gemm_fp16
cpu epyc_7763 gemm_fp64
eyeriss eyeriss gemm_i16
simba simba gemm_i8
gemmini gemmini gemm_i8
nvdla nvdla_large gemm_i8
END
for chip in a100:a100_80g h100:h100; do
    network gpt3 gpt3_decode "${chip%:*}" "${chip#*:}" latency
    default_row "GPT-3 decode step, ${chip%:*}" "$work/net.dfl" "bar 3 s"
    network llama3 llama3_8b_decode "${chip%:*}" "${chip#*:}" latency
    default_row "Llama-3 8B decode step, ${chip%:*}" "$work/net.dfl" "bar 3 s"
    network llama3 llama3_8b "${chip%:*}" "${chip#*:}" latency
    default_row "Llama-3 8B, 32 layers, ${chip%:*}" "$work/net.dfl" "bar 5 s"
done
while read -r module workload; do
    for chip in a100:a100_80g h100:h100 tpu_v4i:tpu_v4i; do
        network "$module" "$workload" "${chip%:*}" "${chip#*:}" latency
        "$DFLC" check -q -A all "$work/net.dfl" >/dev/null 2>&1 && default_row "$workload, ${chip%:*}" "$work/net.dfl" "bar 20 s"
    done
done <<'END'
alexnet alexnet
bert_large bert_large
gpt2 gpt2_small
gpt3 gpt3_6_7b
mobilenetv2 mobilenetv2
resnet50 resnet50
vgg16 vgg16
END
