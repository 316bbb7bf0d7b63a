# The values of the plans in a table of `dflc map --format csv`, of which no other plan is at least as good in both columns and
# better in one: one line for each pair of values. With `least`, only the least value of the first column, and of the second one
# among those with this value; with `all`, all values. Variables: first, second (expressions: seconds, joules, product, peak.hbm),
# least, all.
function value(name) {
    return name == "product" ? $column["seconds"] * $column["joules"] : $column[name] + 0
}
{ sub(/\r$/, "") }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$column["seconds"] != "" { n++; a[n] = value(first); b[n] = value(second) }
END {
    for (i = 1; i <= n; i++) {
        is_best = 1
        for (j = 1; j <= n && is_best && !all; j++)
            if (least ? a[j] < a[i] || (a[j] == a[i] && b[j] < b[i]) : a[j] <= a[i] && b[j] <= b[i] && (a[j] < a[i] || b[j] < b[i]))
                is_best = 0
        if (is_best && !((a[i], b[i]) in seen)) {
            seen[a[i], b[i]] = 1
            printf "%.12g %.12g\n", a[i], b[i]
        }
    }
}
