#!/usr/bin/env bash
# The spaces of Calculon's exhaustive searches with the knobs that both programs have: the plan that the search proves is the best
# of all plans that the check of its certificate, which has its own enumeration, evaluates with the same costs. `all` takes every
# space, else the smallest one. Prints the step beside that of Calculon's optimum, which has other knobs (overlapped exchanges)
# and other costs; the reference is read in place (REFERENCE=directory).
. tests/harness/script.sh
file=tests/plan/calculon_space.dfl
best=${REFERENCE:-../shared/reference}/calculon/search_best.jsonl

# space MAPPING ID: the space of a mapping, and its name in the reference
space() {
    "$DFLC" map --only "$1" --certificate "$work/$1.json" "$file" > "$work/map" 2> "$work/err"
    "$DFLC" check --certificate "$work/$1.json" "$file" > "$work/out" 2>&1
    grep -q '^certificate holds: ' "$work/out" && grep -q '"optimal": true' "$work/$1.json"
    judge $? "$1: the optimum of the enumeration" "$work/out"
    theirs=$([ -f "$best" ] && grep -F "\"search_id\": \"$2\"" "$best" | sed 's/.*"best_total_time_s": \([0-9.]*\),.*/\1/')
    echo "$1: $(sed -n 's/.*"value": \([0-9.]*\).*/\1/p' "$work/$1.json" | head -n 1) s, Calculon's optimum ${theirs:-not read} s;" \
        "$(sed -n 's/^certificate holds: //p' "$work/out")"
}

space gpt_22b_8 megatron-22B.own-a100-nomem2.float16.8.4
if [ "${1:-}" = all ]; then
    space gpt_5b_8 megatron-5B.own-a100-nomem2.float16.8.32
    space gpt_22b_64 megatron-22B.own-a100-nomem2.float16.64.64
    space gpt_175b_64 gpt3-175B.own-a100-nomem2.float16.64.64
fi
finish
