#!/usr/bin/env bash
# Predicted and measured times of kernels on real chips. The measurements stand beside the repository (REFERENCE=directory), and
# are read in place.
#
#   run_truth.sh          a fixed sample of the rows
#   run_truth.sh all      every measured row; TYPES="bfloat16 fp8": only these data types of matrix products;
#                         KINDS="gemm compass sibling attention vector": only these groups of rows
#   RECORD=1 run_truth.sh [all]      replaces the figures of tests/truth/recorded.csv by the present ones
#
# The candidates of a kernel are mappings that a library of kernels, or somebody with patience, would write (gemm.dfl, gemm.awk,
# elementwise.dfl, rows.dfl, vector.awk); a kernel costs what its fastest candidate costs. They stand in for a search.
#
#   rows      measured rows; `covered` is the share that evaluates
#   best      plain chip, at its published peaks: predicted / fastest measured time, median and largest. A row of 20 us or more
#             must not be above 1.02, unless all its operands fit the last cache (the measurements do not flush it) or, if they take
#             up to 1.5 times the cache, filling it explains the difference
#   fitted    chip with launches and efficiencies: error against the median measured time, over the rows that the numbers of
#             the chip were fitted to (even lines of the file), median and 90th percentile
#   judged    the same over all other rows, and the bar: a kind that does not meet it `falls short`
#
# A kind fails if it is more than 10 % worse than its figures in recorded.csv (mode, kind, covered %, median, 90th percentile, rows above 1.02), or if it
# no longer meets a bar that its recorded figures meet; compare.awk has the rules.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib}
dflc=${DFLC:-build/dflc}
reference=${REFERENCE:-../shared/reference}
mode=$([ "${1:-}" = all ] && echo all || echo sample)
kinds=" ${KINDS:-gemm compass sibling attention vector} "
truth=tests/truth
. $truth/vector_lib.sh
. $truth/gemm_lib.sh
if [ ! -d "$reference/silicon" ]; then
    echo "skipped: $reference/silicon is not here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
every=1
[ $mode = sample ] && every=7

# evaluate FILE: lines `name,seconds` of all mappings.
evaluate() {
    "$dflc" eval -A inner-home --format csv --columns latency "$1" 2> "$work/errors" | tail -n +2
}

# table_of NAME KIND: the table of the rows in the list of LIST; empty for rows that are there already
table_of() {
    case $1.$2 in
    *" as "*) ;;
    *LLMCompass*) echo calculon/op_measured.csv ;;
    *.gemm) echo silicon/gemm.csv ;;
    *.attention) echo silicon/attention.csv ;;
    *) echo silicon/vector.csv ;;
    esac
}

