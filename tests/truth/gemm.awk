# Writes mappings of matrix products as a library of kernels would run them: for each product a few of the tiles, splits
# and orders below, those that a rough estimate finds fastest. Reads lines `row,m,n,k`; writes one DFL mapping per candidate,
# named r<row>_<candidate>.
#   variables: sm     multiprocessors          rate   FLOP/s of the chip         bandwidth   bytes/s of the memory
#              cache  bytes of the last cache  bytes  bytes of an element        keep        candidates per product
#              around bytes/s between the cache and all multiprocessors          into        the same into one of them
#   bytes_b    bytes of an element of B           warm   bytes of operands that the last cache keeps between two runs
#   tiles      tiles of the kernels of a library, `rows x columns`
# The measured products run one after another with five different B (the graph of the benchmark), the same A and the same Z. So A is read from the
# last cache if A, B and Z fit it together, and B if A, five B and Z fit it: then the name of the template ends with `_a` or `_ab`.
#   turn       1: a kernel before turns A into its data type, mapping r<row>_before
#   balanced   1: equal tiles for all multiprocessors in place of those of a library: the best that the chip can do
#   most   with `balanced`, elements of a tile of Z           chip   name of the system
function ceil(x) { return x == int(x) ? x : int(x) + 1 }
function least(a, b) { return a < b ? a : b }

# Arranges nm x nn tiles on the multiprocessors: wm x wn at a time, in the fewest waves.
function arrange(nm, nn,   key, a, b, w, best) {
    key = nm "," nn
    if (key in waves) return waves[key]
    best = -1
    for (b = 1; b <= least(nn, sm); b++) {
        a = least(nm, int(sm / b))
        w = ceil(nm / a) * ceil(nn / b)
        a = ceil(nm / ceil(nm / a))
        if (best < 0 || w < best || (w == best && a + ceil(nn / ceil(nn / b)) < wide[key] + high[key])) {
            best = w
            wide[key] = ceil(nn / ceil(nn / b))
            high[key] = a
        }
    }
    waves[key] = best
    return best
}

# The text of a mapping behind its name.
function mapping(template, work, more) { return template " for " work "(M=" m ",N=" n ",K=" k more ") on " chip ";" }

# Adds a candidate with its estimated time; only the `keep` fastest stay, in order.
function add(time, line,   i) {
    if (count >= keep && time >= times[count]) return
    if (count < keep) count++
    for (i = count; i > 1 && times[i - 1] > time; i--) {
        times[i] = times[i - 1]
        lines[i] = lines[i - 1]
    }
    times[i] = time
    lines[i] = line
}

function try_tile(tm, tn,   nm, nn, w, a, b, parts, ks, work, compute, port, shared, memory, read_a, read_b, key) {
    # a tile of at most twice the product, unless there is no smaller one
    if ((tm > 16 && tm >= 2 * m && !(tm == 64 && tn <= 32)) || (tn > 16 && tn >= 2 * n && !(tn == 64 && tm <= 32))) return
    nm = ceil(m / tm)
    nn = ceil(n / tn)
    for (parts = 1; parts <= 8; parts += parts < 6 ? 1 : 2) {
        if (parts > 1 && (int(k / parts) < 256 || nm * nn * parts > sm)) break
        w = parts > 1 ? 1 : arrange(nm, nn)
        key = nm "," nn
        a = parts > 1 ? nm : high[key]
        b = parts > 1 ? nn : wide[key]
        ks = ceil(k / parts)
        work = w * tm * tn * ks * 2
        compute = work / (rate / sm) / (0.8 * work / (work + rate / sm * 1e-6))
        port = w * (tm * bytes + tn * bytes_b) * ks / into
        shared = least(a * b * parts, sm) * w * (tm * bytes + tn * bytes_b) * ks / around + (parts > 1 ? 8 * parts * m * n / around : 0)
        # columns outside: A is read again for each of them
        read_a = a_warm ? 0 : m * k * bytes
        read_b = b_warm ? 0 : k * n * bytes_b
        memory = read_a * ceil(nn / b) + read_b * ceil(nm / a)
        order = read_a < read_b && w > 1 ? "rows" : "columns"
        memory = (memory + m * n * 2) / bandwidth / 0.8
        time = compute
        if (port > time) time = port
        if (shared > time) time = shared
        if (memory > time) time = memory
        time += w * 5e-7 + (parts > 1 ? 2e-6 : 0)
        tile = "TM=" least(tm, m) ",TN=" least(tn, n) ",KC=" least(ks, 64)
        if (parts > 1) {
            high_z = ceil(m / least(m, sm))
            wide_z = ceil(n / least(n, int(sm / least(m, sm))))
            add(time, mapping("parts" warm_name "(" tile ",ZM=" high_z ",ZN=" wide_z ")", "linear_parts", ",S=" parts ",P=" ceil(k / parts)))
        } else
            add(time, mapping(order warm_name "(" tile ",WM=" least(a * tm, m) ",WN=" least(b * tn, n) ")", "linear", ""))
    }
}

# The cuts of the product into equal tiles of at most `most` elements, one for each multiprocessor at a time.
function try_balanced(pm, pn,   wm, wn, w, i, tm, tn, compute, memory) {
    if (pm > m || pn > n) return
    wm = wn = 1
    while (1) {
        tm = ceil(ceil(m / wm) / pm)
        tn = ceil(ceil(n / wn) / pn)
        if (tm * tn <= most && (tm + tn) * least(k, 64) * bytes <= 131072) break
        if (tm >= tn) wm++; else wn++
    }
    compute = wm * wn * tm * tn * k * 2 / (rate / sm)
    memory = (bytes * m * k * wn + bytes_b * k * n * (wn > 1 || k * n * bytes_b < 0.5 * cache ? 1 : wm) + 2 * m * n) / bandwidth
    w = (tm + tn) * 64 * bytes * sm / around + wm * wn * tm * tn * sm * bytes / around
    add((compute > memory ? compute : memory) + w,
        mapping("balanced(WM=" ceil(m / wm) ",WN=" ceil(n / wn) ",PM=" pm ",PN=" pn ",KC=" least(k, 64) ")", "linear", ""))
}

BEGIN {
    FS = ","
    n_tiles = split(tiles, tile_of, " ")
}
{
    m = $2; n = $3; k = $4
    count = 0
    a_warm = m * k * bytes + k * n * bytes_b + 2 * m * n <= warm
    b_warm = m * k * bytes + 5 * k * n * bytes_b + 2 * m * n <= warm
    warm_name = b_warm ? "_ab" : a_warm ? "_a" : ""
    for (a = sm; balanced && a >= 1; a--)
        if (int(sm / a) * a >= 0.9 * sm || a >= m || int(sm / a) >= n) {
            try_balanced(least(a, m), least(int(sm / a), n))
            if (a < sm) try_balanced(least(int(sm / a), m), least(a, n))
        }
    for (t = 1; t <= n_tiles && !balanced; t++) {
        x = index(tile_of[t], "x")
        try_tile(substr(tile_of[t], 1, x - 1) + 0, substr(tile_of[t], x + 1) + 0)
    }
    for (c = 1; c <= count; c++)
        printf "mapping r%d_%s%d = %s\n", $1, balanced ? "b" : "", c, lines[c]
    # the kernel that turns A into the data type of the product
    if (turn) {
        tile = m * k < 8192 * sm ? ceil(m * k / sm) : 8192
        printf "mapping r%d_before = before%s(WAVE=%d,TILE=%d) for turn(N=%d) on %s;\n", $1, a_warm ? "_a" : "", least(tile * sm, m * k), tile, m * k, chip
    }
}
