#!/usr/bin/env bash
# Every example has its report beside it, examples/NAME.report, and passes `dflc test`. DFL_BLESS=1 rewrites the reports.
set -u
export LC_ALL=C DFL_STDLIB=${DFL_STDLIB:-stdlib} NO_COLOR=1
DFLC=${DFLC:-build/dflc}
passed=0 failed=0
if [ ! -x "$DFLC" ]; then
    echo "skipped: there is no $DFLC"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
got=$(mktemp)
trap 'rm -f "$got"' EXIT

count() { # count STATUS NAME
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2"
    fi
}

for file in examples/*.dfl; do
    want=${file%.dfl}.report
    timeout -k 5 60 "$DFLC" eval "$file" >"$got" 2>&1
    count $? "dflc eval $file"
    [ -n "${DFL_BLESS:-}" ] && cp "$got" "$want"
    diff -u "$want" "$got"
    count $? "$want is not what dflc prints"
    timeout -k 5 60 "$DFLC" test "$file" >"$got" 2>&1
    status=$?
    [ $status -eq 0 ] || cat "$got"
    count $status "dflc test $file"
done
[ "$passed" -gt 0 ] || { echo "FAILED: no examples"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
