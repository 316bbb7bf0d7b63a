# The latencies of the mappings of a CSV report, in seconds, in the order of the report.
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$column["seconds"] != "" && $1 != "sum" && !($1 in seen) { seen[$1] = 1; print $column["seconds"] + 0 }
