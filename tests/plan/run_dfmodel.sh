#!/usr/bin/env bash
# The study of DFModel: every published system of llm_dse_systems.csv against examples/dfmodel_study.dfl, with step time, price and
# power. Rows with `overlap = none` run the same mappings without `option overlap = perfect`. The rows of sn30 run in searched groups,
# too, which must not be slower than published. The reference stands beside the
# repository (REFERENCE=directory) and is read in place. Fails if a row does not evaluate or misses its bar.
. tests/harness/script.sh
table=${REFERENCE:-../shared/reference}/dfmodel/llm_dse_systems.csv
[ -f "$table" ] || skip_all "$table is not here"

# figures FILE: "name seconds price power" of every mapping
figures() {
    "$DFLC" eval --format json "$1" 2>"$work/err" | awk -v OFMT=%.17g '
        /^      "name":/ { split($0, part, "\""); name = part[4]; in_latency = 0 }
        /^      "latency":/ { in_latency = 1 }
        in_latency && /^        "seconds":/ { seconds = $2 + 0; in_latency = 0 }
        /^        "price":/ { price = $2 + 0 }
        /^        "power":/ { power = $2 + 0 }
        /^      "plan":/ { print name, seconds, price, power }'
}

figures examples/dfmodel_study.dfl >"$work/all"
sed '/option overlap = perfect;/d' examples/dfmodel_study.dfl >"$work/none.dfl"
figures "$work/none.dfl" >"$work/none"
sed 's/= six_groups/= searched_groups/' examples/dfmodel_study.dfl >"$work/free.dfl"
figures "$work/free.dfl" >"$work/free"
awk -v results="$work" -f tests/plan/dfmodel.awk "$table" >"$work/table"
cat "$work/table"
for what in "step of h100, tpu and wse" "step of sn30" "searched step of sn30" price power ratio; do
    ! grep -q "^MISSED $what" "$work/table" && grep -q "^bar of $what" "$work/table"
    judge $? "$what" "$work/table"
done
! grep -q "not evaluated" "$work/table"
judge $? "a row does not evaluate" "$work/err"
finish
