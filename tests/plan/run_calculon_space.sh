#!/usr/bin/env bash
# The spaces of Calculon's exhaustive searches with the knobs that both programs have: the plan that the search proves is the best
# of all plans that the check of its certificate, which has its own enumeration, evaluates with the same costs. In the largest
# spaces the check takes a sample of the plans. `all` takes every space, of systems with a second memory without it; `host` takes
# these with tensors in that memory, eight times as many plans, minutes each. Else the smallest space, or the one with the name
# that is given. Prints the step beside that of Calculon's optimum, which has other knobs (overlapped exchanges) and other costs;
# the reference is read in place (REFERENCE=directory).
. tests/harness/script.sh
file=tests/plan/calculon_space.dfl
best=${REFERENCE:-../shared/reference}/calculon/search_best.jsonl
asked=${1:-gpt_22b_8}

# space MAPPING ID [EFFORT]: the space of a mapping, its name in the reference, and how many plans the check takes, if not all
space() {
    case $asked in
    all) [[ $1 == *_host ]] && return ;;
    host) [[ $1 == *_host ]] || return ;;
    *) [ "$1" = "$asked" ] || return ;;
    esac
    "$DFLC" map --only "$1" --certificate "$work/$1.json" "$file" > "$work/map" 2> "$work/err"
    "$DFLC" check --certificate "$work/$1.json" --effort "${3:-1000000}" "$file" > "$work/out" 2>&1
    grep -q "^certificate $([ -n "${3:-}" ] && [ "$3" -lt 1000000 ] && echo "not refuted" || echo holds): " "$work/out" &&
        grep -q '"optimal": true' "$work/$1.json"
    judge $? "$1: the optimum of the enumeration" "$work/out"
    theirs=$([ -f "$best" ] && grep -F "\"search_id\": \"$2\"" "$best" | sed 's/.*"best_total_time_s": \([0-9.]*\),.*/\1/')
    echo "$1: $(sed -n 's/.*"value": \([0-9.]*\).*/\1/p' "$work/$1.json" | head -n 1) s, Calculon's optimum ${theirs:-not read} s;" \
        "$(sed -n 's/^certificate \(holds\|not refuted\): //p' "$work/out")"
}

space gpt_22b_8 megatron-22B.own-a100-nomem2.float16.8.4
space gpt_5b_8 megatron-5B.own-a100-nomem2.float16.8.32
space gpt_22b_64 megatron-22B.own-a100-nomem2.float16.64.64
space gpt_175b_64 gpt3-175B.own-a100-nomem2.float16.64.64
space gpt_175b_128 gpt3-175B.own-a100-nomem2.float16.128.128
space gpt_175b_512 gpt3-175B.own-a100-nomem2.float16.512.512 3000
space gpt_1t_512 megatron-1T.own-a100-nomem2.float16.512.512 3000
space gpt_175b_256 gpt3-175B.a100_80g.float16.256.256 10000000
space gpt_530b_280 turing-530B.a100_80g.float16.280.280 10000000
space gpt_1t_4096 megatron-1T.a100_80g.float16.4096.3072 3000
space gpt_175b_h512 gpt3-175B.h100_80g_nvl8.float8.512.512 3000
space gpt_280b_1024 gopher-280B.own-h100-20g-off.float16.1024.1024 3000
space palm_1024 palm-540B.h100_80g_nvl8.float16.1024.2048 3000
space gpt_175b_64_host gpt3-175B.a100_80g.float16.64.64 3000
space gpt_175b_256_host gpt3-175B.a100_80g.float16.256.256 3000
space gpt_530b_280_host turing-530B.a100_80g.float16.280.280 3000
space gpt_1t_4096_host megatron-1T.a100_80g.float16.4096.3072 3000
# gpt_530b_5128_host has no plan: gradients stay on the chips, 8 of which share 530 G parameters (`dflc map` says so)
space gpt_175b_512_host gpt3-175B.h100_80g_nvl8.float8.512.512 3000
space gpt_280b_1024_host gopher-280B.own-h100-20g-off.float16.1024.1024 3000
space palm_1024_host palm-540B.h100_80g_nvl8.float16.1024.2048 3000
finish
