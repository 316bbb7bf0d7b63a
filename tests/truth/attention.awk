# Writes one to a few mappings for each line `row,batch,queries,heads,kv_heads,head_dim,past`. Prompts have more than one query, or no past;
# all other lines are single positions. A prompt's mapping r<row>_before is the kernel that runs before.
# Variables: sm (multiprocessors), phase (`prompt` or `token`: the lines to write).
#   prompts   One block is 128 or 64 queries of one head. A causal block is counted as queries that each see the mean number of keys. If all
#             blocks run at the same time, the last block ends last: then each query sees all keys.
#   tokens    One block is a part of the keys of one key head, with all queries that share the head.
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
function least(a, b) { return a < b ? a : b }
function try(tm, splits,   tj, left, wm, wj, wg, wb, ts, p) {
    tm = least(tm, m)
    tj = prompt ? 1 : least(j, 128)
    p = prompt && b * g * j * ceil(m / tm) <= sm ? past + m : past + ceil((m + 1) / 2)
    ts = ceil(p / splits)
    left = int(sm / ceil(p / ts))
    wm = least(ceil(m / tm), left); left = int(left / wm)
    wj = least(ceil(j / tj), left); left = int(left / wj)
    wg = least(g, left); left = int(left / wg)
    wb = least(b, left)
    printf "mapping r%d_%d = tiles(WB=%d,WG=%d,WJ=%d,WM=%d,TJ=%d,TM=%d,TS=%d,TP=%d) for attend(B=%d,G=%d,J=%d,M=%d,P=%d,E=%d) on chip;\n", $1,
        ++count, wb, wg, least(wj * tj, j), least(wm * tm, m), tj, tm, ts, least(ts, 64), b, g, j, m, p, $6
}
BEGIN { FS = "," }
{
    b = $2; m = $3; g = $5; j = $4 / $5; past = $7; count = 0
    prompt = m > 1 || past == 0
    if (phase != (prompt ? "prompt" : "token")) next
    try(128, 1)
    if (m > 64) try(64, 1)
    for (s = 2; !prompt && s * b * g <= 2 * sm && past / s >= 128; s *= 2) try(1, s)
    if (prompt) {
        n = b * m * ($4 + 2 * g) * $6
        tile = n < 8192 * sm ? ceil(n / sm) : 8192
        printf "mapping r%d_before = before(WAVE=%d,TILE=%d) for turn(N=%d) on chip;\n", $1, least(tile * sm, n), tile, n
    }
}
