#!/usr/bin/env bash
# Predicted and measured times of kernels on real chips. The measurements stand beside the repository (REFERENCE=directory), and
# are read in place.
#
#   run_truth.sh          a fixed sample of the rows, with bounds that must hold
#   run_truth.sh all      every measured row; prints a table (TYPES="bfloat16 fp8": only these data types of matrix products)
#
# The candidates of a kernel are mappings that a library of kernels, or somebody with patience, would write (gemm.dfl, gemm.awk,
# elementwise.dfl, rows.dfl, vector.awk); a kernel costs what its fastest candidate costs. They stand in for a search.
#
#   rows      measured rows; `covered` is the share that evaluates
#   best      plain chip, at its published peaks: predicted / fastest measured time. A row of 20 us or more must not be above 1.02,
#             unless all its operands fit the last cache (the measurements do not flush it)
#   fitted    chip with launches and efficiencies: error against the median measured time, over the rows that the numbers of
#             the chip were fitted to (even lines of the file), median and 90th percentile
#   others    the same over all other rows
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
dflc=${DFLC:-build/dflc}
reference=${REFERENCE:-../shared/reference}
sample=$([ "${1:-}" = all ] || echo sample)
truth=tests/truth
. $truth/vector_lib.sh
if [ ! -d "$reference/silicon" ]; then
    echo "skipped: $reference/silicon is not here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
every=1
[ -n "$sample" ] && every=7

# evaluate FILE: lines `name,seconds` of all mappings.
evaluate() {
    "$dflc" eval -A inner-home --format csv --columns latency "$1" 2> "$work/errors" | tail -n +2
}

# compare NAME KIND [MEDIAN HIGH]: prints a row of the table from rows.txt (row,least us,median us,fits the cache), plain.csv
# and measured.csv; fails beyond the bounds.
compare() {
    if awk -f $truth/compare.awk -v name="$1" -v kind="$2" -v median="${3:-}" -v high="${4:-}" -v sample="$sample" \
        "$work/rows.txt" "$work/plain.csv" "$work/measured.csv"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

# Data types of A and B, bytes of an element of A, and FLOP/s relative to bf16.
types() {
    case $1 in
    bfloat16) echo bf16 bf16 2 1 ;;
    fp16) echo fp16 fp16 2 1 ;;
    fp8 | fp8_block) echo fp8 fp8 1 2 ;;
    int8_wo) echo bf16 i8 2 1 ;;
    int4_wo) echo bf16 i4 2 1 ;;
    *) echo ;;
    esac
}

# gemm TYPE MEDIAN HIGH: rows.txt and shapes.txt (row,m,n,k) on the chip of the present line.
gemm() {
    read -r a b bytes times <<< "$(types "$1")"
    : > "$work/plain.csv"
    : > "$work/measured.csv"
    if [ -n "$a" ] && "$dflc" check - > "$work/null" 2>&1 <<< "import $module as c; system chip = c.$plain { }"; then
        rate=$(awk "BEGIN { print $peak * $times }")
        for kind in plain measured; do
            [ $kind$derived = measured- ] && continue
            {
                if [ $kind = plain ]; then echo "dfl 1; import $module as c; system chip = c.$plain { }"
                else echo "dfl 1; import $derived as c; system chip = c.$system { }"; fi
                sed "s/A_TYPE/$a/; s/B_TYPE/$b/; $([ $kind$result = measuredhbm ] && echo "/keep Z in l2/d")" $truth/gemm.dfl
                for balanced in 0 1; do
                    [ $kind = measured ] && [ $balanced = 1 ] && continue
                    awk -f $truth/gemm.awk -v sm="$sm" -v rate="$rate" -v bandwidth="$memory" -v cache="$cache" -v bytes="$bytes" \
                        -v keep="$([ $kind = plain ] && echo 9 || echo 6)" -v around="$([ $kind = plain ] && awk "BEGIN { print 1.4 * $around }" || echo "$around")" \
                        -v into="$([ $kind = plain ] && echo 1e12 || echo "$into")" -v balanced=$balanced -v most=100000 \
                        -v chip=chip "$work/shapes.txt"
                done
            } | sed "s/ in hbm;/ in $outer;/" > "$work/$kind.dfl"
            evaluate "$work/$kind.dfl" > "$work/$kind.csv"
        done
    fi
    compare "$chip gemm $1" gemm "${2:-}" "${3:-}"
}

