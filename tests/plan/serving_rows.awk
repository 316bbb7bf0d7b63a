# Reads calculon/ground_truth.csv, and writes for every row of Llama with TensorRT-LLM on several H100 the plans of a batch of prompts and of
# a token (to `plans`), and a line `ROW ID BATCH PROMPTS OUTPUT MEASURED` (to `rows`). A batch has as many sequences as 90 % of the
# memory holds, at most 2048; prompts are computed together up to 8192 tokens. These are defaults of TensorRT-LLM, recalled.
function model(name, layers, width, group, inner, billions) {
    size[name] = sprintf("layers = %d, width = %d, kv_heads = 8, group = %d, head = 128, inner = %d, vocab = 128256", layers, width, group, inner)
    cache[name] = 2 * layers * 8 * 128
    weights[name] = billions * 1e9
}
BEGIN { model("l70", 80, 8192, 8, 28672, 70.55); model("l405", 126, 16384, 16, 53248, 405.85) }
/^trtllm-l(70|405)-H100-/ {
    split($0, cell, ",")
    split(cell[1], part, "-")
    name = part[2]; tp = substr(part[4], 3); input = part[6]; output = part[7]
    match($0, /total_output_throughput,[0-9.]+/)
    measured = substr($0, RSTART + 24, RLENGTH - 24)
    batch = int((0.9 * 80e9 - weights[name] / tp) / (cache[name] / tp * (input + output)))
    batch = batch > 2048 ? 2048 : batch
    prompts = input < 8192 ? int(8192 / input) : 1
    id = "row" ++n
    printf "mapping %s_prompt = prompt(tp = %d) for prefill(B = %d, M = %d, P = %d, %s) on server%d;\n", id, tp, prompts, input, input,
           size[name], tp > plans
    printf "mapping %s_token = token(tp = %d) for decode(B = %d, P = %d, %s) on server%d;\n", id, tp, batch, input + int(output / 2),
           size[name], tp > plans
    print id, cell[1], batch, prompts, output, measured > rows
}
