#!/usr/bin/env bash
# Every example has its report beside it, examples/NAME.report. DFL_BLESS=1 rewrites the reports. tests/stdlib/run_library.sh runs
# `dflc test` on the examples.
. tests/harness/script.sh
got=$work/got

for file in examples/*.dfl; do
    want=${file%.dfl}.report
    timeout -k 5 60 "$DFLC" eval "$file" >"$got" 2>&1
    judge $? "dflc eval $file" "$got"
    [ -n "${DFL_BLESS:-}" ] && cp "$got" "$want"
    diff -u "$want" "$got" >"$work/diff"
    judge $? "$want is not what dflc prints" "$work/diff"
done
[ "$passed" -gt 0 ] || fail "no examples"
finish
