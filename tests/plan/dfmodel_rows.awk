# Writes a mapping for each row of llm_calculon.csv or llm_rail_only.csv, on the machine of dfmodel_machine.dfl. To `rows`: "name
# published log", where `published` are the equations of the peer, solved exactly, and `log` is the printed value or `-`.
BEGIN { FS = ","; layers = 128; tokens_bytes = 2 * 2048 * 25600 * 2 }
FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i; is_rail = "HBD" in column; row = 0; next }
{
    tensor = $column["TP"]; stages = $column["PP"]; data = $column["DP"]; batch = $column["global_batch"]
    parts = layers / stages - 1 > 1 ? layers / stages - 1 : 1
    split($column["link_gbps"], link, "/")
    # domains of fast links; both directions count in llm_rail_only, so that rates are twice as high
    domain = is_rail ? $column["HBD"] : tensor
    tensor_in = domain < tensor ? domain : tensor
    data_in = is_rail ? (domain < data ? domain : data) : 1
    twice = is_rail ? 2 : 1
    # the messages of all layers, once, over the hops of one micro-batch; a switch crosses two links
    sent = stages > 1 ? tokens_bytes * layers / link[2] / (stages - 1) / 2 : 0
    name = (is_rail ? "rail_" domain : "calculon_" ++row)
    shape = sprintf("stages = %d, data_out = %d, data_in = %d, tensor_out = %d, tensor_in = %d", stages, data / data_in, data_in,
                    tensor / tensor_in, tensor_in)
    printf "mapping %s = turns(%s) for gpt_step(batch = %d)\n    on machine(%s, peak = %s * %s, dram = %sGB/s, parts = %d,\n" \
           "    passes = %d, fast = %dGB/s, tensor_link = %dGB/s, data_link = %dGB/s, sent = %.9gns);\n",
           name, shape, batch * parts, shape, is_rail ? "1" : $column["compute_util"],
           is_rail ? "993.214464TFLOP/s" : "311.86944TFLOP/s", $column["dram_gbps"], parts, batch / data * parts,
           twice * link[1], twice * link[2], twice * link[3], sent
    print name, $column["oracle_s"], $column["log_s"] == "" ? "-" : $column["log_s"] >rows
}
