#!/usr/bin/env bash
# The files of the library and the examples have no diagnostics, meet all their expectations, and are formatted.
. tests/harness/script.sh
result() { judge "$1" "$2" "$work/out"; } # result STATUS WHAT

for file in stdlib/*.dfl stdlib/*/*.dfl examples/*.dfl tests/stdlib/*.dfl; do
    "$DFLC" check "$file" >"$work/out" 2>&1
    status=$?
    [ -s "$work/out" ] && status=1
    result "$status" "check $file"
    "$DFLC" fmt --check "$file" >"$work/out" 2>&1
    result $? "layout of $file"
done
"$DFLC" test stdlib examples tests/stdlib >"$work/out" 2>&1
result $? "dflc test: $(grep -c '^ok' "$work/out") points"
# The model agrees with the oracle on the mappings, at small sizes.
for file in examples/*.dfl tests/stdlib/*.dfl; do
    "$DFLC" prove "$file" >"$work/out" 2>&1
    status=$?
    result "$status" "prove $file: $(sed -n 's/ *\([0-9]*\) counts compared.*: all equal/\1/p' "$work/out" | awk '{ n += $1 } END { print n + 0 }') counts equal"
done

finish
