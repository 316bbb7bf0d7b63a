#!/usr/bin/env bash
# Predicted and measured times of one layer of GPT 22B on 8 A100 (Korthikanti et al., table 4: forward, backward, both; with sequence
# parallelism and recomputation): what a plan of three layers takes beyond one of two, without the update. The chip, the network and the
# lines are those of examples/megatron.dfl. The measurements are read in place (REFERENCE=directory). No bar; fails if a row is missing.
. tests/harness/script.sh
truth=${REFERENCE:-../shared/reference}/calculon/ground_truth.csv
[ -f "$truth" ] || skip_all "$truth is not here"
cp examples/megatron_gemm.csv "$work"
template() { # template NAME SEDS: the mapping `selective`, changed
    sed -n '/^mapping selective/,/^}/p' examples/megatron.dfl | sed "s/mapping selective/mapping $1/" | sed "$2"
}
split='/spatial m\/tp/,/norm3;/d'
{
    sed '/^mapping [a-z0-9_]* = /,$d' examples/megatron.dfl
    template none "$split; s/recompute scores, s1, top, exps, sum, p1, P, A/recompute s1, top, exps, sum, p1/"
    template SP 's/recompute scores, s1, top, exps, sum, p1, P, A/recompute s1, top, exps, sum, p1/'
    template partly "$split"
    for w in none SP full partly selective; do # the same for the forward pass alone
        sed -n '/^mapping selective/,/^}/p' examples/megatron.dfl |
            sed "s/mapping selective/mapping ${w}_forward/; s/gpt_step/gpt/; /recompute/d; s/keep weights, gradients, moments/keep weights/"
    done | awk '/^mapping (none|full|partly)_/ { whole = 1 } /^mapping (SP|selective)_/ { whole = 0 }
        whole && /spatial m\/tp/ { skip = 1 } !skip { print } /norm3;/ { skip = 0 }'
    for w in none SP full partly selective; do
        for n in 2 3; do
            echo "mapping ${w}_$n = $w(tp = 8, pp = 1, dp = 1, interleave = 1, micro = 4)"
            echo "    for gpt_step(layers = $n, width = 6144, heads = 64, batch = 4) on selene(nodes = 1);"
            echo "mapping ${w}_forward_$n = ${w}_forward(tp = 8, pp = 1, dp = 1, interleave = 1, micro = 4)"
            echo "    for gpt(layers = $n, width = 6144, heads = 64, batch = 4) on selene(nodes = 1);"
        done
    done
} >"$work/all.dfl"
"$DFLC" eval --format csv --columns latency,plan.step.update "$work/all.dfl" >"$work/csv" 2>"$work/err"
awk -F, -v list="${LIST:-}" '
    FILENAME ~ /csv$/ && FILENAME !~ /truth/ { seconds[$1] = $2 - $3; next }
    $1 ~ /^korth22-t4/ {
        id = $1; sub(/^korth22-t4-22B-/, "", id)
        part = id; sub(/.*-/, "", part); way = id; sub(/-[a-z+]*$/, "", way)
        name = way == "selective" ? "partly" : way == "selective+SP" ? "selective" : way
        forward = seconds[name "_forward_3"] - seconds[name "_forward_2"]; both = seconds[name "_3"] - seconds[name "_2"]
        got = part == "fwd" ? forward : part == "bwd" ? both - forward : both
        match($0, /layer_[a-z+]*_time,[0-9.]*/); measured = substr($0, RSTART, RLENGTH); sub(/.*,/, "", measured)
        printf "%-38s predicted %6.2f ms  measured %6.2f ms  error %+6.1f %%\n", $1, got * 1000, measured, (got * 1000 / measured - 1) * 100
        if (list != "") print "calculon/ground_truth.csv", $1, got * 1000, measured, "held" >> list
        e = got * 1000 / measured - 1; sum += e < 0 ? -e : e; n++ }
    END { printf "layers: %d rows, mean absolute error %.1f %%, no bar\n", n, 100 * sum / n }' "$work/csv" "$truth" >"$work/table"
cat "$work/table"
grep -q "^layers: 11 rows" "$work/table" && ! grep -q "predicted   0.00\|nan" "$work/table"
judge $? "a row is missing or does not evaluate" "$work/err"
finish
