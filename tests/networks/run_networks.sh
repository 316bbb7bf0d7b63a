#!/usr/bin/env bash
# Whole networks on chips of the library, one mapping each, as a search finds them within the limits of the table.
#
#   run_networks.sh          the rows `test` of networks.tsv
#   run_networks.sh all      all rows, then the matrix: every network of the library on every chip of the library
#
# A row passes if the search leaves a mapping, its operations are the published count, and `prove` finds all counts equal on
# shrunk sizes. A cell of the matrix passes if the mapping found evaluates, or if one message names what the chip lacks.
# ONLY=WORD takes the rows and cells whose network or chip is WORD. TABLE=FILE writes the table of the rows in Markdown.
. tests/harness/script.sh
here=tests/networks
every=${1:-}

fail_row() { # fail_row WHAT: with the beginning of the messages
    fail "$1" "$([ ! -s "$work/log" ] || grep -E 'error|warning|differ' "$work/log" | head -n 3)"
}

# write_file MODULE WORKLOAD CHIP_MODULE CHIP: a file with one open mapping
write_file() {
    printf 'dfl 1;\nimport std.workloads.%s as net;\nimport std.chips.%s as chip;\n\n' "$1" "$3" >"$work/in.dfl"
    printf 'mapping best for net.%s on chip.%s {\n    ...;\n    minimize latency;\n}\n' "$2" "$4" >>"$work/in.dfl"
}

# search LIMIT...: $work/out.dfl and $work/log; the exit status is that of the search
search() {
    rm -f "$work/out.dfl"
    timeout -k 5 "${TEST_TIMEOUT:-600}" "$DFLC" map -q -A all "$@" "$work/in.dfl" -o "$work/out.dfl" >"$work/log" 2>&1
}

# The messages of the search that are no limit on its work.
messages() { grep -E '(^|: )(error|warning)\[' "$work/log" | grep -vcE '(error|warning)\[E06(02|03|20)\]: (step limit|time limit|limit on evaluations)'; }

# Whether a search with this exit status left a mapping: it ended (0), or it reached a limit and wrote the best mapping (5).
is_found() { { [ "$1" -eq 0 ] || [ "$1" -eq 5 ]; } && [ -s "$work/out.dfl" ]; }

row() { # row NETWORK MODULE WORKLOAD CHIP_MODULE CHIP LIMITS MACS
    local network=$1 chip=$5 began seconds status proven latency utilization mac bound want
    write_file "$2" "$3" "$4" "$5"
    began=$(date +%s%N)
    # shellcheck disable=SC2086
    search $6
    status=$?
    if [ "$7" = - ]; then
        if [ "$(messages)" -eq 1 ] && grep -qE 'error\[E0(406|618)\]' "$work/log" && [ ! -s "$work/out.dfl" ]; then
            pass
            printf '%-17s %-12s %s\n' "$network" "$chip" "$(sed -nE 's/.*error\[E0(406|618)\]: //p' "$work/log")"
        else
            fail_row "$network on $chip: no message that it does not fit"
        fi
        return
    fi
    seconds=$(((($(date +%s%N) - began) / 100000000)))
    if ! is_found "$status" || [ "$(messages)" -gt 0 ]; then
        fail_row "$network on $chip: no mapping, exit status $status"
        return
    fi
    if ! "$DFLC" eval -q -A all --format csv --columns latency,utilization,mac,bound_by "$work/out.dfl" \
        >"$work/eval" 2>"$work/log"; then
        fail_row "$network on $chip: the mapping found does not evaluate"
        return
    fi
    IFS=, read -r _ latency utilization mac bound < <(tail -n 1 "$work/eval" | tr -d '\r')
    want=$(awk "BEGIN { printf \"%.0f\", $7 }")
    if [ "$mac" != "$want" ]; then
        fail_row "$network on $chip: $mac MACs, published $want"
        return
    fi
    if timeout -k 5 "${TEST_TIMEOUT:-600}" "$DFLC" prove -A all "$work/out.dfl" >"$work/log" 2>&1 &&
        grep -q ' counts compared .*: all equal' "$work/log"; then
        proven=$(sed -n 's/^ *\([0-9]*\) counts compared.*: all equal$/\1 counts/p' "$work/log")
        pass
    else
        fail_row "$network on $chip: prove"
        proven=no
    fi
    awk -v n="$network" -v c="$chip" -v s="$latency" -v u="$utilization" -v b="$bound" -v t="$seconds" -v p="$proven" \
        -v table="${TABLE:-}" 'BEGIN {
        unit = "s"
        if (s < 1) { s *= 1000; unit = "ms" }
        if (s < 1) { s *= 1000; unit = "us" }
        printf "%-17s %-12s %9.4g %-2s %6.1f %%  %-8s %6.1f s  %s\n", n, c, s, unit, u * 100, b, t / 10, p
        if (table != "") printf "| %s | %s | %.4g %s | %.1f %% | %s |\n", n, c, s, unit, u * 100, b >>table
    }'
}

