#!/usr/bin/env bash
# The model agrees with the oracle on the mappings of the examples and of tests/stdlib, at small sizes. ROW=name runs one file; `make
# test` runs each as a test of its own.
. tests/harness/script.sh

for file in examples/${ROW:-*}.dfl tests/stdlib/${ROW:-*}.dfl; do
    [ -f "$file" ] || continue
    "$DFLC" prove "$file" >"$work/out" 2>&1
    status=$?
    judge "$status" "prove $file: $(sed -n 's/ *\([0-9]*\) counts compared.*: all equal/\1/p' "$work/out" | awk '{ n += $1 } END { print n + 0 }') counts equal" \
        "$work/out"
done
[ $((passed + failed)) -gt 0 ] || fail "no file ${ROW:-}"
finish