# compare NAME KIND [MEDIAN [HIGH [JUDGE]]]: prints a row of the table from rows.txt (row,least us,median us,fits the cache,us that a warm cache saves),
# plain.csv and measured.csv, and judges it by the bars and by the recorded figures.
compare() {
    if awk -f $truth/compare.awk -v name="$1" -v kind="$2" -v median="${3:-}" -v high="${4:-}" -v judge="${5:-odd}" -v mode=$mode \
        -v record="$work/record" -v list="${LIST:-}" -v table="$(table_of "$1" "$2")" $truth/recorded.csv "$work/rows.txt" "$work/plain.csv" "$work/measured.csv"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

# like SIBLING: prints a system for the chip of the present line, with the launches and shares that were measured on the chip
# SIBLING (std.chips.measured). The bandwidth of the cache is that of the sibling, scaled by the peak rate of the chip; the bandwidth
# of the ports is scaled by the root of the peak rate of a multiprocessor, since a tile of Z that takes the same time has sides that
# grow with this root.
like() {
    read -r _ _ _ _ _ sibling_sm sibling_peak _ <<< "$(grep " std.chips.$1 " $truth/chips.txt)"
    echo "dfl 1; import $module as c; system chip = c.$plain {"
    tr '\n' ' ' < "$DFL_STDLIB/chips/measured/$1.dfl" | sed 's/.*confidence = "[^"]*";//; s/}.*//; s/;/;\n/g' |
        awk -v peak="$(awk "BEGIN { print $peak / $sibling_peak }")" -v many="$(awk "BEGIN { print $sm / $sibling_sm }")" -v outer="$outer" '
        /l2.bandwidth/ { printf "l2.bandwidth = %.4gTB/s;\n", $3 * peak; next }
        /smem.write.bandwidth/ { printf "smem.write.bandwidth = %.4gGB/s;\n", $3 * sqrt(peak / many); next }
        { sub(/hbm.efficiency/, outer ".efficiency"); print }'
    echo "}"
}

# gemm TYPE [MEDIAN HIGH [SIBLING [NAME]]]: rows.txt and shapes.txt (row,m,n,k) on the chip of the present line; with SIBLING, on the
# chip with the numbers of that one.
gemm() {
    read -r a b bytes bytes_b times turn <<< "$(types "$1")"
    [ "$chip.$1" = b60.fp8 ] && times=1
    rate=$(awk "BEGIN { print $peak * $times }")
    system=${derived}_$1 file=${derived}_types
    case $1 in
    bfloat16 | fp16) system=${derived}_measured file=$derived ;;
    esac
    for kind in plain measured; do
        : > "$work/$kind.csv"
        [ $kind = plain ] && [ -n "${4:-}" ] && continue
        # the plain chips have no rate for these types
        case $kind.$chip.$1 in plain.b60.fp8 | plain.*.nvfp4) continue ;; esac
        [ $kind = measured ] && [ ! -f "$DFL_STDLIB/chips/measured/$file.dfl" ] && continue
        {
            if [ -n "${4:-}" ]; then like "$4"
            elif [ $kind = plain ]; then echo "dfl 1; import $module as c; system chip = c.$plain { }"
            else echo "dfl 1; import std.chips.measured.$file as c; system chip = c.$system { }"; fi
            gemm_head "$a" "$b" "$([ $kind = measured ] && echo "$result" || echo l2)" "$outer" "$array" "$unit"
            for balanced in 0 1; do
                [ $kind = measured ] && [ $balanced = 1 ] && continue
                awk -f $truth/gemm.awk -v sm="$sm" -v rate="$rate" -v bandwidth="$memory" -v cache="$cache" -v bytes="$bytes" -v bytes_b="$bytes_b" \
                    -v keep="$([ $kind = plain ] && echo 9 || echo 8)" -v around="$([ $kind = plain ] && awk "BEGIN { print 1.4 * $around }" || echo "$around")" \
                    -v into="$([ $kind = plain ] && echo 1e12 || echo "$into")" -v balanced=$balanced -v most=100000 \
                    -v warm="$([ $kind = plain ] && echo 0 || echo "$warm")" -v turn="$([ $kind = plain ] && echo 0 || echo "$turn")" \
                    -v tiles="$([ $kind = plain ] && tiles wgmma || tiles "$family")" -v chip=chip "$work/shapes.txt"
            done
        } > "$work/$kind.dfl"
        evaluate "$work/$kind.dfl" > "$work/$kind.csv"
    done
    if [ -n "${4:-}" ]; then
        # `covered` is the share that evaluates with the numbers of the sibling; no bound on the best mapping.
        compare "$chip gemm $1 as $4" gemm "${2:-}" "${3:-}" all
    elif [ -n "${5:-}" ]; then compare "$5" gemm "${2:-}" "${3:-}" all
    else compare "$chip gemm $1" gemm "${2:-}" "${3:-}"
    fi
}

# gemm_rows TYPE EVERY: rows.txt and shapes.txt of one data type on the chip of the present line, each EVERYth row.
gemm_rows() {
    awk -F, -v c="$chip" -v t="$1" -v every="$2" -v cache="$cache" -v bandwidth="$memory" -v rows="$work/rows.txt" \
        -v shapes="$work/shapes.txt" '
        BEGIN { printf "" > rows; printf "" > shapes }
        $1 == c && $2 == t && ++n % every == 0 {
            all = 2 * ($3 * $5 + $5 * $4 + $3 * $4)
            print NR "," $6 "," $7 "," (all <= cache) "," (all <= 1.5 * cache ? cache / bandwidth * 1e6 : 0) > rows
            print NR "," $3 "," $4 "," $5 > shapes
        }' "$reference/silicon/gemm.csv"
    [ -s "$work/rows.txt" ]
}

