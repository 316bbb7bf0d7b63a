#!/bin/sh
# The files of the library and the examples have no diagnostics, meet all their expectations, and are formatted.
set -u
cd "$(dirname "$0")/../.." || exit 2
dflc=${DFLC:-build/dflc}
passed=0
failed=0
result() {
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
        passed=$((passed + 1))
    else
        sed 's/^/# /' "$work/out"
        echo "not ok - $2"
        failed=$((failed + 1))
    fi
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

for file in stdlib/*.dfl stdlib/*/*.dfl examples/*.dfl tests/stdlib/*.dfl; do
    "$dflc" check "$file" >"$work/out" 2>&1
    status=$?
    [ -s "$work/out" ] && status=1
    result "$status" "check $file"
    "$dflc" fmt --check "$file" >"$work/out" 2>&1
    result $? "layout of $file"
done
"$dflc" test stdlib examples tests/stdlib >"$work/out" 2>&1
result $? "dflc test: $(grep -c '^ok' "$work/out") points"
# the model agrees with the oracle on the mappings, at small sizes
for file in examples/*.dfl tests/stdlib/*.dfl; do
    "$dflc" prove "$file" >"$work/out" 2>&1
    result $? "prove $file: $(sed -n 's/ *\([0-9]*\) counts compared.*: all equal/\1/p' "$work/out" | awk '{ n += $1 } END { print n + 0 }') counts equal"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
