# Writes files with random plans over chips of small workloads: DIR/N.dfl has `plans` mappings of one workload of 1 to 3 einsums. Their
# operands are read at offsets, in windows, in steps, at single positions, and under conditions; sizes are uneven, and homes lie in parts
# that no line divides. Some files have chips without points, micro-batches, dealt ranks, rows that data select, several einsums that
# make a result, layers in stages, or a training step. Variables: dir, files, plans, seed; shape: one of these alone (the text behind
# `has_`).

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

# Declares an operand, which a training step has as a weight.
function give(text) {
    if (has_train)
        weights = weights "  weight " text ";\n"
    else
        inputs = inputs ", " text
}

# Whether the next file has a shape.
function has(name, percent) { return shape != "" ? shape == name : chance(percent) }

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
        r = rank_of(draw(5) + 1); out = name(r); n_out = 1; size[e, 1] = extent_of[r]; rank_at[1] = r; extra = " * B" e "[" name(r) "]"; give("B" e "[" name(r) "]")
    } else if (n_out == 1 && chance(30)) {
        r = rank_of(draw(5) + 1); out = out ", " name(r); n_out = 2; size[e, 2] = extent_of[r]; rank_at[2] = r
        extra = " * B" e "[" name(r) "]"; give("B" e "[" name(r) "]")
    }
    dims[e] = n_out
    if (filter != "") {
        extra = extra " * W" e "[" filter "]"; give("W" e "[" filter "]"); sum = 1; filter = ""
    }
    if (!sum && chance(30) && extra == "") # the same tensor again
        extra = " + " tensor(from) "[" text "]"
    if (chance(conditions))
        cond = " where " condition()
    if (has_rows && chance(50))
        extra = extra rows(e, out)
    more = "  " (e == n_einsums && !has_layers ? "output " : "") tensor(e) "["
    text = more out "] " (sum ? "+=" : "=") " " tensor(from) "[" text "]" (extra == "" ? " * 2" : extra) cond ";\n"
    if (has_several && chance(50)) { # another einsum adds to the result, or to a part of it
        out = ""
        for (d = 1; d <= n_out; d++) {
            r = rank_at[d]; k = ""
            if (size[e, d] >= 3 && chance(40)) {
                r = rank_of(size[e, d] - draw(2)); k = chance(40) ? " + 1" : ""
            }
            out = out (d > 1 ? ", " : "") name(r); more = more (d > 1 ? ", " : "") name(r) k
        }
        give("C" e "[" out "]")
        sub(/\] = /, "] += ", text)
        text = text more "] += C" e "[" out "] * 2;\n"
    }
    return text
}

# A product with the rows of a table that data select at one or two indices of a result.
function rows(e, out,   n, at, x, y) {
    n = split(out, at, ", "); x = at[draw(n)]; y = at[draw(n)]
    row_of[++n_rows] = e; row_by[n_rows] = x; row_ranks = row_ranks ", x" n_rows " = " pick("4 5 6 8")
    out = chance(30) && x != y ? x ", " y : x
    inputs = inputs ", I" e "[" out "] : i32"
    y = "G" e "[x" n_rows (chance(50) && x != y ? ", " y : "") "]"
    weights = weights "  " pick("input weight") " " y ";\n"
    return " * gather " y " by I" e "[" out "]" (chance(40) ? " load " pick("1 1.5 2") : "")
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
    n_ranks = n_rows = 0; inputs = weights = row_ranks = ""; n_einsums = draw(3)
    has_idle = has("idle", 20); has_passes = has("passes", 6); has_dealt = has("dealt", 8); has_several = has("several", 8)
    has_rows = has("rows", 6); has_layers = !has_rows && has("layers", 15); has_train = !has_rows && has("train", 15)
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
    if (has_layers)
        return layers(text)
    has_train = has_train && weights != ""
    return "workload layers : bf16 {\n  rank " ranks row_ranks ";\n  input A[" text "]" inputs ";\n" weights body "}\n"
}

# The workload with its einsums in layers that carry A.
function layers(text,   d, k, y, z, is_taken, is_sum) {
    n_layers = pick("2 3 4 5 6"); y = z = ""; is_sum = 0
    for (d = 1; d <= dims[0]; d++) {
        y = y (d > 1 ? ", " : "") "y" d; ranks = ranks ", y" d " = " size[0, d]
    }
    for (d = 1; d <= dims[n_einsums]; d++) {
        for (k = 1; k <= dims[0] && !(size[0, k] == size[n_einsums, d] && !(k in is_taken) && chance(70)); k++)
            ;
        is_taken[k] = 1
        z = z (d > 1 ? ", " : "") (k <= dims[0] ? "y" k : "w" d)
        if (k > dims[0]) {
            ranks = ranks ", w" d " = " size[n_einsums, d]; is_sum = 1
        }
    }
    has_train = has_train && weights != ""
    sub(/^, /, "", inputs)
    return "workload layers : bf16 {\n  rank " ranks ";\n  input A[" text "];\n" (inputs == "" ? "" : "  input " inputs ";\n") \
           "  repeat " n_layers " as layer carrying A = Y {\n" weights body "  Y[" y "] " (is_sum ? "+=" : "=") " A[" y "] " pick("* +") " " \
           tensor(n_einsums) "[" z "];\n  }\n  output O[" y "] = layer.Y[" y "] * 2;\n}\n"
}

