#!/usr/bin/env bash
# The examples of grammar/REFERENCE.md. A block that starts with
#
#   ```dfl works [COMMAND]      must pass `dflc COMMAND`, by default `dflc check`, without a diagnostic
#   ```dfl fails CODE           must make `dflc check` report CODE
#
# is run; other blocks are not.
set -u
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib} NO_COLOR=1
DFLC=${DFLC:-build/dflc}
page=${REFERENCE:-grammar/REFERENCE.md}
passed=0 failed=0
if [ ! -x "$DFLC" ]; then
    echo "skipped: there is no $DFLC"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v dir="$work" '
    /^```dfl (works|fails)/ && !open {
        name = substr($0, 8); gsub(/ /, "@", name)
        file = sprintf("%s/%04d@%s.dfl", dir, NR, name); printf "" > file; open = 1; next }
    /^```/ { if (open) close(file); open = 0; next }
    open { print > file }' "$page"
for file in "$work"/*.dfl; do
    [ -f "$file" ] || continue
    IFS=@ read -r line kind word <<<"$(basename "$file" .dfl)"
    case $kind in
    works)
        said=$(timeout -k 5 60 "$DFLC" "${word:-check}" "$file" 2>&1 >/dev/null)
        status=$?
        [ $status -eq 0 ] && [ -z "$said" ]
        ;;
    fails)
        said=$(timeout -k 5 60 "$DFLC" check "$file" 2>&1)
        status=$?
        [ $status -eq 1 ] && [[ $said == *"[$word]"* ]]
        ;;
    esac
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $page:$((10#$line)): ${kind} ${word} (status $status)"
        printf '%s\n' "$said" | sed "s|$work/||; s/^/    /"
    fi
done
[ $((passed + failed)) -gt 0 ] || { echo "FAILED: no examples in $page"; failed=1; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
