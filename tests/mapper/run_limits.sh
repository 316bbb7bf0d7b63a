#!/usr/bin/env bash
# Searches that take long without a limit, one a file of limits/: each ends soon after its limit on time and soon after a
# signal, with status 5 and what is known. Processor time counts, since the machine may be busy; SLACK= is the time, in s, that
# a search may take beyond the limit.
set -u
export LC_ALL=C NO_COLOR=1
limit=1 slack=${SLACK:-2} signal_at=0.4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

fail() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# judge NAME STATUS SECONDS MOST: the end of a search that took SECONDS of processor time
judge() {
    if [ "$2" -ne 5 ]; then
        fail "$1: status $2 in place of 5"
    elif ! awk -v took="$3" -v most="$4" 'BEGIN { exit !(took <= most) }'; then
        fail "$1: $3 s of processor time, more than $4"
    elif ! grep -q 'not proven' "$work/told"; then
        fail "$1: no result"
    else
        passed=$((passed + 1))
    fi
}

# run COMMAND...: sets `status` and `took`
run() {
    TIMEFORMAT='%U %S'
    { time "$@" >"$work/out" 2>"$work/told"; } 2>"$work/time"
    status=$?
    took=$(awk '{ print $1 + $2 }' "$work/time")
}

# interrupt FILE SECONDS: interrupts a search after SECONDS; kills a search that goes on for a minute.
interrupt() {
    timeout -s KILL 60 "${DFLC:-build/dflc}" map -q -j 1 "$1" &
    sleep "$2"
    kill -TERM "$!"
    wait "$!"
}

for file in tests/mapper/limits/*.dfl; do
    name=${file##*/}
    run timeout -s KILL 60 "${DFLC:-build/dflc}" map -q -j 1 --time-limit "$limit" "$file"
    judge "$name: a limit on time" "$status" "$took" "$(awk -v l="$limit" -v s="$slack" 'BEGIN { print l + s }')"
    run interrupt "$file" "$signal_at"
    judge "$name: a signal" "$status" "$took" "$(awk -v l="$signal_at" -v s="$slack" 'BEGIN { print l + s }')"
done
# A signal leaves a mapping whenever it comes: in the search of all einsums together, in that of each alone, or in between.
for seconds in 0.1 0.2 0.6 0.9 1.2 1.6 2.4; do
    run interrupt tests/mapper/limits/layer.dfl "$seconds"
    judge "layer.dfl: a signal after $seconds s" "$status" "$took" "$(awk -v l="$seconds" -v s="$slack" 'BEGIN { print l + s }')"
    grep -q '^mapping best' "$work/out" || fail "layer.dfl: a signal after $seconds s: no mapping is written"
done
# Five operands have many templates, and to list them is no evaluation. The limit ends that, too, and no other one is named.
run timeout -s KILL 60 "${DFLC:-build/dflc}" map -q -j 1 --evaluations 1000 tests/mapper/limits/inputs.dfl
judge "inputs.dfl: a limit on evaluations" "$status" "$took" "$slack"
grep -q 'E0620' "$work/told" || fail "inputs.dfl: a limit on evaluations: $(grep error "$work/told")"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
