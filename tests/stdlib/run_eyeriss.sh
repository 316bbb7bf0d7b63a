#!/usr/bin/env bash
# Eyeriss: the latencies of examples/eyeriss_alexnet.dfl and eyeriss_vgg16.dfl, compared with measurements of the chip. Nothing
# is fitted.
#
# AlexNet (validation/eyeriss_alexnet.csv of the MAESTRO reference, beside the repository; MAESTRO=directory) has the published
# parameters of each layer, so the bound of 4 % mean absolute error tests the model. VGG-16 (tests/stdlib/eyeriss_vgg16.csv,
# from JSSC 2017, table VI) has the parameters that the search chooses, so no layer may be slower than the chip by more than 2 %.
. tests/harness/script.sh

# compare FILE MEASURED SLOWER [MOST]: prints the error of each layer. Fails if a layer is slower than the chip by more than
# SLOWER %, or if the mean absolute error is above MOST %.
compare() {
    report=$("$DFLC" eval -q --format csv "$1") || {
        fail "$1 does not evaluate"
        return
    }
    if printf '%s\n' "$report" | LC_ALL=C awk -F, -v file="$2" -v slower="$3" -v most="${4:-}" -v name="$1" '
        BEGIN {
            getline line < file; n = split(line, title, ",")
            while ((getline line < file) > 0) {
                split(line, field, ",")
                field[1] = tolower(field[1])
                for (i = 1; i <= n; i++) row[field[1], title[i]] = field[i]
                order[++layers] = field[1]
            }
        }
        NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        { seconds[$(col["name"])] = $(col["seconds"]); mac[$(col["name"])] = $(col["mac"]) }
        END {
            for (i = 1; i <= layers; i++) {
                l = order[i]; ms = row[l, "measured_processing_latency_ms"]
                if (!(l in seconds)) { printf "# %s is missing\n", l; bad++; continue }
                e = (seconds[l] * 1000 / ms - 1) * 100; sum += e < 0 ? -e : e; all += seconds[l] * 1000; chip += ms
                if (e > slower) bad++
                printf "# %s %.2f ms, measured %.1f, %+.2f %%", l, seconds[l] * 1000, ms, e
                if ((l, "maestro_error_pct") in row) printf ", MAESTRO with a fitted bandwidth %+.2f %%", row[l, "maestro_error_pct"]
                printf "\n"
                if ((l, "macs") in row && mac[l] != row[l, "macs"]) { printf "# %s has %s MACs, the table says %s\n", l, mac[l], row[l, "macs"]; bad++ }
            }
            mean = sum / layers
            if (most != "" && mean > most) bad++
            printf "# all layers %.1f ms, measured %.1f, %+.2f %%\n", all, chip, (all / chip - 1) * 100
            printf "%sok - %s: mean absolute error %.2f %%%s; a layer may be %s %% slower than the chip\n", (bad ? "not " : ""), name, mean, (most == "" ? "" : ", at most " most " %"), slower
            exit !!bad
        }'; then pass; else fail "$1"; fi
}

alexnet=${MAESTRO:-../shared/reference/maestro}/validation/eyeriss_alexnet.csv
if [ -f "$alexnet" ]; then
    compare examples/eyeriss_alexnet.dfl "$alexnet" 15 4
else
    skip "$alexnet is not here"
fi
compare examples/eyeriss_vgg16.dfl tests/stdlib/eyeriss_vgg16.csv 2
finish
