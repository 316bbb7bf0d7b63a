#!/usr/bin/env bash
# The paths in the pages for developers. Each path between backticks exists, relative to the folder of the page, to src or to the
# root of the tree. A word is a path if it has the ending of a source file, or at least two names of two letters joined by `/`.
# NAME, FOLDER and XXXX in a path stand for any text. What `make` writes to build/ and blocks of code are not looked at. The first
# test runs the others on a page with wrong paths, where each must be found. PAGES=FILE... reads other pages.
set -u
export LC_ALL=C
pages=${PAGES:-README.md src/README.md src/model/MODEL.md stdlib/CHIPS.md tests/MEASURED.md}
passed=0 failed=0

# paths_of PAGE: LINE PATH of every path
paths_of() {
    awk '
        /^ *```/ { inside = !inside; next }
        inside { next }
        {
            n = split($0, part, "`")
            for (i = 2; i <= n; i += 2) {
                m = split(part[i], word, " ")
                for (k = 1; k <= m; k++) {
                    path = word[k]
                    if (sub(/^[A-Z_]+=/, "", path) && path !~ /\//)
                        continue
                    sub(/[,;:]$/, "", path)
                    if (path !~ /^[A-Za-z0-9_.\/-]+$/ || path ~ /^(\/|-|build\/)/)
                        continue
                    if (path ~ /[A-Za-z_]\.(c|h|y|l|def|md|json|sh|txt|tsv|cli|mk|el|dfl)$/ ||
                        path ~ /^[A-Za-z0-9_.-][A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-][A-Za-z0-9_.-]+)+\/?$/ || path ~ /^[a-z][a-z]+\/$/)
                        print FNR, path
                }
            }
        }' "$1"
}

exists() { # exists PATTERN: whether a file or folder matches
    compgen -G "$1" >/dev/null
}

# check_page PAGE FOLDER: a line for each path that does not exist, and last the number of those that do
check_page() {
    local line path pattern base found count=0
    while read -r line path; do
        pattern=$(printf '%s' "$path" | sed -E 's/NAME|FOLDER|XXXX/*/g')
        found=
        for base in "$2" src .; do
            exists "$base/$pattern" && found=1
        done
        if [ -n "$found" ]; then count=$((count + 1)); else echo "FAILED: $1:$line: there is no $path"; fi
    done < <(paths_of "$1")
    echo "$count"
}

# The check of the check: five paths exist, four do not.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/page.md" <<'END'
Right: `ONLY=none.c make`, `diag/codes.def`, `Makefile`, `bash tests/docs/run_paths.sh`, `cmd/cmd_NAME.c`, `PAGES=src/README.md make`,
`r/K`, `build/none.c` and `tests/`.
Wrong: `diag/no_codes.def`, `no_room/no_file`, `DFLC=x bash tests/docs/run_nothing.sh`, `cmd/no_NAME.c`.
```
`diag/not_looked_at.def`
```
END
if [ "$(check_page "$work/page.md" "$work" | sed 's/.* //' | tr '\n' ' ')" = \
    'diag/no_codes.def no_room/no_file tests/docs/run_nothing.sh cmd/no_NAME.c 5 ' ]; then
    passed=1
else
    failed=1
    echo "FAILED: the check of paths does not find wrong paths:"
    check_page "$work/page.md" "$work" | sed 's/^/    /'
fi

for page in $pages; do
    findings=$(check_page "$page" "$(dirname "$page")" 2>&1)
    count=${findings##*$'\n'}
    printf '%s\n' "$findings" | grep '^FAILED'
    failed=$((failed + $(printf '%s\n' "$findings" | grep -c '^FAILED')))
    passed=$((passed + count))
    [ "$count" -gt 0 ] || { echo "FAILED: $page has no path"; failed=$((failed + 1)); }
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
