# Reads tables of silicon/ and prints for each kernel `SYSTEM KEY PARITY US FLOP,BYTES;FLOP,BYTES... WORKLOAD(ARGUMENTS)`: the numbers of one
# kernel, each product or pass of it with the bytes that it moves. KEY is FILE:LINE; PARITY is 0 for even lines, which fit the numbers.
# A convolution has the operations and the bytes of its forward pass in all three passes, with the sizes of its operands exchanged. Its
# input has the elements that windows touch: a window of one row that moves by two leaves out every other row.
BEGIN { FS = ","; split("a b c d e", letter, " ")
    name_of["bfloat16"] = "bf16"; name_of["fp16"] = "fp16"; name_of["fp32"] = "fp32"; name_of["fp8"] = "fp8"; name_of["fp8_block"] = "fp8"
    name_of["nvfp4"] = "i4"; bytes_of["bf16"] = bytes_of["fp16"] = 2; bytes_of["fp32"] = 4; bytes_of["fp8"] = 1; bytes_of["i4"] = 0.5 }
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
function least(a, b) { return a < b ? a : b }
function put(machine, part, us, work, call) { print machine, file ":" FNR part, FNR % 2, us, work, call }
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); next }
file == "gemm_fp32.csv" {
    put($1 "_" $2 "_fp32", "", $8, 2 * $3 * $4 * $5 * $6 "," 4 * $3 * ($4 * $6 + $6 * $5 + $4 * $5), "product(" $3 "|" $4 "|" $5 "|" $6 ")")
}
file == "gemm_deepbench.csv" || file == "gemm_tpu_v4.csv" {
    s = bytes_of[$2]
    put($1 "_gemm_" $2, "", file ~ /deep/ ? $8 : $6, 2 * $3 * $4 * $5 "," s * ($3 * $5 + $5 * $4 + $3 * $4), "product(1|" $3 "|" $4 "|" $5 ")")
}
file == "conv_deepbench.csv" {
    y = int(($6 + 2 * $10 - $8) / $12) + 1; x = int(($7 + 2 * $11 - $9) / $13) + 1
    f = 2 * $3 * $4 * $5 * y * x * $8 * $9
    b = bytes_of[$2] * ($3 * $4 * ((y - 1) * least($12, $8) + $8) * ((x - 1) * least($13, $9) + $9) + $5 * $4 * $8 * $9 + $3 * $5 * y * x)
    call = "convolution(" $3 "|" $4 "|" $5 "|" y "|" x "|" $8 "|" $9 "|" $12 "|" $13 ")"
    for (pass = 0; pass < 3; pass++)
        if ($(14 + pass) + 0 > 0)
            put($1 "_conv_" (pass == 0 ? "forward" : pass == 1 ? "input" : "weight") "_" $2, "." letter[pass + 1], $(14 + pass), f "," b, call)
}
# kernels of the chips that run_truth.sh evaluates on their multiprocessors are left out
file == "attention.csv" && !($3 == "bfloat16" && $4 == "bfloat16" && $1 ~ /a100|h100|b200/) {
    q = bytes_of[name_of[$3]]; s = bytes_of[name_of[$4]]
    pairs = $5 * $7 * ($6 * $10 + $6 * ($6 + 1) / 2); keys = $5 * $8 * ($6 + $10) * $9 * s
    put($1 "_" ($6 > 1 || $10 == 0 ? "prompt" : "token") "_" name_of[$3] "_" name_of[$4], "", $12,
        2 * pairs * $9 "," $5 * $6 * $7 * $9 * q + keys ";" 2 * pairs * $9 "," keys + $5 * $6 * $7 * $9 * 2,
        "attend(" $5 "|" $8 "|" $7 / $8 "|" $6 "|" $10 "|" $9 ")")
}
file == "moe.csv" {
    w = bytes_of[name_of[$2]]; part = $3 * $6 / $9
    x = int(least($7 / $9, part)); if (x < 1) x = 1
    t = ceil(part / x); d = $4; f = $5 / $8
    put($1 "_moe_" $2, "", $12, 4 * x * t * d * f "," x * (t * d * w + 2 * d * f * w + 2 * t * f * 2) ";0," x * t * f * (2 * 2 + w) ";" \
        2 * x * t * d * f "," x * (t * f * w + d * f * w + t * d * 2), "experts(" x "|" t "|" d "|" f ")")
}
file == "vector.csv" && ($1 == "a100_pcie_80g" || $1 == "tpu_v4") {
    two = $2 == "add" || $2 == "mul" || $2 == "div"
    kind = $2 == "softmax" || $2 == "ln" ? $2 : "elementwise"
    put($1 "_" kind "_" $3, "", $7, "0," $4 * $5 * (two ? 3 : 2) * bytes_of[$3], (two ? "sums(" : "rows(") $4 "|" $5 ")")
}
# operators of a layer of Llama 2, divided among TP chips (Vidur), and kernels of LLMCompass
function dim(name,    i, n, part, pair) {
    n = split($5, part, ";")
    for (i = 1; i <= n; i++) { split(part[i], pair, "="); if (pair[1] == name) return pair[2] + 0 }
    return 0
}
file == "op_measured.csv" && ($1 ~ /^layer_op/ || $1 ~ /^(gelu|layernorm|softmax)$/ || ($1 == "gemm" && $2 == "MI210")) {
    chip = $2 ~ /A100/ ? "a100_sxm" : $2 ~ /H100/ ? "h100_sxm" : "mi210"
    op = $1; sub(/layer_op\./, "", op)
    t = dim("tokens"); p = dim("TP"); wide = $5 ~ /70b/
    d = wide ? 8192 : 4096; heads = wide ? 64 : 32; kv = wide ? 8 : 32; f = wide ? 28672 : 11008
    m = t; n = k = 0
    if (op == "attn_pre_proj") { n = (heads + 2 * kv) * 128 / p; k = d }
    if (op == "attn_post_proj") { n = d; k = heads * 128 / p }
    if (op == "mlp_up_proj") { n = 2 * f / p; k = d }
    if (op == "mlp_down_proj") { n = d; k = f / p }
    if (op == "gemm") { m = dim("M"); n = dim("N"); k = dim("K") }
    if (n)
        put(chip (op == "gemm" ? "_gemm" : "_shard") "_fp16", "", $6, 2 * m * n * k "," 2 * (m * k + k * n + m * n), "product(1|" m "|" n "|" k ")")
    else if (op == "add") put(chip "_add_fp16", "", $6, "0," 6 * t * d, "sums(" t "|" d ")")
    else {
        columns = op == "attn_rope" ? (heads + kv) * 128 / p : op == "mlp_act" ? f / p : $1 ~ /layer_op/ ? d : op == "gelu" ? dim("elements") : dim("N")
        lines = $1 ~ /layer_op/ ? t : op == "gelu" ? 1 : dim("M")
        put(chip "_" op "_fp16", "", $6, "0," (op == "mlp_act" ? 6 : 4) * lines * columns,
            (op == "mlp_act" ? "sums(" : "rows(") lines "|" columns ")")
    }
}
