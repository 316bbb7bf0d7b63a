#!/usr/bin/env bash
# Problems that users met: each row of field.tsv is run on its file. The files are read from the reference folder beside the
# checkout (`REFERENCE=` names another); without it the rows are skipped.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}/field

while IFS=$'\t' read -r file options wanted; do
    case $file in '' | '#'*) continue ;; esac
    if [ ! -f "$reference/$file.dfl" ]; then
        skip "there is no $reference/$file.dfl"
        continue
    fi
    [ "$options" != - ] || options=
    cp "$reference/$file.dfl" "$work/$file.dfl"
    # shellcheck disable=SC2086
    case $wanted in
    'expect '*)
        printf '\n%s\n' "$wanted" >>"$work/$file.dfl"
        "$DFLC" test $options "$work/$file.dfl" >"$work/out" 2>&1 && ok=true || ok=false
        ;;
    'says '*)
        "$DFLC" eval $options "$work/$file.dfl" >"$work/out" 2>&1
        grep -qF -- "${wanted#says }" "$work/out" && ok=true || ok=false
        ;;
    'reaches '*)
        "$DFLC" eval -q -A all $options --format json "$work/$file.dfl" >"$work/out" 2>"$work/told"
        sed -nE 's/^ *"(value|gap)": ([-0-9.e+]*),*$/\1 \2/p' "$work/out" >"$work/found"
        awk -v wanted="$wanted" '$1 == "value" && !value { value = $2 } $1 == "gap" && gap == "" { gap = $2 }
            END { split(wanted, most, " "); print value, gap; exit !(value > 0 && gap != "" && value <= most[2] && 100 * gap <= most[3]) }' \
            "$work/found" >"$work/out" && ok=true || ok=false
        ;;
    *)
        "$DFLC" eval $options "$work/$file.dfl" >"$work/out" 2>&1
        grep -qF -- "${wanted#lacks }" "$work/out" && ok=false || ok=true
        ;;
    esac
    if $ok; then pass; else fail "$file: $wanted" "$(tail -n 12 "$work/out")"; fi
done <tests/field/field.tsv
finish