cell() { # cell NETWORK MODULE WORKLOAD CHIP_MODULE CHIP
    local status n
    write_file "$2" "$3" "$4" "$5"
    search --evaluations 1 --step-limit 3000000
    status=$?
    n=$(messages)
    if is_found "$status" && [ "$n" -eq 0 ]; then
        if "$DFLC" eval -q -A all --format csv --columns latency "$work/out.dfl" >"$work/eval" 2>"$work/log"; then
            pass
            printf '%-17s %-16s evaluates\n' "$1" "$5"
        else
            fail_row "$1 on $5: the mapping found does not evaluate"
        fi
    elif [ "$n" -gt 0 ] && [ "$n" -eq "$(grep -cE 'error\[E0(406|618)\]' "$work/log")" ] && [ ! -s "$work/out.dfl" ]; then
        pass # one message for each memory that is too small
        printf '%-17s %-16s does not fit: %s\n' "$1" "$5" "$(sed -nE 's/.*error\[E0(406|618)\]: //p' "$work/log" | paste -sd ';')"
    elif [ "$status" -eq 1 ] && [ "$n" -eq 1 ] && [ ! -s "$work/out.dfl" ] &&
        grep -qE "error\[E[0-9]+\]: .*(computes|unit|inside|outermost)" "$work/log"; then
        pass
        printf '%-17s %-16s %s\n' "$1" "$5" "$(grep -E '(^|: )error\[' "$work/log" | grep -vE 'E0602|E0620' | sed 's/.*error\[/[/' | tail -n 1)"
    else
        fail_row "$1 on $5: exit status $status, $n messages"
    fi
}

wanted() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ] || [ "$ONLY" = "$2" ]; }

rows=0
echo "network           chip           latency   utilized bound     search  proven equal on shrunk sizes"
while IFS=$'\t' read -r when network module workload chip_module chip limits macs _; do
    case $when in '' | '#'*) continue ;; esac
    [ "$every" = all ] || [ "$when" = test ] || continue
    wanted "$network" "$chip" || continue
    rows=$((rows + 1))
    row "$network" "$module" "$workload" "$chip_module" "$chip" "$limits" "$macs"
done <"$here/networks.tsv"
[ "$rows" -gt 0 ] || [ -n "${ONLY:-}" ] || fail "no row in $here/networks.tsv"

# The matrix: chips are the systems of the files of stdlib/chips; networks are the first rows of each in the table.
if [ "$every" = all ]; then
    echo
    while read -r chip_module chip; do
        while IFS=$'\t' read -r network module workload; do
            wanted "$network" "$chip" || continue
            cell "$network" "$module" "$workload" "$chip_module" "$chip"
        done < <(awk -F'\t' '!/^#/ && NF > 6 && !seen[$2]++ { print $2 "\t" $3 "\t" $4 }' "$here/networks.tsv")
    done < <(for file in stdlib/chips/*.dfl; do
        module=${file##*/}
        sed -n "s/^system \([a-z0-9_]*\).*/${module%.dfl} \1/p" "$file"
    done)
fi
finish
