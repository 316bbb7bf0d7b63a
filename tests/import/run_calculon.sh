#!/usr/bin/env bash
# Imports and evaluates runs of Calculon: first the triple of files in tests/import/calculon, then every run of the reference, which
# stands beside the checkout and is read in place (REFERENCE=directory). Of the runs that Calculon evaluates without overlapping
# exchanges and without a second memory, counts those whose step is within 1 % of Calculon's, those that differ more, and those that
# are refused. A run with overlap or offload must be refused at its place in the files, and so must one that Calculon refuses
# without them. tests/import/calculon/expected.csv states the counts: `met` may only rise, the others may only fall.
. tests/harness/script.sh
own=tests/import/calculon
reference=${REFERENCE:-../shared/reference}/calculon

"$DFLC" import calculon "$own/app.json" "$own/exe.json" "$own/sys.json" -o "$work/own.dfl" 2>"$work/err"
judge $? "import of $own" "$work/err"
"$DFLC" fmt --check "$work/own.dfl" >"$work/log" 2>&1
judge $? "layout of $own" "$work/log"
"$DFLC" eval --format csv "$work/own.dfl" >"$work/log" 2>&1
judge $? "evaluation of $own" "$work/log"
sed 's/"ring"/"none"/; s/"tensor_par_overlap": *"none"/"tensor_par_overlap": "ring"/' "$own/exe.json" >"$work/ring.json"
! "$DFLC" import calculon "$own/app.json" "$work/ring.json" "$own/sys.json" >"$work/log" 2>&1 && grep -q 'ring.json:[0-9]*:.*E0713' "$work/log"
judge $? "a run with overlap is refused at its place" "$work/log"
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

members "$reference/models.json" "$work/app"
members "$reference/systems.json" "$work/sys"
while IFS= read -r line; do
    id=${line#*\"id\": \"}; id=${id%%\"*}
    model=${line#*\"model\": \"}; model=${model%%\"*}
    system=${line#*\"system\": \"}; system=${system%%\"*}
    exe=${line#*\"exe\": }; exe=${exe%%\}*}
    seconds=-
    case $line in *'"total_time": '*) seconds=${line#*\"total_time\": }; seconds=${seconds%%,*} ;; esac
    printf '%s}\n' "$exe" >"$work/exe.json"
    case $exe in
        *'_overlap": "ring"'* | *'_overlap": "pipe"'* | *'_overlap": true'* | *'offload": true'*) kind=hidden ;;
        *) kind=plain ;;
    esac
    dfl= status=refused
    if "$DFLC" import calculon "$work/app.$model.json" "$work/exe.json" "$work/sys.$system.json" -o "$work/run.dfl" 2>"$work/err"; then
        status=$("$DFLC" eval --format csv "$work/run.dfl" 2>"$work/err" | awk -F, '$1 == "run" && $4 == "complete" { print $5 }')
    elif ! grep -q '\.json:[0-9]*:[0-9]*: error\[E07' "$work/err"; then
        status=crashed
    fi
    echo "$id $kind $seconds ${status:-$(sed -n 's/.*error\[\(E[0-9]*\)\].*/\1/p' "$work/err" | head -n 1)}" \
        "$(sed -n 's/.*: error\[E[0-9]*\]: //p' "$work/err" | head -n 1)"
done < <(cat "$reference/runs_shipped.jsonl" "$reference/runs_own.jsonl") >"$work/runs"

awk '$4 == "crashed" || $4 == "" { crashed++ }
    $2 == "hidden" { hidden++; hidden_refused += $4 == "refused"; next }
    $3 == "-" { infeasible++; caught += $4 == "refused" || $4 ~ /^E/; if ($4 != "refused" && $4 !~ /^E/) print "accepted:", $1; next }
    { plain++ }
    $4 == "refused" { refused++; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, ""); why[$0]++; next }
    $4 ~ /^E/ { full++; print "evaluation refused:", $1, $4; next }
    { e = ($4 / $3 - 1) * 100; a = e < 0 ? -e : e; sum += a; worst = a > worst ? a : worst
      if (a <= 1) met++; else { differs++; printf "differs: %-40s %+6.1f %%\n", $1, e } }
    END { for (w in why) print "refused:", why[w], w
        printf "with overlap or offload: %d runs, %d refused\n", hidden, hidden_refused
        printf "infeasible: %d runs, %d refused\n", infeasible, caught
        printf "plain: %d runs, %d within 1 %%, %d differ, %d refused by the import, %d by the evaluation\n", plain, met, differs,
               refused, full
        printf "mean absolute error of those evaluated %.1f %%, largest %.1f %%; the bar is 1 %% for all\n", sum / (met + differs), worst
        printf "met,%d\ndiffers,%d\nrefused,%d\nevaluation,%d\nhidden_imported,%d\naccepted,%d\ncrashed,%d\n", met, differs, refused,
               full, hidden - hidden_refused, infeasible - caught, crashed }' "$work/runs" >"$work/table"
grep -v ',[0-9]*$' "$work/table" | sort -k1,1 -s
awk -F, 'NR == FNR { want[$1] = $2; next } /,[0-9]+$/ && ($1 in want) && ($1 == "met" ? $2 < want[$1] : $2 > want[$1]) {
    print $1 " is " $2 ", and " want[$1] " was reached"; bad = 1 } END { exit bad }' "$own/expected.csv" "$work/table" >"$work/log"
judge $? "fewer runs as Calculon computes them" "$work/log"
finish
