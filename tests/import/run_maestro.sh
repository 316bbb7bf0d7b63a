#!/usr/bin/env bash
# Runs `dflc import`, `check`, `fmt` and `eval` on MAESTRO's mapping files. Compares the traffic of the shared buffer
# and the operations of every layer with the exact columns of the reference, row by row in file order, and the probes
# with their true numbers. The reference is read in place, beside the checkout; without it the test is skipped.
# tests/import/differs.csv lists the rows that must differ, each with a text that the importer prints above the mapping.
# A row that differs without being listed fails, and so does a listed row that does not differ. Then compares the room of
# every tensor in the shared buffer with the requirement that the source reports; room.awk says where its counting is not
# sound, and room.csv how often.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}/maestro
data=$reference/mapping
probes=$reference/probes
hardware=$reference/hw/accelerator_1.m
[ -d "$data" ] || skip_all "no reference of MAESTRO in $data"
tr -d '\r' <"$reference/exact_traffic_accelerator_1.csv" | cut -d, -f1,2,4,6,8,10 >"$work/exact.csv"

# fail_log WHAT: with the first lines of the log
fail_log() { fail "$1" "$(head -n 20 "$work/log" 2>/dev/null)"; }
# want NAME COMMAND...: the command must succeed
want() {
    local name=$1
    shift
    if timeout 120 "$@" >"$work/log" 2>&1; then pass; else fail_log "$name"; return 1; fi
}

# quiet NAME COMMAND...: the command must succeed and draw no warning
quiet() {
    want "$@" || return 1
    if [ ! -s "$work/log" ]; then pass; else fail_log "warnings of $1"; fi
}

# import FILE HARDWARE NAME: NAME.dfl and NAME.csv, with every step a test; what the importer writes draws no warning
import() {
    want "import of $1" "$DFLC" import maestro --hw "$2" "$1" -o "$work/$3.dfl" || return 1
    quiet "check of $1" "$DFLC" check "$work/$3.dfl"
    want "layout of $1" "$DFLC" fmt --check "$work/$3.dfl"
    if ! timeout 120 "$DFLC" eval --format csv "$work/$3.dfl" >"$work/$3.csv" 2>"$work/log"; then
        fail_log "evaluation of $1"
        return 1
    fi
    if [ ! -s "$work/log" ]; then pass; else fail_log "warnings of the evaluation of $1"; fi
    tr -d '\r' <"$work/$3.csv" | summarise "$work/$3.dfl" >"$work/$3.rows"
}

# One line a mapping, in order: name, source name, workload, input, filter, output, operations, what the importer said.
summarise() {
    awk -F, -v dfl="$1" '
        BEGIN {
            while ((getline line < dfl) > 0) {
                if (line ~ /^\/\/ /) said = said substr(line, 4) "; "
                else if (line ~ /^\/\/\/ source_name: /) source = substr(line, 18)
                else if (line ~ /^mapping /) { split(line, w, " "); of[w[2]] = source; by[w[2]] = said; said = "" }
                else if (line == "") said = ""
            }
        }
        FNR > 1 && !($1 in seen) { seen[$1] = ++n; name[n] = $1; kind[n] = $2; mac[n] = $9 }
        $13 == "l2" && $17 == "input" { input[seen[$1]] = $18 }
        $13 == "l2" && $17 == "filter" { filter[seen[$1]] = $18 }
        $13 == "l2" && $17 == "output" { output[seen[$1]] = $22 }
        END {
            for (i = 1; i <= n; i++)
                printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name[i], of[name[i]], kind[i], input[i], filter[i], output[i],
                    mac[i], by[name[i]]
        }'
}

# Every row of exact.csv for one file; prints one line a layer: equal, listed, or what is wrong.
compare() {
    awk -F'\t' -v name="$1" -v exact="$work/exact.csv" -v differs=tests/import/differs.csv '
        # "idle N": the last columns leave elements idle, which drop their filter and fetch it again in each of N rows
        function is_idle(i, r) { return got[i, 2] == want[r, 2] * substr(needs[layer[i]], 6) }
        { n++; layer[n] = $1; source[n] = $2; kind[n] = $3; for (c = 1; c <= 4; c++) got[n, c] = $(c + 3); said[n] = $8 }
        END {
            while ((getline line < differs) > 0) {
                split(line, f, ",")
                if (f[1] == name) { columns[f[2]] = f[3]; needs[f[2]] = f[4] }
            }
            while ((getline line < exact) > 0) {
                split(line, f, ",")
                if (f[1] == name) { rows++; key[rows] = f[2]; for (c = 1; c <= 4; c++) want[rows, c] = f[c + 2] }
            }
            split("input filter output mac", title, " ")
            for (r = 1; r <= rows; r++) {
                # the source knows only some layers of some files; the layers of those have plain names
                for (i++; rows != n && i <= n && source[i] != key[r]; i++);
                if (i > n) { print "WRONG " name " " key[r] ": no such mapping"; continue }
                where = name " " layer[i]
                different = ""
                for (c = 1; c <= 4; c++)
                    if (got[i, c] "" != want[r, c] "") different = different (different ? "+" : "") title[c]
                listed = layer[i] in columns
                if (different == "" && !listed) print "equal " where
                else if (different == "") print "WRONG " where ": is equal, but listed in differs.csv"
                else if (!listed || columns[layer[i]] != different)
                    print "WRONG " where ": " different " differ: " got[i, 1] " " got[i, 2] " " got[i, 3] " " got[i, 4] ", want " want[r, 1] " " want[r, 2] " " want[r, 3] " " want[r, 4]
                else if (needs[layer[i]] == "ngconv" ? kind[i] !~ /^ngconv/ : needs[layer[i]] ~ /^idle / ? !is_idle(i, r) : \
                         index(said[i], needs[layer[i]]) == 0)
                    print "WRONG " where ": the importer does not say: " needs[layer[i]]
                else print "listed " where ": " different " (" needs[layer[i]] ")"
            }
        }' "$work/$1.rows"
}

