# Writes files with random plans over chips of small workloads: DIR/N.dfl has `plans` mappings of one workload of 1 to 3 einsums. Their
# operands are read at offsets, in windows, in steps, at single positions, and under conditions; sizes are uneven, and homes lie in parts
# that no line divides. Variables: dir, files, plans, seed.

function draw(n) { return int(rand() * n) + 1 }
function pick(list,   n, at) { n = split(list, at, list ~ /;/ ? ";" : " "); return at[draw(n)] }
function chance(percent) { return rand() * 100 < percent }
function ceil(a, b) { return int((a + b - 1) / b) }

# A rank of `extent` values.
function rank_of(extent,   r) {
    for (r = 1; r <= n_ranks; r++)
        if (extent_of[r] == extent && !(r in used) && chance(70)) {
            used[r] = 1
            return r
        }
    extent_of[++n_ranks] = extent
    used[n_ranks] = 1
    return n_ranks
}

function name(r) { return substr("mnpqrstuvw", r, 1) }

# The einsum number `e`: reads tensor `from`, a vector of extents size[from, d], and makes tensor `e`.
function einsum(e,   from, d, r, x, text, index_, out, n_out, wide, cond, extra, sum, more, k) {
    split("", used)
    from = e == 1 || chance(20) ? 0 : e - 1
    text = out = cond = extra = more = ""; n_out = 0; sum = 0; k = 0
    for (d = 1; d <= dims[from]; d++) {
        x = size[from, d]
        wide = draw(100)
        if (wide <= 45 || (d > 1 && wide <= 55)) {            # bare
            r = rank_of(x); index_ = name(r)
        } else if (wide <= 65 && x >= 3) {                     # the first positions, or those behind an offset
            r = rank_of(x - draw(2)); index_ = name(r) (chance(50) ? " + 1" : chance(30) ? " - 1" : "")
        } else if (wide <= 75) {                               # a shift, beyond an end
            r = rank_of(x); index_ = name(r) pick(" + 1; - 1; + 2; - 2")
        } else if (wide <= 88) {                               # a window
            r = rank_of(chance(60) ? x : x > 3 ? x - 2 : x); more = name(rank_of(draw(2) + 1))
            index_ = name(r) " + " more pick(" - 1; - 2;")
            filter = filter (filter == "" ? "" : ", ") more
        } else if (wide <= 94 && x >= 4) {                     # steps
            r = rank_of(ceil(x, 2)); index_ = "2 * " name(r)
        } else {                                               # one position
            r = 0; index_ = int(rand() * x)
        }
        text = text (d > 1 ? ", " : "") index_
        if (r > 0 && (chance(65) || (d == dims[from] && n_out == 0))) {
            out = out (n_out++ > 0 ? ", " : "") name(r); size[e, n_out] = extent_of[r]; rank_at[n_out] = r
        } else if (r > 0)
            sum = 1
    }
    if (n_out == 0) {
        r = rank_of(draw(5) + 1); out = name(r); n_out = 1; size[e, 1] = extent_of[r]; extra = " * B" e "[" name(r) "]"; inputs = inputs ", B" e "[" name(r) "]"
    } else if (n_out == 1 && chance(30)) {
        r = rank_of(draw(5) + 1); out = out ", " name(r); n_out = 2; size[e, 2] = extent_of[r]; extra = " * B" e "[" name(r) "]"; inputs = inputs ", B" e "[" name(r) "]"
    }
    dims[e] = n_out
    if (filter != "") {
        extra = extra " * W" e "[" filter "]"; inputs = inputs ", W" e "[" filter "]"; sum = 1; filter = ""
    }
    if (!sum && chance(30) && extra == "") # the same tensor again
        extra = " + " tensor(from) "[" text "]"
    if (chance(conditions))
        cond = " where " condition()
    return "  " (e == n_einsums ? "output " : "") tensor(e) "[" out "] " (sum ? "+=" : "=") " " tensor(from) "[" text "]" (extra == "" ? " * 2" : extra) cond ";\n"
}

function tensor(e) { return e == 0 ? "A" : substr("STZ", e + 3 - n_einsums, 1) }

