# Writes a mapping for each row of llm_calculon.csv, llm_rail_only.csv or llm_validation.csv, on the machine of dfmodel_machine.dfl. To
# `rows`: "name equations log measured" with `-` for what is missing. `equations` are those of the peer, solved exactly, `log` is the
# printed value, `measured` the step time that a measured utilization stands for.
BEGIN { FS = ","; peak["A100-tensor"] = "311.86944"; peak["H100"] = "993.214464"; peak["SN10"] = "307.2"; peak["TPUv4"] = "275.2512"
        units["A100-tensor"] = "432, lanes = 16, rows = 16"; units["SN10"] = "640, lanes = 32, rows = 6"
        units["TPUv4"] = "8, lanes = 128, rows = 128" }
{ sub(/\r$/, "") }
FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i; is_rail = "HBD" in column; is_check = "family" in column; row = 0; next }
function field(name, otherwise) { return name in column && $column[name] != "" ? $column[name] : otherwise }
{
    tensor = $column["TP"]; stages = $column["PP"]; data = $column["DP"]; batch = $column["global_batch"]
    layers = $column["layers"]
    # chunks of a stage, as far as the bubble depends on them; without turns there is no such bubble in the rows
    parts = layers / stages - 1 > 1 ? int(layers / stages) - 1 : 1
    links = split($column["link_gbps"], link, "/")
    for (i = links + 1; i <= 3; i++) link[i] = link[1]
    domain = is_rail ? $column["HBD"] : tensor
    tensor_in = domain < tensor ? domain : tensor
    data_in = is_rail ? (domain < data ? domain : data) : 1
    # where both directions count, rates are twice as high: of factor 1; of data parallel sums also in the logs of 47ecdc7
    twice_tensor = is_rail || field("ar_factor_tp", 1) == 1 ? 2 : 1
    twice_data = is_rail || (is_check && ($column["log_version"] == "47ecdc7" || twice_tensor == 2)) ? 2 : 1
    # the messages of all layers, once, over the hops of one micro-batch; a switch crosses two links
    sent = stages > 1 ? 2 * $column["seq"] * $column["hidden"] * 2 * layers / link[2] / (stages - 1) / 2 : 0
    name = (is_rail ? "rail_" domain : is_check ? "validation_" ++row : "calculon_" ++row)
    kind = $column["overlap"] == "none" ? "turns" : index($column["style"], "2 partitions") ? "halves" : "beside"
    # a utilization of 0 stands for the peer's count of cycles on the units
    share = is_rail || $column["compute_util"] == 0 ? 1 : $column["compute_util"]
    shape = sprintf("stages = %d, data_out = %d, data_in = %d, tensor_out = %d, tensor_in = %d", stages, data / data_in, data_in,
                    tensor / tensor_in, tensor_in)
    printf "mapping %s = %s(%s) for gpt_step(hidden = %d, heads = %d,\n    head = %d, seq = %d, layers = %d, batch = %d)\n" \
           "    on machine(%s, peak = %s * %sTFLOP/s, dram = %sGB/s, parts = %d,\n" \
           "    passes = %d, fast = %.9gGB/s, tensor_link = %.9gGB/s, data_link = %.9gGB/s, sent = %.9gns%s);\n",
           name, kind, shape, $column["hidden"], $column["heads"], field("head_dim", $column["hidden"] / $column["heads"]),
           $column["seq"], layers, batch * parts, shape, share, peak[$column["accelerator"]], $column["dram_gbps"], parts,
           batch / data * parts, twice_tensor * link[1], twice_tensor * (is_rail ? link[2] : link[1]), twice_data * link[3], sent,
           !is_rail && $column["compute_util"] == 0 && $column["accelerator"] in units ? ", units = " units[$column["accelerator"]] ", simd = 0.5" : ""
    log_seconds = is_check ? $column["dfmodel_s"] : $column["log_s"]
    measured = is_check && $column["measured_util"] != "" ? log_seconds * $column["dfmodel_util"] / $column["measured_util"] : "-"
    print name, field("oracle_s", "-"), log_seconds == "" ? "-" : log_seconds, measured >rows
}
