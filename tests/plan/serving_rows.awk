# Reads calculon/ground_truth.csv, and writes for every row of Llama with TensorRT-LLM the plans of a batch of prompts and of a token (to
# `plans`), and a line `ROW ID BATCH PROMPTS OUTPUT MEASURED` (to `rows`). A batch has as many sequences as 90 % of the memory holds, at
# most 2048; prompts are computed together up to 8192 tokens. These are defaults of TensorRT-LLM, recalled. Weights in fp4 have
# 9 bits for 2 of them. A plan of one chip is that of two, each with its own batch. Qwen3 235B has its own sequences on each chip, and a part
# of the experts (sizes of its model card, the inner width of an expert recalled); prompts of 8192 tokens run on each chip. Whether the rows
# divide the attention so is not published ("may use attention-DP"); 4 heads of keys do not divide by 8 chips.
function model(name, layers, width, group, inner, billions) {
    size[name] = sprintf("layers = %d, width = %d, kv_heads = 8, group = %d, head = 128, inner = %d, vocab = 128256", layers, width, group, inner)
    cache[name] = 2 * layers * 8 * 128
    weights[name] = billions * 1e9
}
BEGIN { model("l8", 32, 4096, 4, 14336, 8.03); model("l70", 80, 8192, 8, 28672, 70.55); model("l405", 126, 16384, 16, 53248, 405.85)
        size["q235"] = "layers = 94, width = 4096, kv_heads = 4, group = 16, head = 128, inner = 1536, experts = 128, chosen = 8, vocab = 151936"
        cache["q235"] = 2 * 94 * 4 * 128; weights["q235"] = 8 * 7.9e9 + 227.2e9 # each chip has all but the experts
        memory["H100"] = 80e9; memory["H200"] = 141e9; memory["B200"] = 180e9; memory["GB200"] = 192e9 }
/^trtllm-(l8|l70|l405|q235)-/ {
    split($0, cell, ",")
    split(cell[1], part, "-")
    name = part[2]; chip = part[3]; tp = substr(part[4], 3); type = part[5] == "fp4" ? "4" : ""; input = part[6]; output = part[7]
    match($0, /total_output_throughput,[0-9.]+/)
    measured = substr($0, RSTART + 24, RLENGTH - 24)
    batch = int((0.9 * memory[chip] - weights[name] * (type == "4" ? 0.5625 : 1) / tp) / (cache[name] / tp * (input + output)))
    batch = batch > 2048 ? 2048 : batch
    prompts = input < 8192 ? int(8192 / input) : 1
    both = tp == 1 ? 2 : 1
    id = "row" ++n
    if (name == "q235") {
        printf "mapping %s_prompt = experts_prompt%s for experts_prefill%s(B = %d, M = %d, P = %d, %s) on %s_server%d;\n", id, type, type,
               8 * prompts, input, input, size[name], tolower(chip), tp > plans
        printf "mapping %s_token = experts_token%s for experts_decode%s(B = %d, P = %d, %s) on %s_server%d;\n", id, type, type,
               8 * int(batch / 8), input + int(output / 2), size[name], tolower(chip), tp > plans
        print id, cell[1], 8 * int(batch / 8), 8 * prompts, output, measured > rows
        next
    }
    printf "mapping %s_prompt = prompt%s(tp = %d) for prefill%s(B = %d, M = %d, P = %d, %s) on %s_server%d;\n", id, type (tp == 1 ? "_alone" : ""),
           tp, type, both * prompts, input, input, size[name], tolower(chip), tp > plans
    printf "mapping %s_token = token%s(tp = %d) for decode%s(B = %d, P = %d, %s) on %s_server%d;\n", id, type (tp == 1 ? "_alone" : ""), tp,
           type, both * batch, input + int(output / 2), size[name], tolower(chip), tp > plans
    print id, cell[1], batch, prompts, output, measured > rows
}
