#!/usr/bin/env bash
# Time and memory of plans over chips, from text to report: the best of five runs of the whole program.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
dflc=${DFLC:-build/dflc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# row NAME FILE MAPPING BAR; the mapping `all` stands for all of the file
row() {
    only="--only $3"
    [ "$3" != all ] || only=
    best=999999999 memory=0
    for _ in 1 2 3 4 5; do
        start=$(date +%s%N)
        "$dflc" eval $only -o "$work/report" "$2" 2> "$work/err" || { echo "$1: $(head -n 1 "$work/err")"; return; }
        took=$((($(date +%s%N) - start) / 1000))
        [ $took -lt $best ] && best=$took
    done
    [ -x /usr/bin/time ] && memory=$(/usr/bin/time -f %M "$dflc" eval $only -o "$work/report" "$2" 2>&1 >/dev/null | tail -n 1)
    awk -v name="$1" -v us="$best" -v kb="$memory" -v bar="$4" 'BEGIN {
        printf "%-52s %7.1f ms", name, us / 1e3
        if (kb > 0) printf ", %.0f MB", kb / 1e3
        printf " (bar %s)\n", bar }'
}

cat > "$work/largest.dfl" << 'EOF'
dfl 1;
import std.workloads.llama3 as llama;
import std.systems.dgx;
workload step = train(llama.llama3_405b(B = 2048 * 600, M = 8192), optimizer = adam(fp32));
system pod = dgx.superpod_h100(servers = 12600) { hbm.size = 10TB; }
mapping largest for step on pod {
    spatial layer/126 on node pipeline(schedule = one_f_one_b);
    spatial b/100 on node;
    temporal b/2048;
    temporal layer;
    spatial g/8, f/8, v/8 on gpu;
    keep weights, gradients, activations, moments in hbm;
    recompute forward;
    ...;
}
EOF
cat > "$work/open.dfl" << 'EOF'
dfl 1;
import std.workloads.gpt3;
import std.systems.dgx;
workload step = train(gpt3(B = 3072), optimizer = adam(fp32));
system pod = dgx.superpod_a100(servers = 8);
mapping best for step on pod {
    spatial b/? on node;
    spatial layer/? on node pipeline(schedule = one_f_one_b);
    spatial m/? on node;
    temporal b:?;
    temporal layer;
    spatial h/?, f/?, v/? on gpu;
    spatial b/?, m/?, d/? on gpu;
    keep weights, gradients, activations, moments in hbm;
    recompute qk, top, A, sum, av;
    ...;
    minimize latency;
}
EOF
row "GPT-3 on 1,024 chips (Calculon 9 ms)" examples/gpt3_1024.dfl megatron "20 ms, 50 MB"
row "GPT-3 on 64 chips, as Megatron-LM" examples/megatron.dfl gpt_175b_full "20 ms, 50 MB"
row "Llama-3 405B on 16,384 chips" examples/llama3_16384.dfl herd "50 ms"
row "GPT-3 on 4,096 TPU v4" examples/tpu_v4_pod.dfl sharded "50 ms"
row "100,800 chips, 126 stages, 2,048 micro-batches" "$work/largest.dfl" largest "1 s, 500 MB"
row "80 systems of DFModel, searched copies and stages" examples/dfmodel_study.dfl all "1 s"
row "search: GPT-3 on 64 chips, 5,767,168 plans" "$work/open.dfl" best "2.9 s, 200 MB"
