#!/usr/bin/env bash
# Fits launches and shares of the bandwidth of element-wise kernels, softmax and layer norm, and writes
# stdlib/chips/measured/pytorch.dfl. The even lines of the table of measurements fit the numbers; run_truth.sh judges them by the odd
# lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
truth=tests/truth
. $truth/vector_lib.sh
table=${REFERENCE:-../shared/reference}/silicon/vector.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "${DFLC:-build/dflc}" "$work/dflc"

# numbers FAMILY SM: the numbers to fit, `---`, and the attributes. The points of softmax and layer norm are rows of some
# thousands of elements on every multiprocessor.
numbers() {
    case $1 in
    elementwise)
        printf 'number launch 15 0 60 0.1\nnumber share 0.88 0.1 1 0.03\nnumber pow 0.006 0.0005 1 0.2\n---\n'
        printf '    vector.launch = {launch}us;\n    vector.efficiency.pow = {pow};\n    OUTER.efficiency = {share};\n'
        return ;;
    softmax) launch=20 points='0 1025 1390 2084 3704' ;;
    layer_norm) launch=37 points='0 880 1390 2014 2662 3588' ;;
    esac
    echo "number launch $launch 0 80 0.1"
    attribute='    OUTER.efficiency = table('
    i=0
    for point in $points; do
        i=$((i + 1))
        echo "number share_$i 0.7 0.1 1 0.1"
        attribute="$attribute$([ $i -gt 1 ] && echo ', ')$((point * 4 * $2))B, {share_$i}"
    done
    printf -- '---\n    vector.launch = {launch}us;\n%s);\n' "$attribute"
}

{
    echo "dfl 1;"
    echo "// Launches and shares of the bandwidth of kernels of PyTorch in fp32, each launched by itself, fitted by"
    echo "// tests/truth/fit_vector.sh to half of the measured shapes. A launch includes the work of the host. A share of the"
    echo "// bandwidth belongs to the length of the rows: one transfer is one row for each multiprocessor."
    grep -v '^#' $truth/vector_chips.txt | while read -r chip module system rest; do echo "import std.chips.$module as $module;"; done
} > "$work/out.dfl"
grep -v '^#' $truth/vector_chips.txt > "$work/chips"
while read -r chip module system sm outer _ array local; do
    for family in elementwise softmax layer_norm; do
        ops=$(vector_ops $family)
        awk -F, -v c="$chip" -v ops=" $ops " '$1 == c && index(ops, " " $2 " ") && NR % 2 == 0 { print NR "," $2 "," $4 "," $5 }' \
            "$table" > "$work/shapes.txt"
        awk -F, -v c="$chip" -v ops=" $ops " '$1 == c && index(ops, " " $2 " ") && NR % 2 == 0 { print NR "," $7 }' "$table" > "$work/us.txt"
        {
            # shellcheck disable=SC2086
            vector_head "$outer" "$array" "$local" $ops
            awk -v sm="$sm" -f $truth/vector.awk "$work/shapes.txt"
        } > "$work/body.dfl"
        {
            numbers $family "$sm" | sed "/^---/q"
            echo "dfl 1;"
            echo "import std.chips.$module as $module;"
            echo "system chip = $module.$system {"
            numbers $family "$sm" | sed "1,/^---/d; s/OUTER/$outer/"
            echo "}"
        } > "$work/chip.fit"
        nice awk -f $truth/fit.awk -v dflc="$work/dflc" -v body="$work/body.dfl" -v measured="$work/us.txt" -v rounds="${1:-9}" \
            "$work/chip.fit" > "$work/fitted.dfl" 2> "$work/log" || exit 1
        echo "$chip $family: $(grep '^round' "$work/log" | tail -1)" >&2
        {
            echo
            echo "/// $(echo "$family" | tr _ ' ') on ${system}: $(wc -l < "$work/shapes.txt") measured shapes."
            sed "1,2d; s/^system chip/system ${system}_$family/; s/^}/    source = \"times of kernels: sitar-lab\/NeuSight 6945927d (MIT)\";\n}/" "$work/fitted.dfl"
        } >> "$work/out.dfl"
    done
done < "$work/chips"
mkdir -p stdlib/chips/measured
cp "$work/out.dfl" stdlib/chips/measured/pytorch.dfl
"$work/dflc" fmt -w stdlib/chips/measured/pytorch.dfl
