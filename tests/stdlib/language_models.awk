# Compares operation tables of language models (first files, one per model; an argument model=NAME before each names it)
# and llm_configs.csv with the numbers that the .dfl files expect: `expect NAME.macs == N;`, `expect NAME.parameters ==
# N`.
BEGIN {
    split("gpt3-175b gpt3 gpt3-6.7b gpt3_6_7b gpt3-13b gpt3_13b gpt2-small gpt2_small gpt2-medium gpt2_medium gpt2-xl gpt2_xl " \
          "llama3-8b llama3_8b llama3-70b llama3_70b llama3.1-405b llama3_405b bert-large bert_large bert-base bert_base " \
          "llama2-7b llama2_7b llama2-13b llama2_13b llama2-70b llama2_70b vit-b/16 vit_b_16 vit-l/16 vit_l_16 " \
          "mixtral-8x7b mixtral_8x7b mixtral-8x22b mixtral_8x22b deepseek-v3-671b deepseek_v3", m, " ")
    for (i = 1; i in m; i += 2) workload_of[m[i]] = m[i + 1]
}
FILENAME ~ /\.csv$/ && FNR == 1 { delete col; n = split_csv($0, h); for (i = 1; i <= n; i++) col[h[i]] = i; next }
FILENAME ~ /llm_configs/ {
    split_csv($0, f)
    if (f[1] in workload_of) { parameters[workload_of[f[1]]] = f[col["params_computed"]]; rows++ }
    next
}
FILENAME ~ /\.csv$/ {
    split_csv($0, f)
    if (f[col["op"]] == "softmax") next
    macs[model (f[col["phase"]] == "decode" ? "_decode" : "")] += f[col["count"]] * f[col["macs_each"]]
    next
}
/^expect [a-z0-9_]+\.(macs|parameters) +== +[0-9_]+/ {
    split($2, p, ".")
    match($0, /== +[0-9_]+/); v = substr($0, RSTART + 3, RLENGTH - 3); gsub(/[_ ]/, "", v)
    # the tables lack the pooler, of width x width on one position
    if (p[2] == "macs" && !((p[1]) in macs)) next
    expected[p[1], p[2]] = v + 0
}
END {
    for (w in parameters) {
        if (!((w, "parameters") in expected)) print w ": parameters are not expected"
        else if (expected[w, "parameters"] != parameters[w] + 0) print w ": parameters " expected[w, "parameters"] ", the table says " parameters[w]
    }
    for (w in macs) {
        rows++
        if (!((w, "macs") in expected)) print w ": macs are not expected"
        else if (expected[w, "macs"] != macs[w]) print w ": macs " expected[w, "macs"] ", the table says " macs[w]
    }
    print "compared " rows
}
