# The least latency of the mappings of a CSV report, in seconds; "none" if none has one.
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$column["seconds"] != "" && $1 != "sum" && (!found || $column["seconds"] + 0 < least + 0) { least = $column["seconds"]; found = 1 }
END { print found ? least : "none" }
