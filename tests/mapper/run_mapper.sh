#!/usr/bin/env bash
# Results of the search for imported specifications, compared with the optima of AccelForge's mapper and the best mappings of
# Timeloop's mapper; see optimum.h. The data is read from the reference folder beside the checkout (`REFERENCE=` names
# another); without it the test is skipped. BIG=1 also runs the language models on Eyeriss and Simba, up to 120 s of processor
# time each.
set -u
export LC_ALL=C NO_COLOR=1
reference=${REFERENCE:-../shared/reference}
program=${OUT:-build/release}/tests/mapper/optimum
big=${BIG:-0}
if [ ! -d "$reference/ffm/mapper" ]; then
    echo "skipped: there is no $reference/ffm/mapper"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

count() { # count STATUS NAME
    case $1 in
    0) passed=$((passed + 1)) ;;
    3) skipped=$((skipped + 1)) ;;
    1) failed=$((failed + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAILED: $2 ended with status $1"
        ;;
    esac
}

row() { # row ARGUMENT...: a line of the table
    (ulimit -t 120; "$program" "$@") >"$work/out" 2>&1
    status=$?
    cat "$work/out"
    [ "$status" -ne 3 ] || sed 's/^\([^ ]*\) .*skipped: */skipped: \1: /' "$work/out" >>"$work/skipped"
    count "$status" "${*: -1}"
}

head_of_table() {
    printf '%-40s %-7s %13s %13s %9s %-8s %9s %8s %8s\n' "$1" objective "the peer" ours ratio search evaluated "CPU s" "its CPU s"
}

head_of_table AccelForge
: >"$work/skipped"
large=0
for file in "$reference"/ffm/mapper/*.expected.json "$reference"/ffm/upstream/*.expected.json; do
    [ -f "$file" ] || continue
    stem=${file%.expected.json}
    case $stem in
    *eyeriss_gpt3* | *simba_gpt3*)
        if [ "$big" != 1 ]; then
            large=$((large + 1))
            continue
        fi
        row "$stem"
        ;;
    *gpt3* | *gpt67* | *gpt175* | *qwen3* | *llama4* | *mixtral*) row "$stem" ;;
    *) row -p "$stem" ;;
    esac
done
head_of_table "Timeloop, energy by its rules"
for directory in "$reference"/timeloop/mapper/*/; do
    [ -d "$directory" ] && row -t "${directory%/}"
done

# An optimum that is off must be noticed, on either side.
mkdir "$work/spoilt"
for change in 's/"edp": 11636677/"edp": 11636577/' 's/"edp": 11636677/"edp": 11636777/'; do
    cp "$reference/ffm/mapper/p02_chain2_EDP.yaml" "$work/spoilt/"
    sed "$change" "$reference/ffm/mapper/p02_chain2_EDP.expected.json" >"$work/spoilt/p02_chain2_EDP.expected.json"
    if "$program" "$work/spoilt/p02_chain2_EDP" | grep -q 'FAILED: \(higher\|lower, in the peer.s own space\)$'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $change is not noticed"
    fi
done

cat "$work/skipped"
if [ "$large" -gt 0 ]; then
    echo "skipped: $large language models on Eyeriss and Simba, which take more than a few seconds each: run with BIG=1"
    skipped=$((skipped + large))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