function condition(   r, s, all, i) {
    all = ""
    for (i in used)
        all = all " " i
    r = pick(all); s = pick(all)
    if (r == s || chance(40))
        return name(r) pick(" >= 1; <= 2; < " extent_of[r] - 1)
    return chance(20) ? name(r) " + " name(s) " <= " draw(6) + 1 : name(r) pick(" <= ; >= ; < ") name(s) (chance(30) ? " + 1" : "")
}

function workload(   e, text, d) {
    n_ranks = 0; inputs = ""; n_einsums = draw(3)
    conditions = chance(40) ? 40 : 0
    dims[0] = draw(3)
    text = ""
    for (d = 1; d <= dims[0]; d++) {
        size[0, d] = draw(10) + 2
        text = text (d > 1 ? ", " : "") "a" d ": " size[0, d]
    }
    body = ""
    for (e = 1; e <= n_einsums; e++)
        body = body einsum(e)
    ranks = ""
    for (e = 1; e <= n_ranks; e++)
        ranks = ranks (e > 1 ? ", " : "") name(e) " = " extent_of[e]
    return "workload layers : bf16 {\n  rank " ranks ";\n  input A[" text "]" inputs ";\n" body "}\n"
}

function some(   e, out) {
    for (e = 1; e <= n_einsums; e++)
        if (chance(50))
            out = out (out == "" ? "" : ", ") tensor(e)
    return out == "" ? "" : " for " out
}

# Whether a rank can be divided further so that every chip has some of it; then divides it.
function fits(r, parts,   part) {
    part = ceil(left[r], parts)
    if (left[r] < parts || part * (parts - 1) >= left[r] || last[r] - part * (parts - 1) <= 0)
        return 0
    last[r] -= part * (parts - 1)
    left[r] = part
    return 1
}

# Whether each chip has some of a home that `parts` divide further, whichever rank of about this extent lines divide.
function splits(r, parts,   q, cuts) {
    cuts = parts
    for (q = 1; q <= n_ranks; q++)
        if (extent_of[q] >= extent_of[r] - 2 && extent_of[q] <= extent_of[r] + 2)
            cuts *= ceil(extent_of[q], left[q])
    return cuts == parts ? ceil(extent_of[r], parts) * (parts - 1) < extent_of[r] : extent_of[r] % cuts == 0
}

function plan(p,   text, n, i, r, parts, axis, t, d, rd) {
    text = "mapping p" p " for layers on pod {\n"
    n = draw(3)
    for (i = 1; i <= n_ranks; i++)
        left[i] = last[i] = extent_of[i]
    for (i = 1; i <= n; i++) {
        r = draw(n_ranks); parts = pick("2 2 2 3 4"); axis = pick("node gpu gpu")
        if (fits(r, parts))
            text = text "  spatial " name(r) "/" parts " on " axis some() ";\n"
    }
    text = text "  keep activations in hbm;\n"
    if (chance(50)) {
        t = draw(n_einsums + 1) - 1
        d = draw(dims[t])
        parts = pick("2 2 3 4"); axis = pick("node gpu")
        for (r = 1; r <= n_ranks; r++)
            if (extent_of[r] == size[t, d] && splits(r, parts)) {
                text = text "  keep " tensor(t) " in hbm split " name(r) "/" parts " on " axis ";\n"
                break
            }
    }
    return text "  ...;\n}\n"
}

BEGIN {
    srand(seed)
    for (i = 1; i <= files; i++) {
        file = dir "/" i ".dfl"
        print "dfl 1;\nsystem chip {\n  memory hbm { size = 1GB; bandwidth = 1GB/s; }\n  compute unit { ops = mac, flop; rate = 1GMAC/s; }\n}\n" \
              "system pod {\n  network ib = switch { bandwidth = 1GB/s; latency = 10ns; }\n  array node[12] over ib {\n" \
              "    network nv = switch { bandwidth = 4GB/s; latency = 1ns; }\n    array gpu[12] over nv { use chip; }\n  }\n}\n" > file
        print workload() > file
        for (k = 1; k <= plans; k++)
            print plan(k) > file
        close(file)
    }
}
