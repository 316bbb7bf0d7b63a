#!/usr/bin/env bash
# `dflc diff` on each mapping of each example and the next one: two pairs of a file by their names, all pairs at once as two
# reports, of which the second has the names of the first moved by one mapping. The rounded parts add up to the totals of both sides and of the
# difference, digit by digit, in text and in JSON. The counts are those of the reports. A mapping differs neither from itself
# nor from its report. The JSON of each report and of all its pairs is what the schemas say.
. tests/harness/script.sh

result() { # result NAME FINDINGS
    if [ -z "$2" ]; then pass; else fail "$1" "$2"; fi
}

# Digits without the point are integers below 2^53.
check_json() { # check_json FILE PAIRS
    awk -v pairs="$2" '
        function digits(text) { gsub(/[^-0-9]/, "", text); return text + 0 }
        /^      "(joules|seconds)": / { ledger = $1; parts = 0; split("", sum); ledgers++ }
        /"parts": \[/ { parts = 1 }
        ledger && /^ *"(from|to|difference)": / {
            if (parts) sum[$1] += digits($2); else total[$1] = digits($2)
            if ($1 == "\"from\":") from = $2
            if ($1 == "\"to\":") to = $2
            if ($1 == "\"difference\":" && digits($2) != digits(to) - digits(from)) print ledger " row does not add up: " $2
        }
        ledger && /^ *"cause": null/ && digits(from) != digits(to) { print ledger " difference without a cause" }
        ledger && /^      }/ {
            for (k in total) if (sum[k] != total[k]) print ledger " " k " parts " sum[k] " total " total[k]
            ledger = ""
        }
        /"mappings_compared": true/ { compared++ }
        END { if (ledgers != 2 * pairs || compared != pairs) print ledgers + 0 " ledgers, " compared + 0 " pairs of " pairs }' "$1"
}

# The last three columns of figures of each table of parts, down to the line `total`.
check_text() { # check_text FILE
    awk '
        function digits(text) { gsub(/[^-0-9]/, "", text); return text + 0 }
        /^(energy by cause|energy by part|time by einsum), / { table = $0; split("", sum); next }
        /^$/ { table = "" }
        table {
            n = 0
            for (i = 1; i <= NF; i++) if ($i ~ /^[-+]?[0-9]+\.[0-9]+$/) value[++n] = digits($i)
            if (n != 3) { print table ": no three figures: " $0; next }
            if (value[2] - value[1] != value[3]) print table ": row does not add up: " $0
            for (i = 1; i <= 3; i++) if ($1 == "total") { if (sum[i] != value[i]) print table ": column " i ": " sum[i] }
                                     else sum[i] += value[i]
        }' "$1"
}

check_schema() { # check_schema FILE
    "${OUT:-build/release}"/tests/unit/report/test_schema "$1" >"$work/schema" 2>&1 || tail -n 20 "$work/schema"
}

compare() { # compare FILE A B
    local status want=1
    "$DFLC" diff "$1:$2" "$1:$3" >"$work/text"
    status=$?
    grep -q '^  no difference$' "$work/text" && want=0
    [ "$status" -eq "$want" ] || echo "status $status, not $want"
    check_text "$work/text"
}

# Each mapping of a report gets the name of the one before it, and the first one keeps its own.
move_names() {
    awk '/^      "name": "/ { line = $0; if (before != "") $0 = before; before = line } { print }'
}

compare_all() { # compare_all REPORT MAPPINGS
    move_names <"$1" >"$work/moved.json"
    "$DFLC" diff "$1" "$work/moved.json" >"$work/text"
    cat "$work/text" >>"$work/all"
    "$DFLC" diff --details "$1" "$work/moved.json" >"$work/details"
    "$DFLC" diff --format json "$1" "$work/moved.json" >"$work/json"
    check_text "$work/text"
    check_text "$work/details"
    check_json "$work/json" $(($2 - 1))
    check_schema "$work/json"
}

for file in examples/*.dfl; do
    "$DFLC" eval --format json "$file" -o "$work/report.json" || continue
    mapfile -t names < <(sed -n 's/^      "name": "\(.*\)",$/\1/p' "$work/report.json")
    result "$file: JSON" "$(check_schema "$work/report.json")"
    findings=$("$DFLC" diff "$file" "$work/report.json" 2>&1) || findings="differs from its report: $findings"
    result "$file and its report" "$(printf '%s\n' "$findings" | grep -v -e '^  no difference$' -e ' -> ' -e '^$')"
    [ "${#names[@]}" -lt 2 ] || result "$file: all ${#names[@]} mappings" "$(compare_all "$work/report.json" "${#names[@]}" 2>&1)"
    for ((i = 1; i < ${#names[@]} && i <= 2; i++)); do
        result "$file: ${names[i - 1]} and ${names[i]}" "$(compare "$file" "${names[i - 1]}" "${names[i]}" 2>&1)"
    done
done
[ "$(grep -c '^energy by cause' "$work/all")" -gt 500 ] || fail "too few examples"
finish
