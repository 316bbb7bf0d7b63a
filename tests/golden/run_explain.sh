#!/usr/bin/env bash
# The pages of `dflc explain`: every code of codes.def has a page, and the examples of each page behave as their fences
# say. A fence is
#
#   ```LANG fails [COMMAND]     the example gives the code of the page
#   ```LANG works [COMMAND]     the example is free of it; a DFL example gives no report at all
#
# LANG `dfl` runs `dflc COMMAND` (check unless given, with arguments if need be) on the example; another LANG is a
# language that `dflc import LANG` reads, and a line `%% NAME` in it starts a second file that is passed after the
# first. Other fences are not run. A page without a fence that runs must have a `text` fence: no source can cause its
# code.
. tests/harness/script.sh
pages=${EXPLAIN_PAGES:-src/diag/explain}
case $DFLC in
/*) ;;
*) DFLC=$PWD/$DFLC ;;
esac
case $DFL_STDLIB in
/*) ;;
*) DFL_STDLIB=$PWD/$DFL_STDLIB ;;
esac

# Each fence of a page becomes a file N.LANG.KIND[.COMMAND...] in $work/fences.
split_page() {
    rm -rf "$work/fences"
    mkdir -p "$work/fences"
    awk -v dir="$work/fences" '
        /^```[a-z]+ (fails|works)/ && !open {
            name = substr($0, 4); gsub(/ /, "@", name)
            file = sprintf("%s/%02d@%s", dir, ++n, name); printf "" > file; open = 1; next }
        /^```/ { if (open) close(file); open = 0; next }
        open { print > file }' "$1"
}

run_fence() { # run_fence FILE CODE: prints what is wrong
    local file=$1 code=$2 number lang kind command status reports second
    IFS=@ read -r number lang kind command <<<"${file##*/}"
    command=${command//@/ }
    if [ "$lang" = dfl ]; then
        cp "$file" "$work/example.dfl"
        # shellcheck disable=SC2086
        (cd "$work" && timeout -k 5 60 "$DFLC" ${command:-check} example.dfl >out 2>err </dev/null)
    else
        awk -v first="$work/example.in" -v second="$work/second" '
            BEGIN { to = first; printf "" > first }
            /^%% / { to = second; printf "" > second; next }
            { print > to }' "$file"
        second=()
        [ -f "$work/second" ] && second=(--hw second)
        (cd "$work" && timeout -k 5 60 "$DFLC" import "$lang" example.in "${second[@]}" >out 2>err </dev/null)
        rm -f "$work/second"
    fi
    status=$?
    reports=$(grep -oE '(error|warning|note)\[E[0-9]+\]' "$work/err" | sort -u)
    case $kind in
    fails)
        printf '%s\n' "$reports" | grep -q "\[$code\]" ||
            { echo "example $number does not give $code: $(printf '%s' "$reports" | tr '\n' ' ')(exit $status)"; return 1; }
        ;;
    works)
        if [ "$lang" = dfl ] && { [ -n "$reports" ] || [ "$status" -ne 0 ]; } ||
            printf '%s\n' "$reports" | grep -q "\[$code\]\|error"; then
            echo "example $number is not clean: $(printf '%s' "$reports" | tr '\n' ' ')(exit $status)"
            sed 's/^/    /' "$work/err"
            return 1
        fi
        ;;
    esac
}

check_page() {
    local code=$1 page=$pages/$1.md bad=0 fence
    split_page "$page"
    if [ -z "$(ls "$work/fences")" ]; then
        grep -q '^```text' "$page" || { echo "no example"; return 1; }
        return 0
    fi
    ls "$work/fences" | grep -q '@fails' || { echo "no example that fails"; bad=1; }
    ls "$work/fences" | grep -q '@works' || { echo "no example that works"; bad=1; }
    for fence in "$work/fences"/*; do
        run_fence "$fence" "$code" || bad=1
    done
    return $bad
}

while read -r number; do
    code=$(printf 'E%04d' "$number")
    if [ ! -f "$pages/$code.md" ]; then
        fail "$code has no page $pages/$code.md"
    elif findings=$(check_page "$code"); then
        pass
    else
        fail "$pages/$code.md" "$findings"
    fi
done < <(sed -n 's/^DFL_DIAG(\([0-9]*\),.*/\1/p' "${EXPLAIN_CODES:-src/diag/codes.def}")
while read -r page; do
    number=$(basename "$page" .md | sed 's/^E0*//')
    grep -q "^DFL_\(DIAG\|RETIRED\)($number[,)]" "${EXPLAIN_CODES:-src/diag/codes.def}" || fail "$page: no such code"
done < <(find "$pages" -name 'E*.md' | sort)
finish
