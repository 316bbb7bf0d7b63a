#!/usr/bin/env bash
# Compares every dimension of every layer of the library with public model tables, and every constant of energy,
# networks, memories and chips with public tables. The tables live beside the repository (FACTS=directory); without them
# the comparison is skipped with a message.
. tests/harness/script.sh
facts=${FACTS:-../shared/reference/stdlib-facts}
[ -d "$facts/models" ] || skip_all "$facts is not here"
# Prints one statement per line without comments, so that the layout of the files does not matter.
flat() {
    awk '{ sub(/\/\/.*/, "")
           n = split($0, part, "\"")
           for (i = 1; i <= n; i++) { if (i % 2 == 0) gsub(/[;{}]/, ",", part[i]); all = all (i > 1 ? "\"" : " ") part[i] } }
         END { gsub(/[ \t]+/, " ", all); gsub(/; /, ";\n", all); gsub(/[{] /, "{\n", all); gsub(/[}] /, "}\n", all); print all }' "$1" |
        sed 's/^ *//' >"$work/$2"
}
for file in stdlib/*/*.dfl; do
    flat "$file" "$(basename "$(dirname "$file")")_$(basename "$file")"
done

# compare NAME AWK-FILE FILES...: the awk program prints one line per difference and, last, `compared N`
compare() {
    name=$1; shift
    out=$(awk -f tests/stdlib/csv.awk -f "$@")
    n=$(printf '%s\n' "$out" | sed -n 's/^compared //p')
    bad=$(printf '%s\n' "$out" | grep -cv '^compared ')
    if [ "$bad" -eq 0 ] && [ "${n:-0}" -gt 0 ]; then
        echo "$name: $n rows equal"
        pass
    else
        fail "$name: $bad differences in ${n:-0} rows" "$(printf '%s\n' "$out" | grep -v '^compared ')"
    fi
}

for model in alexnet vgg16 resnet50 mobilenetv2; do
    compare "layers of $model" tests/stdlib/layers.awk "$facts/models/$model.csv" "$work/workloads_$model.dfl"
done
m=$facts/models
compare "language models" tests/stdlib/language_models.awk model=gpt3 "$m/gpt3_175b.csv" model=llama3_8b "$m/llama3_8b.csv" \
    model=llama3_70b "$m/llama3_70b.csv" model=llama3_405b "$m/llama3_1_405b.csv" model=bert_large "$m/bert_large.csv" \
    model=mixtral_8x7b "$m/mixtral_8x7b.csv" model=deepseek_v3 "$m/deepseek_v3.csv" \
    "$m/llm_configs.csv" "$work"/workloads_gpt2.dfl "$work"/workloads_gpt3.dfl "$work"/workloads_llama2.dfl "$work"/workloads_llama3.dfl \
    "$work"/workloads_bert_large.dfl "$work"/workloads_vit.dfl \
    "$work"/workloads_mixtral.dfl "$work"/workloads_deepseek_v3.dfl
for pair in horowitz45 han45 eyeriss_norm65 maestro aladdin40 isaac32 edram16 tpu7nm google7nm; do
    compare "energy set $pair" tests/stdlib/energy.awk set="$pair" "$facts/energy.csv" "$work/energy_$pair.dfl"
done
compare "energy of DRAM" tests/stdlib/energy.awk set='dram_*' "$facts/energy.csv" "$work/energy_dram.dfl"
compare "energy of links" tests/stdlib/energy.awk set=links "$facts/energy.csv" "$work/energy_links.dfl"
compare "networks and memories" tests/stdlib/networks.awk "$facts/networks.csv" \
    "$work/networks_links.dfl" "$work/networks_switches.dfl" "$work/memories_dram.dfl"
for file in stdlib/chips/*.dfl; do
    "$DFLC" dump ir "$file"
done >"$work/systems" 2>/dev/null
compare "memory on the chip" tests/stdlib/onchip.awk "$facts/hardware.csv" "$work/systems"
compare "element-wise units" tests/stdlib/units.awk tests/stdlib/units.csv "$work/systems"
compare "chips" tests/stdlib/chips.awk rates="$work/peaks.dfl" "$facts/hardware.csv" "$work"/chips_*.dfl
if "$DFLC" test "$work/peaks.dfl" >"$work/out" 2>&1 && [ "$(grep -c '^ok' "$work/out")" -gt 100 ]; then
    echo "peak rates: $(grep -c '^ok' "$work/out") of the table hold"
    pass
else
    fail "peak rates" "$(grep -v '^ok' "$work/out")"
fi

finish
