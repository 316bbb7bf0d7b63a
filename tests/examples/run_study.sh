#!/usr/bin/env bash
# MAESTRO's study (examples/maestro_study.dfl): prints the best dataflow of each layer and the sums of each network, and checks
# the operations. Then prints the columns of MAESTRO beside those of its imported mapping files, for the networks of the study
# of which the reference has reports (beside the checkout; REFERENCE= names another directory). "equal" counts the layers in
# which a column of MAESTRO has the exact value; only there is its counting sound. MAESTRO's demand on the network is the mean of
# the larger direction over the time of the operations; ours is both directions over the time without a limit of the network.
. tests/harness/script.sh
reference=${REFERENCE:-../shared/reference}/maestro

columns=latency,energy,mac,intensity,l1.reuse,l2.buffer_required,bandwidth_required
if "$DFLC" eval -q -A all --format csv --columns $columns examples/maestro_study.dfl >"$work/study.csv" 2>"$work/log" &&
    tr -d '\r' <"$work/study.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    {
        net = $1; sub(/_.*/, "", net); layer = $1; sub(/^[^_]*_/, "", layer)
        match(layer, /_(kc|c|x|yx|yr)_p$/); flow = substr(layer, RSTART + 1); layer = net " " substr(layer, 1, RSTART - 1)
        if (!(net in seen)) { seen[net] = 1; nets[++n_nets] = net }
        if (!(layer in mac)) { mac[layer] = $col["mac"]; layers[++n_layers] = layer; total[net] += mac[layer]; of[layer] = net; n_of[net]++ }
        if (mac[layer] != $col["mac"]) { print "WRONG " $1 ": other operations"; bad = 1 }
        s = $col["latency"]; j = $col["energy"]
        seconds[net, flow] += s; joules[net, flow] += j
        if (!(layer in fast) || s < least_s[layer]) { fast[layer] = flow; least_s[layer] = s }
        if (!(layer in lean) || j < least_j[layer]) { lean[layer] = flow; least_j[layer] = j }
        if (!(layer in best) || s * j < least_sj[layer]) { best[layer] = flow; least_sj[layer] = s * j }
        room = $col["l2.buffer_required"] / 8; if (room > l2[net, flow]) l2[net, flow] = room
        for (name in col) if (name ~ /outer.bandwidth_required$/) {
            rate = $col[name] / 8e9; if (rate > noc[net, flow]) noc[net, flow] = rate
        }
        reuse[net, flow] += log($col["l1.F.reuse"]); reuse_i[net, flow] += log($col["l1.I.reuse"])
    }
    END {
        split("kc_p c_p x_p yx_p yr_p", flows, " ")
        print "layer                          fastest             least energy        least energy * latency"
        for (i = 1; i <= n_layers; i++) {
            l = layers[i]; split(l, part, " ")
            printf "%-30s %-4s %9.4g us   %-4s %9.4g uJ   %-4s\n", l, fast[l], least_s[l] * 1e6, lean[l], least_j[l] * 1e6, best[l]
            won[of[l], "s", fast[l]]++; won[of[l], "j", lean[l]]++; won[of[l], "sj", best[l]]++
        }
        for (k = 1; k <= n_nets; k++) {
            net = nets[k]
            printf "\n%s: %d convolutions, %.0f MACs\n", net, n_of[net], total[net]
            print "dataflow  latency ms  energy mJ  largest l2  reuse I  reuse F  NoC GB/s   best layers: time, energy, both"
            for (f = 1; f <= 5; f++) {
                d = flows[f]
                printf "%-8s  %10.4g  %9.4g  %8.1f k  %7.4g  %7.4g  %8.4g   %d %d %d\n", d, seconds[net, d] * 1e3, joules[net, d] * 1e3,
                    l2[net, d] / 1024, exp(reuse_i[net, d] / n_of[net]), exp(reuse[net, d] / n_of[net]), noc[net, d],
                    won[net, "s", d], won[net, "j", d], won[net, "sj", d]
            }
        }
        want["vgg16"] = 15346630656; want["resnet50"] = 4087136256; want["mobilenetv2"] = 299494272
        for (net in want) if (total[net] != want[net]) { printf "WRONG %s: %.0f MACs, want %.0f\n", net, total[net], want[net]; bad = 1 }
        exit bad
    }'; then pass; else fail "the study" "$(cat "$work/log")"; fi

