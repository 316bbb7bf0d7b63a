#!/usr/bin/env bash
# The list of the measured rows of the tables beside the repository (REFERENCE=directory): the predicted and the measured value and the
# error, or why there is no prediction. Runs the scripts that predict, each of which appends its rows to a file, and adds the reasons of
# list_reasons.txt. Prints for each table its rows, how many have a prediction, the share of them (coverage), and the median and the 90th
# percentile of the errors on rows that fitted no number; then the reasons. Fails if a row has neither a prediction nor a reason.
#
#   run_list.sh          the tables of whole models (training, serving, fp32): some seconds
#   run_list.sh all      every table, also kernels and collectives
#   run_list.sh rows     the same, and prints each row
#
# The lines of the scripts go to the file LIST, if it is given.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}
[ -d "$reference/silicon" ] || skip_all "$reference/silicon is not here"
mode=${1:-}
files=(calculon/ground_truth.csv silicon/models_fp32.csv)
scripts=("tests/plan/run_training.sh" "tests/plan/run_layers.sh" "tests/plan/run_serving.sh" "tests/plan/run_models_fp32.sh")
if [ -n "$mode" ]; then
    scripts=("tests/plan/run_training.sh all" "${scripts[@]:1}" "tests/truth/run_kernels.sh" "tests/plan/run_hpl.sh all"
             "tests/truth/run_truth.sh all")
    files=()
    for f in "$reference"/silicon/*.csv "$reference"/calculon/{ground_truth,op_measured,vtrain_single_node}.csv \
        "$reference"/dfmodel/measured/*.csv; do
        files+=("${f#"$reference/"}")
    done
fi
export LIST=${LIST:-$work/list}
: >"$LIST"
for script in "${scripts[@]}"; do
    # shellcheck disable=SC2086
    bash $script >"$work/out" 2>&1
    judge $? "$script" "$work/out"
done
program=${OUT:-build/release}/tests/unit/collective/test_measured
if [ -n "$mode" ]; then
    "$program" >"$work/out" 2>&1
    judge $? "$program" "$work/out"
fi
for f in "${files[@]}"; do
    awk -v file="$f" 'NR > 1 { key = file ~ /ground_truth/ || file ~ /single_node/ ? substr($0, 1, index($0, ",") - 1) : NR; print file "|" key "|" $0 }' \
        "$reference/$f"
done >"$work/rows"
awk -F'|' -v mode="$mode" -f tests/truth/list.awk tests/truth/list_reasons.txt "$LIST" "$work/rows" >"$work/table"
cat "$work/table"
! grep -q "no prediction and no reason" "$work/table"
judge $? "a row has neither a prediction nor a reason"
finish
