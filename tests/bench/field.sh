#!/usr/bin/env bash
# How good searches are, and how soon: each row of field.tsv under several limits on time, with one thread. A row shows the value
# and the gap under each limit (`=`: the search had come to its end before), the best value known, evaluated anew where it is a
# mapping, the ratio of the last value to it, and the ratio of the first value to the last.
#
# LIMITS='0.1 1' takes other limits, ONLY=WORD the rows whose file begins so. A limit on time counts elapsed time: the table of a
# busy machine shows worse values.
set -u
DFLC=${DFLC:-build/dflc}
export LC_ALL=C NO_COLOR=1 DFL_STDLIB=${DFL_STDLIB:-stdlib}
limits=${LIMITS:-0.1 1 10 60}
reference=${REFERENCE:-../shared/reference}/field
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -d "$reference" ]; then
    echo "field: $(grep -vc '^#' tests/bench/field.tsv) rows skipped, there is no $reference"
    exit 0
fi

. tests/bench/key.sh

# known FILE OBJECTIVE: the value of the mapping by hand
known() {
    local file=$reference/$1.hand.dfl only=()
    if [ ! -f "$file" ]; then
        file=$reference/$1.dfl only=(--only hand)
    fi
    "$DFLC" eval -q -A all "${only[@]}" --format csv --columns latency,energy "$file" 2>"$work/err" | tr -d '\r' |
        awk -F, -v o="$2" 'NR == 2 { printf "%.6g\n", o == "latency" ? $2 : o == "energy" ? $3 : $2 * $3 }'
}

first_good=0 rows=0
while IFS=$'\t' read -r file options best source; do
    case $file in '' | '#'*) continue ;; esac
    case $file in "${ONLY:-}"*) ;; *) continue ;; esac
    [ "$options" != - ] || options=
    line=$(printf 'field %-18s' "$file${options:+ $options}") first='' last='' ended=''
    for limit in $limits; do
        if [ -n "$ended" ]; then
            line+=$(printf ' %6s s %-21s' "$limit" =)
            continue
        fi
        # shellcheck disable=SC2086
        if "$DFLC" eval -q -A all $options --time-limit "$limit" --format json "$reference/$file.dfl" >"$work/out" 2>"$work/err"; then
            ended=yes
        fi
        value=$(key value "$work/out")
        gap=$(key gap "$work/out")
        line+=$(awk -v l="$limit" -v v="${value:--}" -v g="${gap:--}" 'BEGIN {
            printf " %6s s %9s %-11s", l, v == "-" ? v : sprintf("%.4g", v), g == "-" ? "(no bound)" : sprintf("(%.3g %%)", 100 * g) }')
        [ -n "$first" ] || first=${value:-none}
        last=$value
    done
    objective=$(sed -n 's/^ *"objective": "\(.*\)",*$/\1/p' "$work/out" | head -n 1)
    [ "$best" != hand ] || best=$(known "$file" "$objective")
    rows=$((rows + 1))
    ratio=$(awk -v a="$first" -v b="${last:-0}" 'BEGIN { print (a != "none" && b > 0) ? a / b : "none" }')
    first_good=$((first_good + $(awk -v r="$ratio" 'BEGIN { print r != "none" && r <= 1.5 }')))
    line+=$(awk -v r="$ratio" -v b="$best" -v v="${last:-0}" 'BEGIN {
        if (b + 0 > 0) printf " best known %.4g: %.4g times;", b, v / b
        printf r == "none" ? " no value" : " first %.3g times the last", r }')
    echo "$line${source:+ ($source)}"
done <tests/bench/field.tsv
echo "field: the first value is within 1.5 times the last in $first_good of $rows rows"