printf '%-30s %6s %8s | %6s %6s %6s | %15s | %15s\n' "" rows covered "best" "most" "above" "fitted" "others"
grep -v '^#' $truth/chips.txt > "$work/chips"
while read -r chip module plain derived system sm peak memory cache around into result outer; do
    for type in ${TYPES:-bfloat16 fp8 fp8_block int8_wo int4_wo nvfp4}; do
        [ -n "$sample" ] && [ $type != bfloat16 ] && continue
        awk -F, -v c="$chip" -v t=$type -v every=$every -v cache="$cache" -v rows="$work/rows.txt" -v shapes="$work/shapes.txt" '
            BEGIN { printf "" > rows; printf "" > shapes }
            $1 == c && $2 == t && ++n % every == 0 {
                warm = 2 * ($3 * $5 + $5 * $4 + $3 * $4) <= cache
                print NR "," $6 "," $7 "," warm > rows
                print NR "," $3 "," $4 "," $5 > shapes
            }' "$reference/silicon/gemm.csv"
        [ -s "$work/rows.txt" ] || continue
        case $chip.$type in
        a100_sxm.bfloat16) gemm $type 0.06 0.2 ;;
        h100_sxm.bfloat16) gemm $type 0.05 0.2 ;;
        b200_sxm.bfloat16) gemm $type 0.06 0.2 ;;
        *) gemm $type ;;
        esac
    done
done < "$work/chips"
# vector FAMILY MEDIAN HIGH: the kernels of a family on the chip of the present line.
vector() {
    ops=$(vector_ops "$1")
    awk -F, -v c="$chip" -v ops=" $ops " -v cache="$cache" -v rows="$work/rows.txt" -v shapes="$work/shapes.txt" '
        BEGIN { printf "" > rows; printf "" > shapes }
        $1 == c && index(ops, " " $2 " ") {
            two = $2 == "add" || $2 == "mul" || $2 == "div"
            print NR "," $6 "," $7 "," (4 * $4 * $5 * (2 + two) <= cache) > rows
            print NR "," $2 "," $4 "," $5 > shapes
        }' "$reference/silicon/vector.csv"
    for kind in plain measured; do
        {
            if [ $kind = plain ]; then echo "dfl 1; import std.chips.$module as c; system chip = c.$system { }"
            else echo "dfl 1; import std.chips.measured.pytorch as c; system chip = c.${system}_$1 { }"; fi
            # shellcheck disable=SC2086
            vector_head "$outer" $ops
            awk -v sm="$sm" -f $truth/vector.awk "$work/shapes.txt"
        } > "$work/$kind.dfl"
        evaluate "$work/$kind.dfl" > "$work/$kind.csv"
    done
    compare "$chip $1" "$1" "${2:-}" "${3:-}"
}

# attention NAME [MEDIAN]: attention in bf16, prompts and single positions, on the chip of the present line.
attention() {
    awk -F, -v c="$chip" -v every=$every -v rows="$work/rows.txt" -v shapes="$work/shapes.txt" '
        BEGIN { printf "" > rows; printf "" > shapes }
        $1 == c && $3 == "bfloat16" && $4 == "bfloat16" && ++n % every == 0 {
            print NR "," $11 "," $12 ",1" > rows
            print NR "," $5 "," $6 "," $7 "," $8 "," $9 "," $10 > shapes
        }' "$reference/silicon/attention.csv"
    for kind in plain measured; do
        {
            if [ $kind = plain ]; then echo "dfl 1; import $module as c; system chip = c.$plain { }"
            else echo "dfl 1; import std.chips.measured.attention as c; system chip = c.$1_attention { }"; fi
            cat $truth/attention.dfl
            awk -v sm="$sm" -f $truth/attention.awk "$work/shapes.txt"
        } > "$work/$kind.dfl"
        evaluate "$work/$kind.dfl" > "$work/$kind.csv"
    done
    compare "$chip attention bfloat16" attention "${2:-}"
}

while read -r chip module plain derived system sm peak memory cache around into result outer; do
    case $chip in
    a100_sxm) attention a100 0.15 ;;
    h100_sxm) attention h100 ;;
    esac
done < "$work/chips"
grep -v '^#' $truth/vector_chips.txt > "$work/chips"
while read -r chip module system sm outer cache; do
    vector elementwise 0.03
    vector softmax 0.1
    vector layer_norm 0.1
done < "$work/chips"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
