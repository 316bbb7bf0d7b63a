# Reads calculon/ground_truth.csv and two files of dfmodel/measured, and writes for every measured step that the templates of
# examples/megatron.dfl describe its candidates as mappings (to `plans`), and one line `ROW CANDIDATE MEASURED GROUP` for each (to
# `rows`); for every other one a line with the reason (to `left`).
# Where the micro-batch is not published, 1, 2, 4 and 8 sequences are candidates; where the interleave is not, 1 and every
# number of chunks into which the layers of a stage divide, up to 6.
#   awk -v plans=FILE -v rows=FILE -v left=FILE -f training.awk ground_truth.csv korthikanti_2022.csv megatron_2021.csv
function cells(line, out,    n, i, c, quoted) {
    n = 1; out[1] = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            out[++n] = ""
        else
            out[n] = out[n] c
    }
    return n
}
function add(id, group, machine, layers, width, heads, tp, pp, dp, interleave, micro, template, batch, seconds,    m, v, name) {
    measured++
    known[id] = 1
    for (m = micro == "" ? 1 : micro + 0; m <= (micro == "" ? 8 : micro + 0); m *= 2)
        for (v = interleave == "" ? 1 : interleave + 0; v <= (interleave == "" ? 6 : interleave + 0); v++) {
            if (batch % (dp * m) || (v > 1 && (pp == 1 || batch / (dp * m) % pp)) || (interleave == "" && layers % (pp * v)))
                continue
            name = sprintf("row%d_m%d_v%d", measured, m, v)
            printf "mapping %s = %s(tp = %d, pp = %d, dp = %d, interleave = %d, micro = %d) for gpt_step(layers = %d, width = %d, " \
                   "heads = %d, batch = %d%s) on %s(nodes = %d);\n", name, template, tp, pp, dp, v, m, layers, width, heads,
                   batch, more, machine, tp * pp * dp / 8 > plans
            print id, name, seconds, group > rows
        }
}
# add_flash(ID, GROUP, MACHINE, TEMPLATE, LAYERS, WIDTH, HEADS, BATCH, SEQ, VOCAB, NODES, ARGUMENTS, LEAST, MOST, SECONDS): a step of the
# templates of flash.dfl; micro-batches from LEAST to MOST, by octaves
function add_flash(id, group, machine, template, layers, width, heads, batch, seq, vocab, nodes, arguments, least, most, seconds,    m, name) {
    measured++
    known[id] = 1
    for (m = least + 0; m <= most + 0; m *= 2) {
        name = sprintf("row%d_m%d_v%d", measured, m, match(arguments, /interleave = /) ? substr(arguments, RSTART + 13) : 1)
        printf "mapping %s = %s(%smicro = %d) for %s(layers = %d, width = %d, heads = %d, batch = %d, seq = %d, vocab = %d) on " \
               "%s(nodes = %d);\n", name, template, arguments, m, template ~ /unfused/ ? "gpt_step" : "flash_step", layers,
               width, heads, batch, seq, vocab, machine, nodes > plans
        print id, name, seconds, group > rows
    }
}
# a measured step with one kernel for the attention; 1 = it is one
function is_flash(    f, n, tokens, flop, h, l, s, v) {
    f = FILENAME
    h = c[col[f, "hidden"]]; l = c[col[f, "layers"]]; s = c[col[f, "seq"]]; v = c[col[f, "vocab"]]; n = c[col[f, "n_chips"]]
    if (c[1] ~ /^mpt-/) {
        add_flash(c[1], c[1] ~ /fp8/ ? "flash_h100_fp8" : "flash_" substr(c[1], 5, 9),
                  c[1] ~ /a100_80/ ? "pod80_first" : c[1] ~ /a100_40/ ? "pod40_first" : c[1] ~ /fp8/ ? "pod_h100_fp8" : "pod_h100",
                  "sharded_" c[col[f, "recompute"]], l, h, c[col[f, "heads"]], c[col[f, "GBS"]], s, v, n / 8,
                  "nodes = " n / 8 ", ", c[col[f, "MBS"]], c[col[f, "MBS"]], c[col[f, "iter_time_s"]])
        return 1
    }
    # The column `flash_attn` says that the base line of MegaScale has one kernel for the attention. Its paper names FlashAttention-2 and
    # fused layer norms among what it adds to the base line (section 3.3, recalled): without that kernel, a group of its own.
    if (c[1] ~ /^megascale-Megatron/) {
        more = sprintf("tp = 8, pp = 8, dp = %d, interleave = 6, ", n / 64)
        add_flash(c[1], "megascale", "selene", "unfused", l, h, c[col[f, "heads"]], c[col[f, "GBS"]], s, v, n / 8, more, 1, 1,
                  c[col[f, "iter_time_s"]])
        add_flash(c[1] "+flash", "megascale_flash", "pod80_first", "fused", l, h, c[col[f, "heads"]], c[col[f, "GBS"]], s, v, n / 8, more,
                  1, 1, c[col[f, "iter_time_s"]])
        more = ""
        return 1
    }
    # NeMo in fp8: sizes of its recipes, recalled
    if (c[1] ~ /^nemo2407-GPT3/) {
        l = c[1] ~ /-5B/ ? 24 : c[1] ~ /-20B/ ? 44 : 96; h = c[1] ~ /-5B/ ? 4096 : c[1] ~ /-20B/ ? 6144 : 12288
        add_flash(c[1], "nemo_h100_fp8", "pod_h100_fp8", "fused_beside", l, h, h / 128, c[col[f, "GBS"]], s, 51200, n / 8,
                  sprintf("tp = %d, pp = %d, dp = %d, interleave = %d, ", c[col[f, "TP"]], c[col[f, "PP"]], c[col[f, "DP"]], c[col[f, "VP"]]),
                  c[col[f, "MBS"]], c[col[f, "MBS"]], c[col[f, "iter_time_s"]])
        return 1
    }
    # FlashAttention-2, table 1: FLOP by its formula; 2^20 tokens a step (assumed: not published)
    if (c[1] ~ /^fa2/) {
        tokens = 1048576
        flop = tokens * (6 * (12 * l * h * h + 50257 * h) + 12 * l * h * s)
        add_flash(c[1], "fa2", c[1] ~ /fa1/ ? "pod80_first" : "pod80", c[1] ~ /nofa/ ? "copies_unfused" : "copies", l, h, c[col[f, "heads"]], tokens / s, s, 50257, 1, "",
                  1, 16, flop / (8e12 * c[col[f, "value"]]))
        return 1
    }
    return 0
}
# add_gated(GROUP, MACHINE, TEMPLATE, ARGUMENTS, SIZES, BATCH, NODES, MICRO, SECONDS): the step of this row, by a template of gated.dfl. Where
# ARGUMENTS lack the interleave, which is not published, 1, 2 and 4 are candidates.
function add_gated(group, machine, template, arguments, sizes, batch, nodes, micro, seconds,    v, name, more) {
    measured++
    known[c[1]] = 1
    for (v = 1; v <= 4; v *= 2) {
        more = arguments ~ /interleave|^$/ ? arguments : arguments "interleave = " v ", "
        name = sprintf("row%d_m%d_v%d", measured, micro, match(more, /interleave = /) ? substr(more, RSTART + 13) : 1)
        printf "mapping %s = %s(%smicro = %d) for %s(%s, batch = %d, seq = %d) on %s(nodes = %d);\n", name, template, more, micro,
               template == "squared" ? "squared_step" : "gated_step", sizes, batch, c[col[FILENAME, "seq"]], machine, nodes > plans
        print c[1], name, seconds, group > rows
        if (more == arguments)
            return
    }
}
# a measured step of layers with gates or groups of heads; 1 = it is one
function is_gated(    f, n, sizes, seconds, plan, flop) {
    f = FILENAME
    n = c[col[f, "n_chips"]]; seconds = c[col[f, "iter_time_s"]]
    sizes = sprintf("layers = %d, width = %d, heads = %d, groups = %d, inner = %d, vocab = %d", c[col[f, "layers"]], c[col[f, "hidden"]],
                    c[col[f, "heads"]], c[col[f, "kv_heads"]], c[col[f, "ffn"]], c[col[f, "vocab"]])
    plan = sprintf("tp = %d, pp = %d, dp = %d, cp = %d, ", c[col[f, "TP"]], c[col[f, "PP"]], c[col[f, "DP"]], c[col[f, "CP"]])
    # FLOP of the published rate: 6 for each weight and token, and the causal half of the attention (its formula is not published)
    if (c[1] ~ /^llama3-405B-8k/) {
        flop = c[col[f, "GBS"]] * c[col[f, "seq"]] * (6 * 405.85e9 + 6 * c[col[f, "layers"]] * c[col[f, "hidden"]] * c[col[f, "seq"]])
        add_gated("llama3_h100", "pod_h100", "gated", plan, sizes, c[col[f, "GBS"]], n / 8, 1, flop / (n * c[col[f, "value"]] * 1e12))
        return 1
    }
    # sizes of these two: the recipes of NeMo, recalled; stages of 4 chips
    if (c[1] ~ /^nemo2407-LLAMA2-13B/)
        add_gated("gated_h100_fp8", "halves_h100_fp8", "gated", plan "gpus = 4, interleave = " c[col[f, "VP"]] ", ",
                  "layers = 40, width = 5120, heads = 40, groups = 40, inner = 13824, vocab = 32000", c[col[f, "GBS"]], n / 4,
                  c[col[f, "MBS"]], seconds)
    else if (c[1] ~ /^nemo2407-Nemotron-340B/)
        add_gated("gated_h100_fp8", "pod_h100_fp8", "squared", plan "interleave = " c[col[f, "VP"]] ", ",
                  "layers = 96, width = 18432, heads = 96, groups = 8, inner = 73728, vocab = 256000", c[col[f, "GBS"]], n / 8,
                  c[col[f, "MBS"]], seconds)
    else if (c[1] ~ /^mbridge.*-GB300-LLAMA3_70B-64-/)
        add_gated("gated_gb300_fp8", "nvl72_gb300_fp8", "gated_sharded_gb300", "", sizes, c[col[f, "GBS"]], n / 8, c[col[f, "MBS"]], seconds)
    else if (c[1] ~ /^mbridge.*-(H100|B200|GB300)-LLAMA3/ && c[1] !~ /GB300-LLAMA3.1_405B/)
        add_gated(c[1] ~ /H100/ ? "gated_h100_fp8" : c[1] ~ /GB300/ ? "gated_gb300_fp8" : "gated_b200_fp8",
                  c[1] ~ /H100/ ? "pod_h100_fp8" : c[1] ~ /GB300/ ? "pod_gb300_fp8" : "pod_b200_fp8",
                  c[col[f, "zero_stage"]] == "fsdp" ? "gated_sharded" : c[col[f, "PP"]] == 1 ? "gated_copies" : \
                  c[col[f, "TP"]] * c[col[f, "CP"]] > 8 ? "gated_wide" : "gated",
                  c[col[f, "PP"]] == 1 ? "" : plan "interleave = " c[col[f, "VP"]] ", ", sizes, c[col[f, "GBS"]], n / 8,
                  c[col[f, "MBS"]], seconds)
    else if (c[1] ~ /^mbridge.*-GB200-LLAMA3_70B-64-/)
        add_gated("gated_gb200_fp8", "nvl72_gb200_fp8", "gated_sharded_64", "", sizes, c[col[f, "GBS"]], n / 8, c[col[f, "MBS"]], seconds)
    else
        return 0
    return 1
}
# why no template expresses a measured step; "" = one does
function obstacle(    f) {
    f = FILENAME
    if (c[1] ~ /^palm/) return "the estimate of a third party"
    if (c[1] ~ /^llama[123]-|^llama2|^llama31/ && c[col[f, "TP"]] == "") return "the plan is not published"
    if (c[1] ~ /^nemo-longseq/) return "the number of sequences of a step is not published"
    if (c[1] ~ /^neox/) return "attention and feed-forward part side by side, without a template"
    if (c[1] ~ /^megatron19/) return "a share of a rate whose count of FLOP is not published, hence no time of a step (V100)"
    if (c[1] ~ /^deepseek/) return "experts, without a template for training"
    if (c[col[f, "iter_time_s"]] == "") return "the time of a step is not published"
    if (c[1] ~ /^mcore-h100/) return ""
    if (c[1] ~ /GB300-LLAMA3.1_405B/) return "a server with parts of a layer, of sequences and of a batch is not evaluated (E0609)"
    if (c[col[f, "n_experts"]] != "") return "experts, without a template for training"
    if (c[col[f, "chip"]] !~ /^A100/) return "the chip has no calibration in examples/megatron.dfl"
    if (c[1] ~ /^megascale-MegaScale/) return "the window of the attention is not published"
    if (c[col[f, "mlp"]] != "gelu4h") return "another layer than that of GPT"
    if (c[col[f, "layers"]] + 0 < 2 || c[col[f, "layers"]] == "") return "a part of a step, or a model without its sizes"
    if (c[col[f, "zero_stage"]] == 3 && c[1] !~ /^sc21/) return "ZeRO-3 with other parts than one chip each"
    if (c[col[f, "TP"]] * c[col[f, "DP"]] % 8 != 0 && c[1] !~ /^korth/) return "copies that do not fill servers"
    return ""
}
FNR == 1 {
    n = cells($0, head)
    for (i = 1; i <= n; i++)
        col[FILENAME, head[i]] = i
    next
}
{ n = cells($0, c) }
FILENAME ~ /ground_truth/ && c[col[FILENAME, "phase"]] == "train" {
    f = FILENAME
    if (c[1] ~ /^korth22-t4/ || is_flash() || is_gated()) # one layer: run_layers.sh
        next
    why = obstacle()
    if (why != "") {
        print c[1], why > left
        next
    }
    is_zero3 = c[col[f, "zero_stage"]] == 3
    is_h100 = c[1] ~ /^mcore/
    more = is_h100 ? ", seq = " c[col[f, "seq"]] ", vocab = " c[col[f, "vocab"]] : ""
    add(c[1], is_h100 ? "H100" : is_zero3 ? "ZeRO-3" : c[1] ~ /^sc21|^korth/ ? "paper" : "other",
        is_h100 ? "eos" : c[1] ~ /^vtrain/ ? "vtrain" : "selene",
        c[col[f, "layers"]], c[col[f, "hidden"]], c[col[f, "heads"]], c[col[f, "TP"]], c[col[f, "PP"]], c[col[f, "DP"]],
        c[col[f, "PP"]] == 1 ? 1 : c[col[f, "VP"]], c[col[f, "MBS"]],
        is_h100 ? "flash" : c[col[f, "TP"]] + 0 > 8 ? "wide" : is_zero3 ? "zero3" : c[col[f, "recompute"]] == "selective" ? "selective" : "full",
        c[col[f, "GBS"]], c[col[f, "iter_time_s"]])
    more = ""
}
# steps of Korthikanti et al. that the other file lacks, all with micro-batches of one sequence
FILENAME ~ /korthikanti/ {
    f = FILENAME
    for (k = 0; k < 2; k++) {
        id = "korth22-t5-" (c[1] + 0 >= 1000 ? c[1] / 1000 "T" : c[1] "B") (k ? "-sel+SP" : "-full")
        if (!(id in known))
            add(id, "paper", "selene", c[col[f, "layers"]], c[col[f, "hidden"]], c[col[f, "heads"]], c[col[f, "TP"]], c[col[f, "PP"]], 1,
                c[col[f, "interleave"]], c[col[f, "micro_batch"]], k ? "selective" : "full", c[col[f, "global_batch"]],
                c[col[f, k ? "iter_s_sp_selective" : "iter_s_full_recompute"]])
    }
}
# rows of Narayanan et al. that the other file lacks; FLOP of a step by their formula (3)
FILENAME ~ /megatron_2021/ && c[col[FILENAME, "params_b"]] == 7.5 {
    f = FILENAME
    h = c[col[f, "hidden"]]; l = c[col[f, "layers"]]; s = c[col[f, "seq"]]; b = c[col[f, "global_batch"]]; v = c[col[f, "vocab"]]
    flop = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h))
    add("sc21-t1-7.5B", "paper", "selene", l, h, c[col[f, "heads"]], c[col[f, "TP"]], c[col[f, "PP"]], c[col[f, "DP"]], 1, "", "full", b,
        flop / (c[col[f, "gpus"]] * c[col[f, "tflops_per_gpu"]] * 1e12))
}