: >"$work/layers"
for name in $(tail -n +2 "$work/exact.csv" | cut -d, -f1 | uniq); do
    import "$data/$name.m" "$hardware" "$name" && compare "$name" >>"$work/layers"
done
equal=$(grep -c '^equal ' "$work/layers")
listed=$(grep -c '^listed ' "$work/layers")
total=$(($(wc -l <"$work/exact.csv") - 1))
: >"$work/log"
if [ $((equal + listed)) -eq "$total" ]; then pass; else fail_log "traffic"; fi
grep '^WRONG ' "$work/layers" | head -n 40
echo "$equal of $total layers equal, $listed differ for the reason listed:"
sed -n 's/^listed \([^ ]*\) [^:]*: \(.*\)/\1: \2/p' "$work/layers" | sort | uniq -c

: >"$work/room"
for extra in "$reference"/out/accelerator_1/*.extra.csv; do
    name=$(basename "$extra" .extra.csv)
    [ -s "$work/$name.csv" ] || import "$data/$name.m" "$hardware" "$name"
    awk -v size0=256 -v name="$name" -f tests/import/room.awk "$work/$name.dfl" <(tr -d '\r' <"$work/$name.csv") \
        <(tr -d '\r' <"$extra") >>"$work/room"
done
echo "room in l2: $(grep -c '^equal ' "$work/room") equal, $(grep -c '^listed ' "$work/room") differ for a reason in room.awk"
grep '^WRONG ' "$work/room" | head -n 40
sed -n 's/^listed \([^ ]*\) [^ ]* \([^ ]*\): \(.*\)/\1,\2,\3/p' "$work/room" | sort | uniq -c | awk '{ print $2 "," $1 }' |
    diff <(tail -n +2 tests/import/room.csv) - >"$work/log"
if [ $? -eq 0 ] && ! grep -q '^WRONG ' "$work/room"; then pass; else fail_log "room in l2"; fi

# Files on which the source stops, and layers with several cluster levels.
for name in UNet_kcp_ws googlenet_ykp_os squeezenet1_0_ykp_os alexnet_rs_validation; do
    import "$data/$name.m" "$hardware" "$name"
done
: >"$work/log"
if [ "$(cut -f7 "$work/alexnet_rs_validation.rows" | tr '\n' ' ')" = \
    "421660800 895795200 598081536 448561152 299040768 " ]; then pass; else fail_log "operations of AlexNet"; fi
timeout 20 "$DFLC" import maestro "$data/vgg16_rs.m" >"$work/out" 2>"$work/log"
if [ $? -eq 1 ] && [ ! -s "$work/out" ] && grep -q 'vgg16_rs.m:13:' "$work/log" &&
    [ "$(grep -c 'error\[E0702\]' "$work/log")" -eq 1 ] && grep -q '12 further layers do so' "$work/log"; then
    pass
else
    fail_log "refusal of vgg16_rs.m"
fi

# probe FILE MAPPING COLUMN NUMBER, with the columns of `summarise`: 4 input, 5 filter, 6 output, 7 operations
probe() {
    local got
    [ -s "$work/$1.rows" ] || import "$probes/$1.m" "$probes/probe.hw.m" "$1" || return
    got=$(awk -F'\t' -v m="$2" -v c="$3" '$1 == m { print $c }' "$work/$1.rows")
    if [ "$got" = "$4" ]; then pass; else echo "got $got, want $4" >"$work/log"; fail_log "probe $1, $2"; fi
}
probe p01_reload_k2 L1 4 800
probe p01_reload_k2 L1 6 400
probe p02_os_egress L1 6 16
probe p03_spatial_edge L1 7 15
probe p04_temporal_edge L1 5 45
probe p05_multicast_w L1 5 6
probe p06_stride S1TILE1 7 144
probe p06_stride S2TILE4 7 144
probe p06_stride S2TILE4 6 16
probe p06_stride S1X1 6 16
probe p07_inherit A 7 5184
probe p07_inherit B 7 5184
probe p07_inherit B 4 576
probe p08_trconv A 4 576
probe p08_trconv B 4 576
probe p09_batch_second A 4 576
probe p09_batch_second B 4 1152
probe p10_halo A 4 240
probe p11_initedge_ofs A 7 64
probe p12_output_dims_stride A 7 2304
probe p12_output_dims_stride A2 7 2304
probe p13_batch_missing_second A 7 10368
probe p13_batch_missing_second B 7 5184
probe p14_dsconv_k A 7 1296
# p05: four elements are filled by each of the six reads. p09: only the second layer has a batch of 2, so 512 elements.
if grep -q '^L1,.*,l1,4,.*,filter,[0-9]*,0,0,24,' "$work/p05_multicast_w.csv"; then pass; else fail_log "p05, fills"; fi
if grep -q '^B,.*,dram,1,.*,input,[0-9]*,0,0,0,0,4096,' "$work/p09_batch_second.csv"; then pass; else fail_log "p09, batch"; fi
# Every level, not only the top one: the model against execution at small sizes.
for name in p01_reload_k2 p06_stride p10_halo p14_dsconv_k alexnet_rs_validation ncf_nmk mnasnet_rs ResNeXt50_nlr; do
    want "proof of $name" "$DFLC" prove "$work/$name.dfl"
done

finish
