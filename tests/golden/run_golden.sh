#!/usr/bin/env bash
# Golden tests: runs dflc on each file below tests/golden (DFL, or YAML for `import`) and compares its output with the
# files beside the input.
#
#   x.dfl, x.yaml    the input; a first line `// run: eval --format json` replaces the default arguments `check`
#                    (`# // run: import timeloop` in YAML; there an error marked in a comment is `# //~ E0705`),
#                    `// exit: 4` among the first lines states the exit status (else 1 with errors, 0 without)
#   x.stderr         the expected standard error
#   x.stdout         the expected standard output; without this file standard output must be empty
#   //~ E0301 E0302  a mark on a line of x.dfl: exactly these codes are reported on this line; `//~^` means the line
#                    above (`//~^^` two above), `//~?` any place. A file with marks needs no x.stderr.
#   _x.dfl           a file that tests import; it is no test itself
#
# Before the comparison the counters of a search become `N evaluated, M pruned`, in JSON 0; see
# tests/harness/counters.sed.
#
# DFL_BLESS=1 writes x.stdout and x.stderr anew. A directory without tests is a failure; an expected output without an
# input is a failure, too.
. tests/harness/script.sh
root=${GOLDEN_ROOT:-tests/golden}

# "LINE CODE" of every mark in a file; line 0 for any place.
marks_of() {
    awk '{
        at = index($0, "//~")
        if (!at) next
        rest = substr($0, at + 3)
        line = FNR
        if (substr(rest, 1, 1) == "?") { line = 0; rest = substr(rest, 2) }
        while (substr(rest, 1, 1) == "^") { line--; rest = substr(rest, 2) }
        n = split(rest, code, " ")
        for (i = 1; i <= n; i++)
            if (code[i] ~ /^E[0-9][0-9][0-9][0-9]$/) print line, code[i]; else exit
    }' "$1" | sort
}

# "LINE CODE" of every report about the file; 0 for reports without a place or about another file.
reports_of() {
    awk -v file="$1" '
        /^(internal error|error|warning|note)\[E[0-9]+\]: / { match($0, /E[0-9]+/); print 0, substr($0, RSTART, RLENGTH); next }
        /^[^ ].*:[0-9]+:[0-9]+: (internal error|error|warning|note)\[E[0-9]+\]: / {
            match($0, /:[0-9]+:[0-9]+: /)
            name = substr($0, 1, RSTART - 1)
            split(substr($0, RSTART + 1), part, ":")
            match($0, /\[E[0-9]+\]/)
            print (name == file ? part[1] : 0), substr($0, RSTART + 1, RLENGTH - 2)
        }' "$2" | sort
}

compare() { # compare EXPECTED-FILE GOT-FILE WHAT
    if [ -n "${DFL_BLESS:-}" ]; then
        if [ -s "$2" ] || [ "$3" = needed ]; then cp "$2" "$1"; else rm -f "$1"; fi
        return 0
    fi
    if [ -f "$1" ]; then
        diff -u --label "$1" --label got "$1" "$2"
    elif [ "$3" = needed ]; then
        echo "$1 is missing"
        return 1
    elif [ "$3" = empty ] && [ -s "$2" ]; then
        echo "$1 is missing, and dflc wrote:"
        cat "$2"
        return 1
    fi
}

# Checks the output of `map`: beside its input, the printed file must pass `dflc check`.
check_mapped() { # check_mapped FILE STATUS
    [ -s "$work/out" ] || return 0
    "$DFLC" check --stdin-filename "$1" - <"$work/out" >"$work/checked" 2>&1
    local status=$?
    [ "$status" -eq 0 ] || [ "$2" -ne 0 ] || { echo "check of what map prints: status $status"; cat "$work/checked"; return 1; }
}

run_file() { # run_file FILE: prints what is wrong
    local file=$1 base=${1%.*} arguments want_exit status stream bad=0 need=needed
    arguments=$(sed -n '1s|^\(# \)*// run: *||p' "$file")
    want_exit=$(sed -n '1,5s|^\(# \)*// exit: *\([0-9]*\) *$|\2|p' "$file")
    # shellcheck disable=SC2086
    timeout -k 5 60 "$DFLC" ${arguments:-check} "$file" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ -z "$want_exit" ]; then
        want_exit=0
        grep -qE '(^|: )(internal )?error\[E[0-9]+\]: ' "$work/out" "$work/err" && want_exit=1
        grep -qE '^    *"severity": *"error"' "$work/out" && want_exit=1
    fi
    for stream in "$work/out" "$work/err"; do
        ! grep -qE ' pruned|"pruned"' "$stream" || sed -i -E -f tests/harness/counters.sed "$stream"
    done
    [ "$status" -eq "$want_exit" ] || { echo "exit status $status, not $want_exit"; bad=1; }
    marks_of "$file" >"$work/marks"
    if [ -s "$work/marks" ]; then
        need=optional
        [ -z "${DFL_BLESS:-}" ] || [ -f "$base.stderr" ] || need=none
        # Standard output counts, too, since json and sarif go to it; marks apply to text and short output only.
        reports_of "$file" "$work/err" >"$work/reports"
        diff -u --label marks --label reports "$work/marks" "$work/reports" || bad=1
    fi
    [ "$need" = none ] || compare "$base.stderr" "$work/err" "$need" || bad=1
    compare "$base.stdout" "$work/out" empty || bad=1
    case $arguments in map*) check_mapped "$file" "$want_exit" || bad=1 ;; esac
    return $bad
}

while read -r file; do
    if findings=$(run_file "$file"); then pass; else fail "$file" "$findings"; fi
done < <(find "$root" \( -name '*.dfl' -o -name '*.yaml' \) ! -name '_*' | sort)

while read -r dir; do
    [ -n "$(find "$dir" -type f | head -n 1)" ] || fail "$dir is empty"
done < <(find "$root" -mindepth 1 -type d | sort)
while read -r expected; do
    [ -f "${expected%.std*}.dfl" ] || [ -f "${expected%.std*}.yaml" ] || fail "$expected has no input"
done < <(find "$root" -name '*.stderr' -o -name '*.stdout' | sort)
[ $((passed + failed)) -gt 0 ] || fail "no golden tests below $root"
finish
