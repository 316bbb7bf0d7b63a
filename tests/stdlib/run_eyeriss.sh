#!/bin/sh
# Eyeriss and AlexNet: the latency of examples/eyeriss_alexnet.dfl, compared with measurements of the chip
# (validation/eyeriss_alexnet.csv of the MAESTRO reference, beside the repository; MAESTRO=directory). No constant is
# fitted, so the bound of 4 % mean absolute error tests the model.
set -u
cd "$(dirname "$0")/../.." || exit 2
dflc=${DFLC:-build/dflc}
measured=${MAESTRO:-../shared/reference/maestro}/validation/eyeriss_alexnet.csv
if [ ! -f "$measured" ]; then
    echo "skipped: $measured is not here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
report=$("$dflc" eval --format csv examples/eyeriss_alexnet.dfl) || {
    echo "not ok - examples/eyeriss_alexnet.dfl does not evaluate"
    echo "0 passed, 1 failed"
    exit 1
}
printf '%s\n' "$report" | LC_ALL=C awk -F, -v file="$measured" '
    BEGIN {
        getline line < file; n = split(line, name, ",")
        while ((getline line < file) > 0) {
            split(line, field, ",")
            for (i = 1; i <= n; i++) row[field[1], name[i]] = field[i]
            order[++layers] = field[1]
        }
    }
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { key = toupper($(col["name"])); seconds[key] = $(col["seconds"]); mac[key] = $(col["mac"]) }
    END {
        for (i = 1; i <= layers; i++) {
            l = order[i]; ms = row[l, "measured_processing_latency_ms"]
            if (!(l in seconds)) { printf "# %s is missing\n", l; bad++; continue }
            e = (seconds[l] * 1000 / ms - 1) * 100; sum += e < 0 ? -e : e
            printf "# %s %.2f ms, measured %.1f, %+.2f %%, MAESTRO with a fitted bandwidth %+.2f %%\n", l, seconds[l] * 1000, ms, e, row[l, "maestro_error_pct"]
            if (mac[l] != row[l, "macs"]) { printf "# %s has %s MACs, the table says %s\n", l, mac[l], row[l, "macs"]; bad++ }
        }
        mean = sum / layers
        if (mean > 4) bad++
        printf "%sok - mean absolute error %.2f %%, at most 4 %%\n", (bad ? "not " : ""), mean
        printf "%d passed, %d failed\n", !bad, !!bad
        exit !!bad
    }'
