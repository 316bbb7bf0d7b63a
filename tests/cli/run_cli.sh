#!/usr/bin/env bash
# Tests of the command line: the files tests/cli/*.cli. A test is
#
#   == name of the test
#   $ dflc check examples/gemm.dfl     runs in a shell; several `$` lines are one script
#   < line                             one line of standard input
#   needs script -qec true x           the test is skipped, and counted as skipped, if this command fails
#   status 0                           exit status (0 when not stated)
#   stdout has TEXT                    `stdout`, `stderr`: has, lacks, starts TEXT; matches REGEX (extended, a line)
#   stderr empty                       no output; the default for stderr in tests of status 0 without a line on stderr
#   stdout is                          the output is exactly the following lines, which begin with `| `
#   | line
#
# Lines with `#` are comments. Each test runs in a new directory with links to examples, stdlib and tests; `dflc` is the
# program under test. CLI_FILTER=text runs only tests whose name contains it, ROW=map only those of map.cli.
. tests/harness/script.sh
tests=${CLI_TESTS:-tests/cli}
root=$PWD
mkdir "$work/bin"
case $DFLC in
/*) ln -s "$DFLC" "$work/bin/dflc" ;;
*) ln -s "$root/$DFLC" "$work/bin/dflc" ;;
esac
export PATH=$work/bin:$PATH

begin() {
    name=$1 script='' needs='' input='' want_status=0 checks=() exact='' exact_name='' said_stderr=0
    in_test=1
}

# check_one STREAM VERB TEXT: prints what is wrong
check_one() {
    local stream=$1 verb=$2 text=$3 file=$work/$1
    case $verb in
    has) grep -qF -- "$text" "$file" || echo "$stream lacks: $text" ;;
    lacks) ! grep -qF -- "$text" "$file" || echo "$stream has: $text" ;;
    starts) [ "$(head -c ${#text} "$file")" = "$text" ] || echo "$stream does not start with: $text" ;;
    matches) grep -qE -- "$text" "$file" || echo "$stream has no line that matches: $text" ;;
    empty) [ ! -s "$file" ] || { echo "$stream is not empty:"; head -n 20 "$file"; } ;;
    is) diff -u --label want --label "$stream" - "$file" <<<"${text%$'\n'}" ;;
    *) echo "unknown check: $stream $verb" ;;
    esac
}

end_test() {
    local dir status findings check stream verb text
    [ "${in_test:-0}" -eq 1 ] || return 0
    in_test=0
    [ -z "${CLI_FILTER:-}" ] || case $name in *"$CLI_FILTER"*) ;; *) return 0 ;; esac
    if [ -n "$needs" ] && ! (cd "$work" && bash -c "$needs") >/dev/null 2>&1 </dev/null; then
        skip "$file: $name: needs $needs"
        return 0
    fi
    [ -z "$exact_name" ] || checks+=("$exact_name is $exact")
    dir=$(mktemp -d "$work/test.XXXXXX")
    ln -s "$root/examples" "$root/stdlib" "$root/tests" "$dir/" 2>/dev/null
    printf '%s' "$input" >"$work/stdin"
    (cd "$dir" && timeout -k 5 60 bash -c "$script" <"$work/stdin" >"$work/stdout" 2>"$work/stderr")
    status=$?
    findings=$(
        [ -n "$script" ] || echo "no command"
        [ "$status" -eq "$want_status" ] || echo "status $status, not $want_status"
        [ "$want_status" -ne 0 ] || [ "$said_stderr" -eq 1 ] || check_one stderr empty ''
        for check in "${checks[@]+"${checks[@]}"}"; do
            stream=${check%% *} text=${check#* }
            verb=${text%% *}
            case $text in *' '*) text=${text#* } ;; *) text='' ;; esac
            check_one "$stream" "$verb" "$text"
        done
    )
    if [ -z "$findings" ]; then
        pass
    else
        fail "$file: $name" "$findings
--- stderr:
$(head -n 20 "$work/stderr")"
    fi
    rm -rf "$dir"
}

for file in "$tests"/${ROW:-*}.cli; do
    [ -f "$file" ] || continue
    in_test=0
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '== '*) end_test; begin "${line#== }" ;;
        '$ '*) script+=${line#\$ }$'\n' ;;
        '< '*) input+=${line#< }$'\n' ;;
        '<') input+=$'\n' ;;
        'needs '*) needs=${line#needs } ;;
        'status '*) want_status=${line#status } ;;
        'stdout is' | 'stderr is')
            exact_name=${line% is}
            [ "$exact_name" = stdout ] || said_stderr=1
            ;;
        '| '*) exact+=${line#| }$'\n' ;;
        '|') exact+=$'\n' ;;
        'stdout '*) checks+=("$line") ;;
        'stderr '*) checks+=("$line"); said_stderr=1 ;;
        '' | '#'*) ;;
        *) fail "$file: not understood: $line" ;;
        esac
    done <"$file"
    end_test
done
[ $((passed + failed + skipped)) -gt 0 ] || fail "no tests in $tests"
finish
