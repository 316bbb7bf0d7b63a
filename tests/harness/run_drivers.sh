#!/usr/bin/env bash
# Tests of the test drivers, with a small program in place of dflc: each driver must pass right results and fail wrong ones.
set -u
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
here=$PWD

# expect NAME SUMMARY COMMAND...: the command ends with the summary line
expect() {
    local name=$1 want=$2 got
    shift 2
    got=$("$@" 2>&1)
    if [ "$(printf '%s\n' "$got" | tail -n 1)" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name: wanted '$want'"
        printf '%s\n' "$got" | sed 's/^/    /'
    fi
}

# ---- run_tests ----
printf '#!/bin/sh\necho 1..3; echo "ok 1 - a"; echo "not ok 2 - b"; echo "ok 3 # SKIP c"; exit 1\n' >"$work/mixed"
printf '#!/bin/sh\necho 1..2; echo "ok 1 - a"; kill -SEGV $$\n' >"$work/dies"
printf '#!/bin/sh\necho 1..1; echo "ok 1 - a"; exit 3\n' >"$work/liar"
printf '#!/bin/sh\nexit 0\n' >"$work/silent"
printf 'echo "4 passed, 0 failed, 1 skipped"\n' >"$work/run_good.sh"
printf 'echo "4 passed, 0 failed"; exit 1\n' >"$work/run_bad.sh"
printf 'echo nothing\n' >"$work/run_mute.sh"
printf '#!/bin/sh\nsleep 20\n' >"$work/hangs"
chmod +x "$work"/mixed "$work"/dies "$work"/liar "$work"/silent "$work"/hangs
run() { OUT=$work/out bash tests/harness/run_tests "$@"; }
expect "a program with a failure and a skip" "1 passed, 1 failed, 1 skipped" run "$work/mixed"
expect "a program that dies" "1 passed, 1 failed" run "$work/dies"
expect "a program that fails and names nothing" "1 passed, 1 failed" run "$work/liar"
expect "a program that says nothing" "0 passed, 1 failed" run "$work/silent"
expect "a program that hangs" "0 passed, 1 failed" env TEST_TIMEOUT=1 OUT="$work/out" bash tests/harness/run_tests "$work/hangs"
expect "a program that is missing" "0 passed, 1 failed" run "$work/none"
expect "a script" "4 passed, 0 failed, 1 skipped" run "$work/run_good.sh"
expect "a script that fails in silence" "4 passed, 1 failed" run "$work/run_bad.sh"
expect "a script without a summary" "0 passed, 1 failed" run "$work/run_mute.sh"
printf 'echo "${#ROW} passed, 0 failed"\n' >"$work/run_row.sh"
expect "a row of a script" "3 passed, 0 failed" run "$work/run_row.sh:abc"
expect "a script without a row" "0 passed, 0 failed" run "$work/run_row.sh"
expect "the sum" "9 passed, 3 failed, 2 skipped" run "$work/run_good.sh" "$work/run_bad.sh" "$work/mixed" "$work/silent"

skips() { OUT=$work/out bash tests/harness/run_tests "$@" | sed -n 2p | sed 's/^ *//'; }
printf 'echo "skipped: no moon"; echo "4 passed, 0 failed, 1 skipped"\n' >"$work/run_skips.sh"
expect "what is skipped is told" "no moon" skips "$work/run_skips.sh"

# ---- a dflc that reports every line with BAD as E0301, prints every line with OUT and the rest of lines with SAY ----
cat >"$work/dflc" <<'PROGRAM'
#!/bin/sh
[ "$1" = import ] && shift
shift
awk -v file="$1" '/BAD/ { print file ":" FNR ":1: error[E0301]: bad" > "/dev/stderr"; bad = 1 } /OUT/ { print "out" } sub(/^SAY /, "")
    END { exit bad }' "$1"
PROGRAM
chmod +x "$work/dflc"
export DFLC=$work/dflc

golden() { GOLDEN_ROOT=$work/golden bash tests/golden/run_golden.sh; }
fresh() { rm -rf "$work/golden"; mkdir -p "$work/golden/a"; printf '%s\n' "$1" >"$work/golden/a/x.dfl"; }
expect "golden: nothing at all" "0 passed, 1 failed" golden
fresh 'BAD'
expect "golden: no expected output" "0 passed, 1 failed" golden
DFL_BLESS=1 golden >/dev/null
expect "golden: blessed" "1 passed, 0 failed" golden
echo 'fine' >"$work/golden/a/x.dfl"
expect "golden: another output" "0 passed, 1 failed" golden
fresh 'SAY search optimal; 3 evaluated, 2 pruned; minimize energy'
DFL_BLESS=1 golden >/dev/null
echo 'SAY search optimal; 41 evaluated, 7 pruned; minimize energy' >"$work/golden/a/x.dfl"
expect "golden: other counters of a search" "1 passed, 0 failed" golden
echo 'SAY search optimal; 41 evaluated, 7 pruned; minimize latency' >"$work/golden/a/x.dfl"
expect "golden: another search" "0 passed, 1 failed" golden
fresh 'SAY     "pruned": 12,'
DFL_BLESS=1 golden >/dev/null
echo 'SAY     "pruned": 0,' >"$work/golden/a/x.dfl"
expect "golden: other counters in JSON" "1 passed, 0 failed" golden
fresh 'BAD //~ E0301'
expect "golden: a mark" "1 passed, 0 failed" golden
fresh 'BAD //~ E0302'
expect "golden: the wrong mark" "0 passed, 1 failed" golden
fresh "$(printf 'BAD\n//~^ E0301\n')"
expect "golden: a mark for the line above" "1 passed, 0 failed" golden
fresh 'fine //~ E0301'
expect "golden: a mark without a report" "0 passed, 1 failed" golden
fresh "$(printf 'BAD //~ E0301\nBAD\n')"
expect "golden: a report without a mark" "0 passed, 1 failed" golden
fresh 'OUT BAD //~ E0301'
expect "golden: output that nobody expects" "0 passed, 1 failed" golden
fresh "$(printf '// run: check\n// exit: 3\nBAD //~ E0301\n')"
expect "golden: another exit status" "0 passed, 1 failed" golden
fresh 'BAD //~ E0301'
mkdir "$work/golden/b"
expect "golden: an empty directory" "1 passed, 1 failed" golden
fresh 'BAD //~ E0301'
touch "$work/golden/a/y.stderr"
expect "golden: expected output without input" "1 passed, 1 failed" golden

mkdir -p "$work/pages"
printf 'DFL_DIAG(301, ERROR, X, "x")\n' >"$work/codes.def"
explain() { EXPLAIN_PAGES=$work/pages EXPLAIN_CODES=$work/codes.def bash tests/golden/run_explain.sh; }
page() { printf '# E0301: x\n```%s fails\n%s\n```\n```%s works\n%s\n```\n' "$1" "$2" "$1" "$3" >"$work/pages/E0301.md"; }
expect "explain: no page" "0 passed, 1 failed" explain
page dfl BAD fine
expect "explain: a page" "1 passed, 0 failed" explain
page dfl fine fine
expect "explain: an example that does not fail" "0 passed, 1 failed" explain
page dfl BAD BAD
expect "explain: an example that does not work" "0 passed, 1 failed" explain
page maestro BAD fine
expect "explain: another language" "1 passed, 0 failed" explain
printf '# E0301: x\n' >"$work/pages/E0301.md"
expect "explain: no example" "0 passed, 1 failed" explain
printf '# E0301: x\n```text\nz\n```\n' >"$work/pages/E0301.md"
expect "explain: text only" "1 passed, 0 failed" explain
cp "$work/pages/E0301.md" "$work/pages/E0302.md"
expect "explain: a page without a code" "1 passed, 1 failed" explain

mkdir -p "$work/cli"
cli() { CLI_TESTS=$work/cli bash tests/cli/run_cli.sh; }
expect "cli: no tests" "0 passed, 1 failed" cli
cat >"$work/cli/a.cli" <<'TESTS'
# passes
== has and lacks
$ echo BAD > x; echo OUT >> x
$ dflc check x
status 1
stdout is
| out
stderr has error[E0301]
stderr lacks E0302
stderr starts x:1
stderr matches ^x:1:1: [a-z]+
== standard input
$ cat
< one
<
< two
stdout is
| one
|
| two
== nothing
$ true
stdout empty
TESTS
expect "cli: what is right" "3 passed, 0 failed" cli
cat >"$work/cli/a.cli" <<'TESTS'
== wrong status
$ false
== unexpected words on standard error
$ echo x >&2
== other text
$ echo x
stdout is
| y
== lacks
$ echo x
stdout lacks x
== has
$ echo x
stdout has y
== starts
$ echo x
stdout starts y
== empty
$ echo x
stdout empty
== no command
stdout empty
== misspelt check
$ true
stdout hass y
nonsense
TESTS
expect "cli: what is wrong" "0 passed, 10 failed" cli

problems() { PROBLEMS=$work/problems OUT=$work bash tests/mapper/run_problems.sh; }
mkdir -p "$work/tests/mapper"
printf '#!/bin/sh\necho "$1" >&2; echo "$# passed, 0 failed"\n' >"$work/tests/mapper/counts"
printf '#!/bin/sh\necho "1 passed, 0 failed"; exit 1\n' >"$work/tests/mapper/fails"
chmod +x "$work/tests/mapper/counts" "$work/tests/mapper/fails"
printf '# name\none\tcounts\t-\t7\t1\tx\ntwo\tcounts\t-a -b\t7\t1\tx\n' >"$work/problems"
expect "problems: two rows" "6 passed, 0 failed" problems
expect "problems: one row" "4 passed, 0 failed" env ROW=two PROBLEMS="$work/problems" OUT="$work" bash tests/mapper/run_problems.sh
expect "problems: no such row" "0 passed, 1 failed" env ROW=three PROBLEMS="$work/problems" OUT="$work" bash tests/mapper/run_problems.sh
printf 'one\tfails\t-\t7\t1\tx\nnone\tmissing\t-\t7\t1\tx\n' >"$work/problems"
expect "problems: a program that fails in silence, and one that is missing" "1 passed, 2 failed" problems

cd "$here" || exit 2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