printf '%-34s %5s %8s | %5s %5s %5s | %15s | %15s | %s\n' "" rows covered best most above fitted judged bar
grep -v '^#' $truth/chips.txt > "$work/chips"
while read -r chip module plain derived _ sm peak memory cache around into result outer warm family array unit; do
    for type in ${TYPES:-bfloat16 fp8 fp8_block int8_wo int4_wo nvfp4}; do
        [ $mode = sample ] && [ $type != bfloat16 ] && continue
        [ "${kinds/ gemm /}" = "$kinds" ] && continue
        gemm_rows $type $every || continue
        case $chip.$type in
        a100_sxm.bfloat16) gemm $type 0.06 0.2 ;;
        h100_sxm.bfloat16) gemm $type 0.05 0.2 ;;
        b200_sxm.bfloat16) gemm $type 0.06 0.2 ;;
        *) gemm $type ;;
        esac
    done
    # 20 products by another laboratory, the whole call of the library measured
    if [ $chip = a100_sxm ] && [ "${kinds/ compass /}" != "$kinds" ] && [ -f "$reference/calculon/op_measured.csv" ]; then
        awk -F, -v cache="$cache" -v rows="$work/rows.txt" -v shapes="$work/shapes.txt" '
            BEGIN { printf "" > rows; printf "" > shapes }
            $1 == "gemm" && $2 == "A100-SXM-80GB" && $4 == "fp16" && $8 ~ /LLMCompass/ {
                split($5, part, /[=;]/)
                print NR "," $6 "," $6 "," (2 * (part[2] * part[6] + part[6] * part[4] + part[2] * part[4]) <= cache) > rows
                print NR "," part[2] "," part[4] "," part[6] > shapes
            }' "$reference/calculon/op_measured.csv"
        gemm fp16 "" "" "" "$chip gemm fp16 of LLMCompass"
    fi
    # a chip with the numbers of its sibling, as if its own rows had not been seen
    if [ "${kinds/ sibling /}" != "$kinds" ]; then
        case $chip in
        a100_sxm) sibling=h100 ;;
        h100_sxm) sibling=a100 ;;
        b200_sxm | l40s) sibling=h100 ;;
        *) continue ;;
        esac
        gemm_rows bfloat16 $every && gemm bfloat16 0.07 "" $sibling
    fi
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
            vector_head "$outer" "$array" "$local" $ops
            awk -v sm="$sm" -f $truth/vector.awk "$work/shapes.txt"
        } > "$work/$kind.dfl"
        evaluate "$work/$kind.dfl" > "$work/$kind.csv"
    done
    compare "$chip $1" "$1" "${2:-}" "${3:-}"
}

# attention NAME [MEDIAN]: attention in bf16, prompts and single positions, on the chip of the present line.
attention() {
    awk -F, -v c="$chip" -v every=$every -v cache="$cache" -v rows="$work/rows.txt" -v shapes="$work/shapes.txt" '
        BEGIN { printf "" > rows; printf "" > shapes }
        $1 == c && $3 == "bfloat16" && $4 == "bfloat16" && ++n % every == 0 {
            read = 4 * $5 * $10 * ($6 * $7 + ($6 + $9) * $8)
            print NR "," $11 "," $12 "," (read <= cache) > rows
            print NR "," $5 "," $6 "," $7 "," $8 "," $9 "," $10 > shapes
        }' "$reference/silicon/attention.csv"
    for kind in plain measured; do
        for phase in prompt token; do
            {
                if [ $kind = plain ]; then echo "dfl 1; import $module as c; system chip = c.$plain { }"
                else echo "dfl 1; import std.chips.measured.attention as c; system chip = c.$1_${phase}_attention { }"; fi
                cat $truth/attention.dfl
                awk -v sm="$sm" -v phase=$phase -f $truth/attention.awk "$work/shapes.txt"
            } > "$work/$kind.dfl"
            evaluate "$work/$kind.dfl" > "$work/$phase.csv"
        done
        cat "$work/prompt.csv" "$work/token.csv" > "$work/$kind.csv"
    done
    compare "$chip attention bfloat16" attention "${2:-}"
}

while read -r chip module plain derived _ sm peak memory cache around into result outer warm family array unit; do
    [ "${kinds/ attention /}" = "$kinds" ] && continue
    case $chip in
    a100_sxm) attention a100 0.15 ;;
    h100_sxm) attention h100 0.15 ;;
    b200_sxm) attention b200 0.15 ;;
    esac
done < "$work/chips"
grep -v '^#' $truth/vector_chips.txt > "$work/chips"
while read -r chip module system sm outer cache array local; do
    [ "${kinds/ vector /}" = "$kinds" ] && continue
    vector elementwise 0.03
    vector softmax 0.1
    vector layer_norm 0.1
done < "$work/chips"
if [ -n "${RECORD:-}" ]; then
    awk -F, 'NR == FNR { now[$1 "," $2] = $0; order[n++] = $1 "," $2; next }
        ($1 "," $2) in now { print now[$1 "," $2]; delete now[$1 "," $2]; next }
        { print }
        END { for (i = 0; i < n; i++) if (order[i] in now) print now[order[i]] }' "$work/record" $truth/recorded.csv > "$work/recorded"
    cp "$work/recorded" $truth/recorded.csv
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