if [ ! -d "$reference/out" ]; then
    skip "no reference of MAESTRO in $reference"
else
    echo
    echo "the imported files on accelerator_1, beside the report of MAESTRO (sum, largest layer, or mean over the layers):"
    columns=latency.cycles,energy,mac,l2.input.serve,l2.filter.serve,l2.output.update,l2.peak,noc0.bandwidth_required
    for name in vgg16_ckp_ws vgg16_yxp_os Resnet50_kcp_ws Resnet50_nlr MobileNetV2_kcp_ws MobileNetV2_yxp_os; do
        if "$DFLC" import maestro --hw "$reference/hw/accelerator_1.m" "$reference/mapping/$name.m" -o "$work/$name.dfl" 2>"$work/log" &&
            "$DFLC" eval -q -A all --format csv "$work/$name.dfl" --columns "$columns" >"$work/$name.csv" 2>"$work/log" &&
            awk -F, -v name="$name" '
            # columns: of our report, of the CSV of MAESTRO (energy: the last one of its extra file), factor of ours, what of
            # the layers is printed
            BEGIN {
                n_rows = split("cycles:2:4:1:sum;energy in MACs:3:0:1e12:sum;MACs:4:22:1:sum;input from l2:5:29:1:sum;" \
                    "filter from l2:6:34:1:sum;output to l2:7:40:1:sum;largest l2:8:15:0.125:max;" \
                    "reuse of input:4/5:31:1:mean;reuse of filter:4/6:36:1:mean;NoC, B/cycle:9:11:1.25e-10:max", row, ";")
                for (i = 1; i <= n_rows; i++) {
                    split(row[i], f, ":")
                    title[i] = f[1]; divisor[i] = f[2] ~ /\// ? substr(f[2], 3) : 0
                    ours[i] = f[2] + 0; theirs[i] = f[3]; factor[i] = f[4]; what[i] = f[5]
                }
            }
            { sub(/\r/, "") }
            FNR == 1 { file++; next }
            file == 1 { n++; for (i = 1; i <= n_rows; i++) own[n, i] = $(ours[i]) * factor[i] / (divisor[i] ? $(divisor[i]) : 1) }
            file == 2 { m++; for (i = 1; i <= n_rows; i++) if (theirs[i]) peer[m, i] = $(theirs[i]) }
            file == 3 { k++; for (i = 1; i <= n_rows; i++) if (!theirs[i]) peer[k, i] = $NF }
            END {
                if (n != m || n != k) { print "WRONG " name ": " n " layers, MAESTRO has " m; exit 1 }
                printf "%s, %d layers\n", name, n
                for (i = 1; i <= n_rows; i++) {
                    a = b = same = 0
                    for (l = 1; l <= n; l++) {
                        x = own[l, i]; y = peer[l, i] + 0 == peer[l, i] ? peer[l, i] : 0
                        if (what[i] == "max") { if (x > a) a = x; if (y > b) b = y } else { a += x; b += y }
                        same += x + 0 == y + 0 || sprintf("%.6g", x) + 0 == y + 0
                    }
                    if (what[i] == "mean") { a /= n; b /= n }
                    printf "    %-15s %11.5g  MAESTRO %11.5g, equal in %d\n", title[i], a, b, same
                }
            }' "$work/$name.csv" "$reference/out/accelerator_1/$name.csv" "$reference/out/accelerator_1/$name.extra.csv"; then
            pass
        else
            fail "$name" "$(cat "$work/log")"
        fi
    done
fi
finish
