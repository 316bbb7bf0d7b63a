# Writes one mapping for each line `row,op,rows,columns`. Variables: sm (multiprocessors).
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
BEGIN { FS = "," }
{
    n = $3 * $4
    if ($2 == "softmax" || $2 == "ln") {
        kind = $2 == "ln" ? "norm" : "softmax"
        printf "mapping r%d_1 = rows_%s(WAVE=%d,TILE=1) for %s(R=%d,C=%d) on chip;\n", $1, kind, sm < $3 ? sm : $3, kind, $3, $4
    } else {
        kind = ($2 == "add" || $2 == "mul" || $2 == "div" ? "two_" : "one_") $2
        tile = n < 1024 * sm ? ceil(n / sm) : 1024
        printf "mapping r%d_1 = each_%s(WAVE=%d,TILE=%d) for %s(N=%d) on chip;\n", $1, kind, tile * sm < n ? tile * sm : n, tile,
            kind, n
    }
}
