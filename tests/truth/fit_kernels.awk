# Fits kernels to a launch, the share of the memory's bandwidth, and the share of the peak by the operations of a product: the lines of
# kernels.awk with parity 0. Reads kernels_chips.txt, then these lines, and prints for each machine `MACHINE LAUNCH SHARE_OF_MEMORY SHARE...
# MEDIAN HIGH ROWS`: the shares at the points below; median and 90th percentile of the errors (%) on the other lines, and their number.
# A pass takes the longer one of its operations, behind the launch, and its bytes. The first pass of an attention has no launch: its
# result stays on the chip. A share on which no fitted time depends is that of the nearest size with such times, and between two of them
# on the line; where no fitted time depends on the memory, its share is printed as negative.
BEGIN { points = 6; for (i = 1; i <= points; i++) at[i] = 10 ^ (6 + i) }
FILENAME ~ /kernels_chips/ {
    if (/^#/) next
    memory[$1] = $2 * 1e3 # bytes/us
    for (i = 3; i < NF; i += 2) peak[$1, $i] = $(i + 1) * 1e6 # FLOP/us
    next
}
{
    if (!($1 in count)) order[++machines] = $1
    n = ++count[$1]
    parity[$1, n] = $3; us[$1, n] = $4; work[$1, n] = $5
}
function size_of(x) { return x < 0 ? -x : x }
function share_of(flop,    i) {
    if (flop <= at[1]) return share[1]
    for (i = 1; i < points; i++)
        if (flop < at[i + 1]) return share[i] + (share[i + 1] - share[i]) * (flop - at[i]) / (at[i + 1] - at[i])
    return share[points]
}
function time_of(k,    p, sum, a, b) {
    sum = 0
    for (p = 1; p <= passes[k]; p++) {
        a = (p == quiet ? 0 : launch) + (flop[k, p] ? flop[k, p] / (rate * share_of(flop[k, p])) : 0)
        b = bandwidth ? bytes[k, p] / (bandwidth * mem) : 0
        sum += a > b ? a : b
    }
    return sum
}
function miss(    k, sum) {
    for (k = 1; k <= n; k++) if (!odd[k]) sum += size_of(log(time_of(k) / measured[k]))
    return sum
}
# Whether a fitted time depends on a number: the share at a point, or (-1) that of the memory.
function decides(which,    kept, before, lower, higher) {
    before = miss()
    kept = which > 0 ? share[which] : mem
    if (which > 0) share[which] = 0.8 * kept; else mem = 0.8 * kept
    lower = miss()
    if (which > 0) share[which] = kept; else mem = kept
    if (lower != before) return 1
    if (which > 0) share[which] = 1.25 * kept; else mem = 1.25 * kept
    higher = miss()
    if (which > 0) share[which] = kept; else mem = kept
    return higher != before
}
# Replaces the shares at points that no fitted time depends on.
function fill(    i, left, right, is_known) {
    for (i = 1; i <= points; i++) is_known[i] = decides(i)
    for (i = 1; i <= points; i++) {
        if (is_known[i]) continue
        for (left = i; left >= 1 && !is_known[left];) left--
        for (right = i; right <= points && !is_known[right];) right++
        if (left >= 1 && right <= points) share[i] = share[left] + (share[right] - share[left]) * (i - left) / (right - left)
        else if (left >= 1) share[i] = share[left]
        else if (right <= points) share[i] = share[right]
    }
    if (!decides(-1)) mem = -mem
}
function loss(    k, sum) {
    sum = miss()
    for (k = 1; k < points; k++) sum += 0.02 * size_of(log(share[k + 1] / share[k]))
    return sum
}
function try(which, factor, before,    kept, now) {
    kept = which > 0 ? share[which] : which ? mem : launch
    now = kept * factor
    if (which >= 0 && now > 1 && which) now = 1
    if (which < 0 && now > 1) now = 1
    if (which > 0) share[which] = now; else if (which) mem = now; else launch = now
    now = loss()
    if (now < before - 1e-9) return now
    if (which > 0) share[which] = kept; else if (which) mem = kept; else launch = kept
    return before
}
function fit(machine,    i, k, p, parts, pair, type, step, before, now, m, e, errors) {
    n = count[machine]
    type = machine
    sub(/_block$/, "", type); sub(/.*_/, "", type)
    if (machine ~ /bf16_fp8$|bfloat16$/) type = "bf16"
    if (type == "nvfp4") type = "i4"
    chip = machine
    while (!(chip in memory)) if (!sub(/_[^_]*$/, "", chip)) { print "no peak:", machine > "/dev/stderr"; return }
    rate = peak[chip, type]; bandwidth = memory[chip]
    for (k = 1; k <= n; k++) {
        odd[k] = parity[machine, k]; measured[k] = us[machine, k]
        passes[k] = split(work[machine, k], parts, ";")
        for (p = 1; p <= passes[k]; p++) { split(parts[p], pair, ","); flop[k, p] = pair[1]; bytes[k, p] = pair[2] }
    }
    quiet = machine ~ /prompt|token/ ? 1 : 0
    launch = 5; mem = 0.7
    for (i = 1; i <= points; i++) share[i] = 0.5
    now = loss()
    for (step = 1.8; step > 1.01;) {
        before = now
        for (i = -1; i <= points; i++) { now = try(i, step, now); now = try(i, 1 / step, now) }
        if (now > before - 1e-4 * n) step = step ^ 0.5
    }
    fill()
    no_memory = mem < 0
    mem = size_of(mem)
    for (k = 1; k <= n; k++)
        if (odd[k]) {
            e = size_of(time_of(k) / measured[k] - 1)
            for (i = ++m; i > 1 && errors[i - 1] > e; i--) errors[i] = errors[i - 1]
            errors[i] = e
        }
    printf "%s %.4g %.4g", machine, launch, no_memory ? -mem : mem
    for (i = 1; i <= points; i++) printf " %.4g", share[i]
    printf " %.1f %.1f %d\n", 100 * errors[int(m / 2) + 1], 100 * errors[int(0.9 * m) + 1], m
    fflush()
}
END { for (j = 1; j <= machines; j++) fit(order[j]) }
