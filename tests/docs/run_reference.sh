#!/usr/bin/env bash
# The examples of grammar/REFERENCE.md. A block that starts with
#
#   ```dfl works [COMMAND]      must pass `dflc COMMAND`, by default `dflc check`, without a diagnostic
#   ```dfl fails CODE           must make `dflc check` report CODE
#
# is run; other blocks are not.
. tests/harness/script.sh
page=${REFERENCE:-grammar/REFERENCE.md}
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
    if [ $? -eq 0 ]; then pass; else fail "$page:$((10#$line)): ${kind} ${word} (status $status)" "${said//"$work/"/}"; fi
done
[ $((passed + failed)) -gt 0 ] || fail "no examples in $page"
finish
