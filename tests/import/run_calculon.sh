#!/usr/bin/env bash
# Imports and evaluates runs of Calculon: first the triple of files in tests/import/calculon, then runs of the reference, which
# stands beside the checkout and is read in place (REFERENCE=directory). `run_calculon.sh all` takes every run, else one in twelve and
# one whose stages lack layers that the second memory serves (own-0235).
# Of a run that Calculon evaluates, the memory of its first stage must be within 1 % of Calculon's by part: weights, gradients,
# moments, activations with the working values of a layer, and their sum. Without overlapping exchanges and without a second memory,
# so must the time of the step. With them each run is printed with its errors: that of the time, and that of the time with the seconds
# that the import states for the assumptions of Calculon that the text does not share, which must be within 1 %. What Calculon refuses
# must be refused.
# tests/import/calculon/expected.csv states the number of runs of each kind among all.
. tests/harness/script.sh
own=tests/import/calculon
reference=${REFERENCE:-../shared/reference}/calculon
part=${1:-sample}

"$DFLC" import calculon "$own/app.json" "$own/exe.json" "$own/sys.json" -o "$work/own.dfl" 2>"$work/err"
judge $? "import of $own" "$work/err"
"$DFLC" fmt --check "$work/own.dfl" >"$work/log" 2>&1
judge $? "layout of $own" "$work/log"
"$DFLC" eval --format csv "$work/own.dfl" >"$work/log" 2>&1
judge $? "evaluation of $own" "$work/log"
"$DFLC" eval "$work/own.dfl" >"$work/log" 2>&1
! grep -qE 'FLOP/s a chip|^  utilization' "$work/log"
judge $? "no peak of the unit whose products take no time: $own" "$work/log"
# seconds MAPPING.dfl: the latency of its step
seconds() { "$DFLC" eval --format json "$1" | awk -f "$own/figures.awk" | cut -d' ' -f1; }

for kind in ring pipe; do
    sed "s/\"tensor_par_overlap\": *\"none\"/\"tensor_par_overlap\": \"$kind\"/" "$own/exe.json" >"$work/$kind.json"
    "$DFLC" import calculon "$own/app.json" "$work/$kind.json" "$own/sys.json" -o "$work/$kind.dfl" >"$work/log" 2>&1 &&
        grep -q "$kind.json:[0-9]*:.*its step is [0-9.e-]* s \(shorter\|longer\)" "$work/log"
    judge $? "a run with overlap says how many seconds differ: $kind" "$work/log"
    "$DFLC" fmt --check "$work/$kind.dfl" >"$work/log" 2>&1 && grep -q 'temporal x/3;' "$work/$kind.dfl"
    judge $? "products run in tiles: $kind" "$work/log"
done
# tiles hide exchanges; with pipe one of four is exposed
echo "$(seconds "$work/ring.dfl") $(seconds "$work/pipe.dfl") $(seconds "$work/own.dfl")" >"$work/log"
awk '{ exit !($1 < $2 && $2 < $3) }' "$work/log"
judge $? "ring takes less than pipe, and pipe less than no overlap" "$work/log"
sed 's/"weight_offload": *false/"weight_offload": true/; s/"pipeline_par": *[0-9]*/"pipeline_par": 0/' "$own/exe.json" >"$work/outer.json"
! "$DFLC" import calculon "$own/app.json" "$work/outer.json" "$own/sys.json" >"$work/log" 2>&1 &&
    grep -q 'outer.json:[0-9]*:.*E0705' "$work/log"
judge $? "a wrong number is refused at its place" "$work/log"
if [ ! -f "$reference/runs_own.jsonl" ]; then
    skip "the runs of Calculon are not in $reference"
    finish
    exit
fi

# members FILE PREFIX: each member of the object in FILE as PREFIX.NAME.json
members() {
    awk -v prefix="$2" '/^ "/ { split($0, part, "\""); file = prefix "." part[2] ".json"; print "{" >file; next }
        /^ }/ { print "}" >file; close(file); next } file != "" && !/^[{}]/ { print >file }' "$1"
}

# number NAME: the number of this name in the line of a run
number() {
    local rest=${line#*\"$1\": }
    [ "$rest" = "$line" ] && echo - || echo "${rest%%[,\}]*}"
}

# outer KEY NAME: the number of this name, with what the second memory takes over if the option KEY is on
outer() {
    case $exe in *"\"$1\": true"*) number "$2_with_offload" ;; *) number "$2" ;; esac
}

members "$reference/models.json" "$work/app"
members "$reference/systems.json" "$work/sys"
while IFS= read -r line; do
    id=${line#*\"id\": \"}; id=${id%%\"*}
    model=${line#*\"model\": \"}; model=${model%%\"*}
    system=${line#*\"system\": \"}; system=${system%%\"*}
    exe=${line#*\"exe\": }; exe=${exe%%\}*}
    printf '%s}\n' "$exe" >"$work/exe.json"
    case $exe in
        *'_overlap": "ring"'* | *'_overlap": "pipe"'* | *'_overlap": true'* | *'offload": true'*) kind=hidden ;;
        *) kind=plain ;;
    esac
    case $line in *'"status": "zerodiv"'*) kind=divided ;; esac # Calculon divides by 0
    status=refused got= quirks=
    if "$DFLC" import calculon "$work/app.$model.json" "$work/exe.json" "$work/sys.$system.json" -o "$work/run.dfl" 2>"$work/err"; then
        quirks=$(sed -n 's/.*: warning\[E[0-9]*\]: \(.*\): its step is \([^ ]*\) s \(longer\|shorter\)$/\2 \3 \1/p' "$work/err" | tr '\n' ';')
        "$DFLC" eval --format json "$work/run.dfl" >"$work/json" 2>"$work/err"
        got=$(awk -f "$own/figures.awk" "$work/json")
        status=${got:+evaluated}
        [ -n "$got" ] || "$DFLC" eval --format csv "$work/run.dfl" >"$work/csv" 2>"$work/err"
    elif ! grep -q '\.json:[0-9]*:[0-9]*: error\[E07' "$work/err"; then
        status=crashed
    fi
    echo "$id $kind $(number total_time) $(outer weight_offload weight_space) $(outer optimizer_offload weight_grad_space)" \
        "$(outer optimizer_offload optimizer_space) $(outer activations_offload act_space)" \
        "$(outer activations_offload act_checkpoint_size) $(number act_grad_space)" \
        "${status:-$(sed -n 's/.*error\[\(E[0-9]*\)\].*/\1/p' "$work/err" | head -n 1)} $got" \
        "$([ "$status" = evaluated ] && echo "$quirks")" \
        "$([ "$status" = refused ] && sed -n 's/.*: error\[E[0-9]*\]: //p' "$work/err" | head -n 1)"
done < <(cat "$reference/runs_shipped.jsonl" "$reference/runs_own.jsonl" |
    if [ "$part" = all ]; then cat; else awk 'NR % 12 == 1 || /"id": "own-0235"/'; fi) >"$work/runs"

awk -f "$own/compare.awk" "$work/runs" >"$work/table"
grep -v ',[0-9]*$' "$work/table" | sort -k1,1 -s
awk -F, -v all="$([ "$part" = all ] && echo 1)" 'NR == FNR { want[$1] = $2; next }
    /,[0-9]+$/ && ($1 in want) && (all || want[$1] == 0) && $2 != want[$1] { print $1 " is " $2 ", and not " want[$1]; bad = 1 }
    END { exit bad }' "$own/expected.csv" "$work/table" >"$work/log"
judge $? "runs as Calculon computes them" "$work/log"
finish
