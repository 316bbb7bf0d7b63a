# Shares of the peak of matrix products by shape, from measured times: mean of the shares of the measured products, each weighted by
# its distance in the logarithms of the extents. The shares of m x n and n x m products are the same. Reads calculon/op_measured.csv and
# silicon/gemm.csv; the extents of a product are at least 32 and multiples of 32, and it has at least 2e8 MACs.
#   awk -F, -f gemm_shapes.awk op_measured.csv gemm.csv > table.csv
function octaves(x) { return log(x) / log(2) }
function add_one(m, n, k, share, weight) {
    rows++
    lm[rows] = octaves(m); ln[rows] = octaves(n); lk[rows] = octaves(k)
    shares[rows] = share; weights[rows] = weight
}
function add(m, n, k, us, batch, weight) {
    if (m % 32 || n % 32 || k % 32 || m * n * k * batch < 2e8)
        return
    add_one(m, n, k, 2 * batch * m * n * k / us / 312e6, weight)
    if (m != n)
        add_one(n, m, k, 2 * batch * m * n * k / us / 312e6, weight)
}
function value_of(text, name,    i, parts, pair, count) {
    count = split(text, parts, ";")
    for (i = 1; i <= count; i++) {
        split(parts[i], pair, "=")
        if (pair[1] == name)
            return pair[2] + 0
    }
    return 0
}
FILENAME ~ /op_measured/ && $2 == "A100-SXM-80GB" && $1 == "gemm" {
    add(value_of($5, "M"), value_of($5, "N"), value_of($5, "K"), $6, 1, 1)
}
# attention of 8 sequences of 2048 positions, 24 heads of 128
FILENAME ~ /op_measured/ && $1 == "gpt3_layer.QxK" && /prefill/ { add(2048, 2048, 128, $6, 192, 8) }
FILENAME ~ /op_measured/ && $1 == "gpt3_layer.AxV" && /prefill/ { add(2048, 128, 2048, $6, 192, 8) }
FILENAME ~ /gemm.csv/ && $1 == "a100_sxm" && $2 == "bfloat16" { add($3, $4, $5, $7, 1, 1) }
END {
    print "m,n,k,efficiency"
    n_grid = split("64 128 256 512 1024 2048 4096 8192 16384 32768 65536", grid, " ")
    for (a = 1; a <= n_grid; a++)
        for (b = 1; b <= n_grid; b++)
            for (c = 1; c <= n_grid; c++) {
                sum = whole = 0
                for (i = 1; i <= rows; i++) {
                    far = (lm[i] - octaves(grid[a])) ^ 2 + (ln[i] - octaves(grid[b])) ^ 2 + (lk[i] - octaves(grid[c])) ^ 2
                    w = weights[i] * (exp(-far / 0.5) + 1e-6 / (1 + far * far))
                    sum += w * shares[i]
                    whole += w
                }
                printf "%d,%d,%d,%.3f\n", grid[a], grid[b], grid[c], sum / whole
            }
}
