#!/usr/bin/env bash
# DLRM A and MLPerf on the systems of DFModel's dlrm.csv (beside the repository, REFERENCE=directory, read in place): training steps
# with tables by table, row and column as written, and planned. Every row is printed, with the reason where a plan has no result.
# Fails if a plan has neither, if the planned one is slower than a written one, or if a search is not proven.
# The peer's newest run of DLRM A is infeasible in its own tool, which does not say why; here the tables of 16 bits fit, and the
# plans with a copy of 32 bits beside them do not. Times are not comparable: the 8.958e19 FLOP of the peer are 20 layers of 3
# products of 1800 x 1800 x 1800 for each of 128 million samples; a layer has 3375 x 3375 products for a sample here.
. tests/harness/script.sh
table=${REFERENCE:-../shared/reference}/dfmodel/dlrm.csv
[ -f "$table" ] || skip_all "$table is not here"

awk -F, -v file="$work/dlrm.dfl" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { split($at["grid"], n, "x"); split($at["link_gbps"], gb, "/"); size = $at["dram_cap"]; rate = $at["dram_gbps"]
      batch = $at["global_batch"]; peer[NR] = $at["log_s"] != "" ? $at["log_s"] : "-"
      tables = $at["num_table"]; emb = $at["emb_dim"]; rows = $at["rows"]; layers = $at["mlp_layers"] }
    function lines(axis, of, parts, name) { return "    spatial " of "/" parts " on " axis " for " name ";\n" }
    # a plan whose tables lie by ranks `a` on servers and `c` on the GPUs of one; amounts may be open
    function plan(name, step, a, c, open,   text) {
        text = "mapping " name " for " step " on pod {\n"
        if (step ~ /mlperf/)
            return text "    spatial b/" n[2] " on node;\n    spatial b/" n[1] " on gpu;\n" lines("node", a, n[2], "E") \
                   lines("gpu", c, n[1], "E") (open ? "    temporal b/?;\n" : "") "    ...;\n" (open ? "    minimize latency;\n" : "") "}"
        return text (open ? lines("node", "t", "?", "E, update") lines("node", "d", "?", "E, update") lines("gpu", "t", "?", "E, update") \
               lines("gpu", "d", "?", "E, update") : lines("node", a, n[2], "E" (a == "w" ? "" : ", update")) \
               lines("gpu", c, n[1], "E" (c == "w" ? "" : ", update"))) lines("node", "b", n[2], "features, layer.product, layer.Y") \
               lines("gpu", "b", n[1], "features, layer.product, layer.Y") "    temporal layer;\n    ...;\n" \
               (open ? "    minimize latency;\n" : "") "}"
    }
    END {
        print "dfl 1;\nimport std.workloads.dlrm;" > file
        printf "system a100 {\n    memory hbm { size = %.0fB; bandwidth = %sGB/s; efficiency = 80%%; }\n    compute sm {\n" \
               "        rate { mac { bf16 = 156TMAC/s; fp32 = 78TMAC/s; } bf16 = 39TFLOP/s; fp32 = 19.5TFLOP/s; i32 = 19.5TOP/s; }\n" \
               "        efficiency { mac = 60%%; }\n    }\n}\n", size, rate > file
        printf "system pod {\n    network far = fully_connected { bandwidth = %sGB/s; port = gpu; }\n    array node[%d] over far {\n" \
               "        network near = ring { bandwidth = %sGB/s; }\n        array gpu[%d] over near { use a100; }\n    }\n}\n", gb[2], n[2], gb[1], n[1] > file
        printf "workload model_a(B) : bf16 {\n    rank b = B, t = %.0f, w = %.0f, l = 15, d = %.0f, i = 3375, j = 3375;\n    input ids[b, t, l] : i32, X[b, i];\n" \
               "    weight table[t, w, d];\n    E[b, t, d] += gather table[t, w, d] by ids[b, t, l];\n    output features[b, t, d] = E[b, t, d];\n" \
               "    repeat %d as layer carrying X = Y {\n        weight W[i, j], bias[j];\n        product[b, j] += X[b, i] * W[i, j];\n" \
               "        Y[b, j] = relu(product[b, j] + bias[j]);\n    }\n}\n", tables, rows, emb, layers > file
        print "workload step_a = train(model_a(B = 65536), optimizer = sgd(bf16), gradients = bf16);" > file
        print "workload step_copy = train(model_a(B = 65536), optimizer = sgd(fp32), gradients = bf16);" > file
        print "workload step_mlperf = train(dlrm_mlperf(B = 65536), optimizer = sgd(fp32));" > file
        print plan("a_table", "step_a", "t", "t") > file
        print plan("a_column", "step_a", "t", "d") > file
        print plan("a_row", "step_a", "w", "w") > file
        print plan("a_planned", "step_a", "", "", 1) > file
        print plan("copy_table", "step_copy", "t", "t") > file
        print plan("copy_column", "step_copy", "t", "d") > file
        print plan("mlperf_row", "step_mlperf", "w", "w") > file
        print plan("mlperf_planned", "step_mlperf", "w", "w", 1) > file
        for (r = 2; r <= NR; r++)
            printf "peer %s %s s for %.0f samples\n", "DLRM-A", peer[r], batch > (file ".peer")
        print batch > (file ".batch")
    }' "$table"
"$DFLC" eval --format csv "$work/dlrm.dfl" >"$work/csv" 2>"$work/err"
"$DFLC" map --only a_planned "$work/dlrm.dfl" >/dev/null 2>"$work/search"
"$DFLC" map --only mlperf_planned "$work/dlrm.dfl" >/dev/null 2>>"$work/search"
cat "$work/dlrm.dfl.peer"
awk -F, -v batch="$(cat "$work/dlrm.dfl.batch")" -v err="$work/err" '
    BEGIN {
        while ((getline line < err) > 0) # the first report on each mapping
            if (match(line, /error\[E[0-9]+\]: /)) text = substr(line, RSTART + RLENGTH)
            else if (match(line, /mapping [a-z_]+ for/)) { split(substr(line, RSTART), word, " "); if (!(word[2] in why)) why[word[2]] = text }
    }
    $1 !~ /_/ { next }
    $5 > 0 { printf "%-14s %8.2f ms a step of 65,536 samples; %8.1f s for %.0f\n", $1, $5 * 1e3, $5 * batch / 65536, batch; next }
    { printf "%-14s infeasible: %s\n", $1, $1 in why ? why[$1] : "no reason" }' "$work/csv" | tee "$work/table"
[ "$(grep -c . "$work/table")" -eq 8 ] && ! grep -q 'no reason' "$work/table"
judge $? "a plan has neither a result nor a reason" "$work/err"
awk '$1 ~ /^a_/ && $3 == "ms" { if ($1 == "a_planned") best = $2; else if (least == "" || $2 < least) least = $2 }
    END { exit !(best != "" && least != "" && best <= least) }' "$work/table"
judge $? "the planned step of DLRM A is slower than a written one" "$work/table"
[ "$(grep -c 'optimal' "$work/search")" -eq 2 ]
judge $? "a search for a plan is not proven" "$work/search"
[ "$(grep -c '^mlperf.*ms a step' "$work/table")" -ge 1 ] && [ "$(grep -c '^copy.*infeasible: .*needs' "$work/table")" -eq 2 ]
judge $? "no plan of MLPerf runs, or copies of 32 bits fit" "$work/table"
finish
