#!/usr/bin/env bash
# The files of the library and the examples have no diagnostics, meet all their expectations, and are formatted. run_proofs.sh proves
# their mappings.
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
finish
