# Counts the runs of run_calculon.sh by what became of them. Fields: id, kind, then of Calculon the time and the memory of weights,
# gradients, optimizer, activations, checkpoints, gradients of activations, then the status and the six figures of figures.awk.
function off(got, want) { return want == 0 ? (got == 0 ? 0 : 100) : (got / want - 1) * 100 }
function rest_of(text,    i) { for (i = 0; i < 10; i++) sub(/^[^ ]* +/, "", text); return text }
# The seconds of the quirks of a run, and what explains most.
function quirks_of(text,    part, n, i, at) {
    at = match(text, /[0-9.e+-]+ (longer|shorter) /)
    quirks = 0; reason = ""; most_quirk = 0
    if (!at) return
    n = split(substr(text, at), part, ";")
    for (i = 1; i <= n; i++) {
        if (split(part[i], word, " ") < 3) continue
        quirks += word[2] == "longer" ? word[1] : -word[1]
        if (word[1] > most_quirk) { most_quirk = word[1]; reason = part[i] }
    }
}
function print_hidden(    e, left, m, i, most) {
    if ($10 != "evaluated") { print "not evaluated:", $0; return }
    quirks_of($0)
    e = off($11, $3); left = off($11 + quirks, $3)
    m[1] = off($12, $4); m[2] = off($13, $5); m[3] = off($14, $6); m[4] = off($15, $7 + $8 + $9); m[5] = off($16, $4 + $5 + $6 + $7 + $8 + $9)
    most = 0
    for (i = 1; i <= 5; i++) most = abs(m[i]) > abs(most) ? m[i] : most
    hidden_met += abs(e) <= 1; hidden_explained += abs(left) <= 1; hidden_memory += abs(most) <= 1
    hidden_worst = abs(left) > hidden_worst ? abs(left) : hidden_worst
    printf "%-40s time %+7.2f %%, with the seconds stated %+7.2f %%, memory %+7.2f %%", $1, e, left, most
    if (abs(e) > 1) printf "; most: %s", reason
    printf "\n"
}
function abs(x) { return x < 0 ? -x : x }
$10 == "crashed" || $10 == "" { crashed++ }
$2 == "divided" { print "Calculon divides by 0:", $1, $10; next }
$3 == "-" { infeasible++; caught += $10 == "refused" || $10 ~ /^E/; if ($10 == "evaluated") print "accepted:", $1; next }
$2 == "hidden" { hidden++; hidden_refused += $10 != "evaluated"; print_hidden(); next }
{ plain++ }
$10 == "refused" { refused++; $0 = rest_of($0); why[$0]++; next }
$10 ~ /^E/ { full++; print "evaluation refused:", $1, $10; next }
{
    e = off($11, $3); sum += abs(e); worst = abs(e) > worst ? abs(e) : worst
    if (abs(e) > 1) { differs++; printf "time differs: %-40s %+6.1f %%\n", $1, e } else met++
    m[1] = off($12, $4); m[2] = off($13, $5); m[3] = off($14, $6); m[4] = off($15, $7 + $8 + $9); m[5] = off($16, $4 + $5 + $6 + $7 + $8 + $9)
    most = 0
    for (i = 1; i <= 5; i++) most = abs(m[i]) > most ? abs(m[i]) : most
    worst_memory = most > worst_memory ? most : worst_memory
    if (most > 1) { memory_differs++; printf "memory differs: %-38s %+.1f %+.1f %+.1f %+.1f %+.1f %%\n", $1, m[1], m[2], m[3], m[4], m[5] }
    else memory_met++
}
END {
    for (w in why) print "refused:", why[w], w
    printf "with overlap or offload: %d runs, %d not evaluated; time within 1 %%: %d, with the seconds stated: %d (largest %.2f %%); memory by part within 1 %%: %d\n",
        hidden, hidden_refused, hidden_met, hidden_explained, hidden_worst, hidden_memory
    printf "infeasible: %d runs, %d refused\n", infeasible, caught
    printf "plain: %d runs; time within 1 %%: %d, memory by part within 1 %%: %d; %d refused by the import, %d by the evaluation\n",
        plain, met, memory_met, refused, full
    printf "time: mean absolute error %.3f %%, largest %.2f %%; memory: largest %.2f %%; the bar is 1 %% for all\n",
        sum / (met + differs), worst, worst_memory
    printf "plain,%d\nmet,%d\nmemory_met,%d\ndiffers,%d\nmemory_differs,%d\nrefused,%d\nevaluation,%d\nhidden,%d\nhidden_refused,%d\nhidden_met,%d\nhidden_explained,%d\nunexplained,%d\nhidden_memory,%d\naccepted,%d\ncrashed,%d\n",
        plain, met, memory_met, differs, memory_differs, refused, full, hidden, hidden_refused, hidden_met, hidden_explained, hidden - hidden_explained, hidden_memory, infeasible - caught, crashed
}
