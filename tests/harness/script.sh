# What the test scripts share. A script sources this file at the top of the tree, and ends with `finish`. Sets the environment,
# the program under test DFLC, the counters `passed`, `failed` and `skipped`, and `work`, a directory that is removed at the end.
# Without a program the script ends as skipped.
set -u
export LC_ALL=C NO_COLOR=1 DFL_STDLIB=${DFL_STDLIB:-stdlib}
DFLC=${DFLC:-build/dflc}
passed=0 failed=0 skipped=0

skip_all() { # skip_all REASON: ends the script
    echo "skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
[ -x "$DFLC" ] || skip_all "there is no $DFLC"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

pass() { passed=$((passed + 1)); }
skip() { # skip REASON
    skipped=$((skipped + 1))
    echo "skipped: $1"
}
fail() { # fail WHAT [FINDINGS]
    failed=$((failed + 1))
    echo "FAILED: $1"
    [ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/    /'
}
judge() { # judge STATUS WHAT [FILE]: passes if the status is 0, else fails with the first lines of the file
    if [ "$1" -eq 0 ]; then pass; else fail "$2" "$([ -z "${3:-}" ] || head -n 40 "$3")"; fi
}
finish() {
    printf '%d passed, %d failed' "$passed" "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    echo
    [ "$failed" -eq 0 ]
}
