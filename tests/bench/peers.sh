#!/usr/bin/env bash
# What a wider space is worth on the problems of peers: for each case of the reference folder whose objective is one figure, the
# best mapping in the space of the peer (`--tiles perfect`, `--spread` as by default), the best one with all tile sizes and any
# rank on any axis (`--tiles imperfect --spread any`), and the same with the overlap of the chips in place of perfect overlap, each
# after at most LIMIT= seconds (5 by default). Ratios are to the best mapping of AccelForge; for cases of Timeloop, whose energy
# follows other rules (tests/mapper/run_mapper.sh compares those), to the space of the peer. ONLY=WORD takes the cases that
# begin so.
set -u
DFLC=${DFLC:-build/dflc}
export LC_ALL=C NO_COLOR=1 DFL_STDLIB=${DFL_STDLIB:-stdlib}
reference=${REFERENCE:-../shared/reference}
limit=${LIMIT:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -d "$reference/ffm" ]; then
    echo "peers: skipped, there is no $reference/ffm"
    exit 0
fi

. tests/bench/key.sh

# best OPTION...: the value of $work/case.dfl and its gap in per cent
best() {
    "$DFLC" eval -q -A all --time-limit "$limit" --format json "$@" "$work/case.dfl" >"$work/out" 2>/dev/null
    awk -v v="$(key value "$work/out")" -v g="$(key gap "$work/out")" 'BEGIN {
        if (v == "") print "- -"; else printf "%.9g %s\n", v, g == "" ? "-" : sprintf("%.3g", 100 * g) }'
}

# row NAME PEER: of $work/case.dfl; an empty PEER is the space of the peer
row() {
    local perfect wide default
    perfect=$(best --tiles perfect) wide=$(best --tiles imperfect --spread any)
    sed -i 's/ *option overlap = perfect;//' "$work/case.dfl"
    default=$(best --tiles imperfect --spread any)
    awk -v n="$1" -v peer="$2" -v a="$perfect" -v b="$wide" -v c="$default" 'BEGIN {
        split(a, x, " "); split(b, y, " "); split(c, z, " ")
        base = peer != "" ? peer : x[1]
        printf "peers %-42s %12s", n, peer == "" ? "-" : sprintf("%.6g", peer)
        printf " its space %s (gap %s %%) wide %s (gap %s %%)", ratio(x[1]), x[2], ratio(y[1]), y[2]
        printf " default overlap %s (gap %s %%)\n", ratio(z[1]), z[2] }
        function ratio(v) { return v == "-" || base + 0 == 0 ? "none" : sprintf("%.4f", v / base) }' | tee -a "$work/rows"
}

for file in "$reference"/ffm/mapper/*.expected.json "$reference"/ffm/upstream/*.expected.json; do
    stem=${file%.expected.json} name=${file##*/} name=${name%.expected.json}
    case $name in "${ONLY:-}"*) ;; *) continue ;; esac
    objective=$(sed -n 's/^ *"objective": "\(.*\)",*$/\1/p' "$file" | head -n 1)
    figure=$objective
    grep -q '"accelforge_mapping_is_executable": false' "$file" && figure=executable_energy
    case $objective in
    edp) minimize='energy * latency' ;;
    energy | latency) minimize=$objective ;;
    *) continue ;;
    esac
    "$DFLC" import accelforge "$stem.yaml" -o "$work/case.dfl" 2>/dev/null || continue
    sed -i "s/minimize energy \* latency;/minimize $minimize;/" "$work/case.dfl"
    row "$name" "$(key "$figure" "$file")"
done
for file in "$reference"/timeloop/mapper/*/input.yaml; do
    name=${file%/input.yaml} name=timeloop_${name##*/}
    case $name in "${ONLY:-}"*) ;; *) continue ;; esac
    "$DFLC" import timeloop "$file" -o "$work/case.dfl" 2>/dev/null || continue
    row "$name" ""
done
[ ! -f "$work/rows" ] || awk '
    { for (i = 1; i < NF; i++) if ($i == "space") s = $(i + 1); else if ($i == "wide") w = $(i + 1)
      n++
      higher += s == "none" || s > 1.000001
      lower += w != "none" && w < 0.9999
      worse += w == "none" || w > s * 1.000001
      wide[n] = w == "none" ? 1e300 : w }
    END {
        for (i = 2; i <= n; i++)
            for (k = i; k > 1 && wide[k - 1] > wide[k]; k--) { t = wide[k]; wide[k] = wide[k - 1]; wide[k - 1] = t }
        printf "peers: %d cases; higher than the peer in its space: %d; below the peer in the wide one: %d, ", n, higher, lower
        printf "quartiles %.4g, %.4g, %.4g; ", wide[int((n + 3) / 4)], wide[int((n + 1) / 2)], wide[int((3 * n + 3) / 4)]
        printf "worse in the wide space than in that of the peer: %d\n", worse }' "$work/rows"
