#!/usr/bin/env bash
# Searches that take long without a limit end soon after their limit on time and soon after a signal, with status 5 and what is
# known. What counts is the processor time after the limit, since the machine may be busy; SLACK= is the most, in s.
#
#   run_limits.sh        the files of tests/mapper/limits
#   run_limits.sh all    also the problems of the reference folder (`REFERENCE=` names another) and whole networks on three chips,
#                        where a search may also come to its end; prints a table, with the value found under each limit
set -u
export LC_ALL=C NO_COLOR=1
dflc=${DFLC:-build/dflc} slack=${SLACK:-0.2} signal_at=0.4
reference=${REFERENCE:-../shared/reference}/field
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ticks=$(getconf CLK_TCK)
passed=0 failed=0 skipped=0

fail() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# spent PID: processor time of a process, in ticks; nothing if it has ended
spent() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }

# run SECONDS SIGNAL FILE OPTION...: a search, and a signal after SECONDS, `-` = none. Sets `status` and `over`, the processor time
# after SECONDS, in s.
run() {
    local seconds=$1 signal=$2 file=$3 before after pid
    shift 3
    # shellcheck disable=SC2016
    TIMEFORMAT='%U %S' bash -c 'time timeout -s KILL 60 "$@" >"$0/out" 2>"$0/told"' "$work" \
        bash -c 'echo $$ >"$0/pid"; exec "$@"' "$work" "$dflc" map -q -A all -j 1 "$@" "$file" 2>"$work/time" &
    pid=$!
    sleep "$seconds"
    before=$(spent "$(cat "$work/pid")")
    [ "$signal" = - ] || [ -z "$before" ] || kill "-$signal" "$(cat "$work/pid")"
    wait "$pid"
    status=$?
    after=$(tail -n 1 "$work/time")
    over=$(awk -v a="$after" -v b="${before:-}" -v t="$ticks" 'BEGIN { split(a, n, " "); print b == "" ? 0 : n[1] + n[2] - b / t }')
}

# judge NAME: the end of a search
judge() {
    if [ "$status" -ne 5 ] && { [ "$status" -ne 0 ] || [ -z "${may_end:-}" ]; }; then
        fail "$1: status $status in place of 5"
    elif ! awk -v took="$over" -v most="$slack" 'BEGIN { exit !(took <= most) }'; then
        fail "$1: $over s of processor time after it, more than $slack"
    elif [ "$status" -eq 5 ] && ! grep -q 'not proven' "$work/told"; then
        fail "$1: no result"
    else
        passed=$((passed + 1))
    fi
}

# Over tile sizes that divide: of 120 divisors, a search over all sizes ends at once.
for file in tests/mapper/limits/*.dfl; do
    name=${file##*/}
    run 1 - "$file" --tiles perfect --time-limit 1
    [ "$name" != causal.dfl ] || may_end=yes # its search takes about a second
    judge "$name: a limit on time"
    may_end=
    run "$signal_at" TERM "$file" --tiles perfect
    judge "$name: a signal"
done
# A signal leaves a mapping whenever it comes: in the search of all einsums together, in that of each alone, or in between.
for seconds in 0.1 0.2 0.6 0.9 1.2 1.6 2.4; do
    run "$seconds" INT tests/mapper/limits/layer.dfl
    judge "layer.dfl: a signal after $seconds s"
    grep -q '^mapping best' "$work/out" || fail "layer.dfl: a signal after $seconds s: no mapping is written"
done
# Of several mappings those remain that searches for one mapping find, if the search for all of them has none yet.
sed 's/minimize [^;]*;/pareto energy, latency;/' tests/mapper/limits/layer.dfl >"$work/front.dfl"
run 0.5 - "$work/front.dfl" --time-limit 0.5
judge "layer.dfl: a Pareto set"
run 0.5 - tests/mapper/limits/layer.dfl --top 3 --time-limit 0.5
judge "layer.dfl: the best kinds"
# Five operands have many templates, and to list them is no evaluation. The limit ends that, too, and no other one is named.
run 2 - tests/mapper/limits/inputs.dfl --evaluations 1000
judge "inputs.dfl: a limit on evaluations"
grep -q 'E0620' "$work/told" || fail "inputs.dfl: a limit on evaluations: $(grep error "$work/told")"

# Extents with 120 divisors have thousands of ways to cut a rank. The limit ends what looks for a first mapping, too.
run 4 - tests/mapper/limits/divisors.dfl --tiles perfect --evaluations 1000
judge "divisors.dfl: a limit on evaluations"

# Problems of users, and networks.
value() { sed -n 's/^  value *//p' "$work/told" | head -n 1; }

row() { # row NAME FILE
    local line
    may_end=1
    line=$(printf '%-28s' "$1")
    for seconds in 0.1 0.5 2; do
        run "$seconds" - "$2" --time-limit "$seconds"
        judge "$1: a limit of $seconds s"
        line+=$(printf ' %5.2f %-12s' "$over" "$(value)")
    done
    for signal in INT TERM; do
        run 0.5 "$signal" "$2"
        judge "$1: SIG$signal"
        line+=$(printf ' %5.2f' "$over")
    done
    echo "$line"
}

if [ "${1:-}" = all ]; then
    echo "seconds after the limit, value:  0.1 s              0.5 s              2 s            INT  TERM"
    if [ -d "$reference" ]; then
        for file in "$reference"/*.dfl; do
            case $file in *.hand.dfl) continue ;; esac
            grep -qF '...' "$file" && "$dflc" check -A all "$file" >"$work/told" 2>&1 && row "$(basename "$file" .dfl)" "$file"
        done
    else
        echo "skipped: there is no $reference"
        skipped=$((skipped + 1))
    fi
    while read -r module workload; do
        for chip in a100:a100_80g h100:h100 tpu_v4i:tpu_v4i; do
            printf 'dfl 1;\nimport std.workloads.%s as net;\nimport std.chips.%s as chip;\nmapping best for net.%s on chip.%s {
    ...;\n    minimize latency;\n}\n' "$module" "${chip%:*}" "$workload" "${chip#*:}" >"$work/net.dfl"
            "$dflc" check -A all "$work/net.dfl" >"$work/told" 2>&1 || continue
            row "$workload on ${chip%:*}" "$work/net.dfl"
        done
    done < <(awk -F'\t' '!/^#/ && NF > 6 && $4 !~ /\(/ && !seen[$4]++ { print $3, $4 }' tests/networks/networks.tsv)
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