function some(   e, out) {
    for (e = 1; e <= n_einsums; e++)
        if (chance(50))
            out = out (out == "" ? "" : ", ") in_layer() tensor(e)
    return out == "" ? "" : " for " out
}

function in_layer() { return has_layers ? "layer." : "" }

# Whether a rank can be divided further so that every chip has some of it, unless chips may have none; then divides it.
function fits(r, parts,   part) {
    part = ceil(left[r], parts)
    if (left[r] < parts || (!has_idle && (part * (parts - 1) >= left[r] || last[r] - part * (parts - 1) <= 0)))
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

# Lines of stages, micro-batches, rows and dealt ranks.
function shapes(   text, i, r, parts) {
    if (has_layers && chance(50)) {
        parts = n_layers > 2 ? pick("2 2 3") : 2
        text = text "  spatial layer/" parts " on node pipeline(schedule = " pick(has_train ? "gpipe one_f_one_b zero_bubble" : "gpipe one_f_one_b")
        text = text (text !~ /zero/ && n_layers >= 2 * parts && chance(40) ? ", interleave = " int(n_layers / parts) : "") ");\n"
    }
    for (i = 1; i <= 2 && has_passes; i++)
        if (chance(60))
            text = text "  temporal " name(draw(n_ranks)) pick(":1 :2 :3 /2 /3") ";\n"
    text = text (has_layers ? "  temporal layer;\n" : "")
    if (n_rows > 0 && chance(60)) {
        i = draw(n_rows); parts = pick("2 2 4 3")
        text = text (chance(70) ? "  spatial " row_by[i] "/" parts " on gpu;\n" : "") \
               "  spatial x" i "/" parts " on gpu" (chance(70) ? " for " tensor(row_of[i]) : "") ";\n"
    }
    if (has_dealt && chance(60))
        text = text "  spatial " name(draw(n_ranks)) ":1 cyclic on " pick("row column") some() ";\n"
    return text
}

# Lines of the homes of a training step, and of what it makes again.
function training() {
    return "  keep weights in hbm;\n" \
           (chance(40) ? "  keep moments in hbm split " name(draw(n_ranks)) "/2 on " pick("node gpu") ";\n" : "") \
           (chance(25) ? "  keep gradients in hbm split " name(draw(n_ranks)) "/2 on " pick("node gpu") ";\n" : "") \
           (chance(30) ? "  spatial " name(draw(n_ranks)) "/2 on " pick("node gpu") " for update;\n" : "") \
           (chance(25) ? "  recompute " in_layer() tensor(draw(n_einsums)) ";\n" : "")
}

function plan(p,   text, n, i, r, parts, axis, t, d, rd) {
    text = "mapping p" p " for " (has_train ? "step" : "layers") " on pod {\n" shapes()
    n = draw(3)
    for (i = 1; i <= n_ranks; i++)
        left[i] = last[i] = extent_of[i]
    for (i = 1; i <= n; i++) {
        r = draw(n_ranks); parts = pick("2 2 2 3 4"); axis = pick("node gpu gpu")
        if (fits(r, parts))
            text = text "  spatial " name(r) "/" parts " on " axis some() ";\n"
    }
    if (has_layers && chance(40))
        text = text "  spatial y" draw(dims[0]) "/2 on " pick("node gpu") (chance(40) ? " for layer.Y" : "") ";\n"
    text = text "  keep activations in hbm;\n" (has_train ? training() : "")
    if (chance(50)) {
        t = draw(n_einsums + 1) - 1
        d = draw(dims[t])
        parts = pick("2 2 3 4"); axis = pick("node gpu")
        for (r = 1; r <= n_ranks; r++)
            if (extent_of[r] == size[t, d] && (has_idle || splits(r, parts))) {
                text = text "  keep " (t > 0 ? in_layer() : "") tensor(t) " in hbm split " name(r) "/" parts " on " axis ";\n"
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
              "system pod {\n  network ib = switch { bandwidth = 1GB/s; latency = 10ns; }\n  array node[12], row[2], column[3] over ib {\n" \
              "    network nv = switch { bandwidth = 4GB/s; latency = 1ns; }\n    array gpu[12] over nv { use chip; }\n  }\n}\n" > file
        print workload() > file
        if (has_train)
            print "workload step = train(layers, optimizer = " pick("adam(fp32);sgd(fp32);sgd(bf16)") ");" > file
        for (k = 1; k <= plans; k++)
            print plan(k) > file
        close(file)
    }
}
