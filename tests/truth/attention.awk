# Writes two or three mappings for each line `row,batch,queries,heads,kv_heads,head_dim,past`. A causal prompt is counted as queries that
# each see the mean number of keys; its mapping r<row>_before is the kernel that runs before. Variables: sm (multiprocessors).
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
function least(a, b) { return a < b ? a : b }
function try(tm, splits,   tj, left, wm, wj, wg, wb, ts, tp) {
    tm = least(tm, m)
    tj = least(j, int(128 / tm) < 1 ? 1 : int(128 / tm))
    ts = ceil(p / splits)
    left = int(sm / ceil(p / ts))
    wm = least(ceil(m / tm), left); left = int(left / wm)
    wj = least(ceil(j / tj), left); left = int(left / wj)
    wg = least(g, left); left = int(left / wg)
    wb = least(b, left)
    printf "mapping r%d_%d = tiles(WB=%d,WG=%d,WJ=%d,WM=%d,TJ=%d,TM=%d,TS=%d,TP=%d) for attend(B=%d,G=%d,J=%d,M=%d,P=%d,E=%d) on chip;\n", $1,
        ++count, wb, wg, least(wj * tj, j), least(wm * tm, m), tj, tm, ts, least(ts, $6 > 128 ? 64 : 128), b, g, j, m, p, $6
}
BEGIN { FS = "," }
{
    b = $2; m = $3; g = $5; j = $4 / $5; p = $7 + ceil((m + 1) / 2); count = 0
    try(128, 1)
    if (m > 64) try(64, 1)
    blocks = b * g * j * ceil(m / 64) / (m == 1 ? j : 1)
    for (s = 2; s * blocks <= 2 * sm && p / s >= 128; s *= 2) try(128, s)
    if (m > 1 || $7 == 0) {
        n = b * m * ($4 + 2 * g) * $6
        tile = n < 8192 * sm ? ceil(n / sm) : 8192
        printf "mapping r%d_before = before(WAVE=%d,TILE=%d) for turn(N=%d) on chip;\n", $1, least(tile * sm, n), tile, n
    }
}
