# Fits what a switch costs for collectives of one chip type and group size: the overhead of a step, and the share of the
# bandwidth by the bits of a collective. Input: collectives.csv of the measurements. Set: chip, ranks, peak (bytes/us). Even
# lines of the file fit the numbers. Prints the overhead (us), the shares at 4 KiB, 32 KiB, ... 128 MiB, and the median and
# 90th percentile of the relative errors on the odd lines, and their number. More points (9 or 17 shares) are no better on fitting
# rows that are left out of the fit.
# The table counts an all-gather of the B60 by the part of one chip: on 2 and on 4 chips it takes as long as a reduce-scatter of 2
# and of 4 times the bytes, and on the other chips of as many.
#
# The time is that of `direct` (src/collective/COLLECTIVES.md): an all-reduce has two steps, the others one, and each step sends
# (p - 1) / p of the bits over a port: (1 + steps) overhead + steps (p - 1) / p n / (peak share(n)). The share is linear between
# its points.
BEGIN { FS = ","; points = 6; for (i = 1; i <= points; i++) at[i] = 512 * 8 ^ i }
NR > 1 && $1 == chip && $3 == ranks {
    n++
    steps[n] = $2 == "all_reduce" ? 2 : 1
    bytes[n] = $4 * (chip == "b60" && $2 == "all_gather" ? ranks : 1)
    measured[n] = $6
    even[n] = NR % 2 == 0
}

function share_of(size,    i) {
    if (size <= at[1])
        return share[1]
    for (i = 1; i < points; i++)
        if (size < at[i + 1])
            return share[i] + (share[i + 1] - share[i]) * (size - at[i]) / (at[i + 1] - at[i])
    return share[points]
}
function time_of(k) {
    return (1 + steps[k]) * overhead + steps[k] * (ranks - 1) / ranks * bytes[k] / (peak * share_of(bytes[k]))
}
function size_of(x) { return x < 0 ? -x : x }
# Sum of the logarithms of the errors, and a little for shares that differ from their neighbours: not all are seen in the rows.
function loss(    k, sum) {
    for (k = 1; k <= n; k++)
        if (even[k])
            sum += size_of(log(time_of(k) / measured[k]))
    for (k = 1; k < points; k++)
        sum += 0.02 * size_of(log(share[k + 1] / share[k]))
    return sum
}
# Multiplies one number (0: the overhead) by a factor if that makes the loss smaller.
function try(which, factor, least,    kept, now) {
    kept = which ? share[which] : overhead
    now = kept * factor
    if (which)
        share[which] = now > 1 ? 1 : now
    else
        overhead = now
    now = loss()
    if (now < least - 1e-9)
        return now
    if (which)
        share[which] = kept
    else
        overhead = kept
    return least
}

END {
    overhead = 5
    for (i = 1; i <= points; i++)
        share[i] = 0.5
    least = loss()
    for (step = 1.6; step > 1.004;) {
        before = least
        for (i = 0; i <= points; i++) {
            least = try(i, step, least)
            least = try(i, 1 / step, least)
        }
        if (least == before)
            step = step ^ 0.6
    }
    for (k = 1; k <= n; k++)
        if (!even[k]) {
            e = size_of(time_of(k) / measured[k] - 1)
            for (i = ++m; i > 1 && errors[i - 1] > e; i--)
                errors[i] = errors[i - 1]
            errors[i] = e
        }
    printf "%.4g", overhead
    for (i = 1; i <= points; i++)
        printf " %.4g", share[i]
    printf " %.1f %.1f %d\n", 100 * errors[int(m / 2) + 1], 100 * errors[int(0.9 * m) + 1], m
}
