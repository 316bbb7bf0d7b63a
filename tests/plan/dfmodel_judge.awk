# Judges seconds ("name seconds", the first file) by rows ("name equations log measured", the second one; `-` = none): the error beside
# the equations of the peer where they are solved, else beside its printed value.
{ sub(/\r$/, "") }
NR == FNR { seconds[$1] = $2; next }
!($1 in seconds) { printf "%-14s not evaluated\n", $1; next }
{
    want = $2 == "-" ? $3 : $2
    e = (seconds[$1] / want - 1) * 100; a = e < 0 ? -e : e
    is_check = index($1, "validation") == 1
    n[is_check]++; sum[is_check] += a; worst[is_check] = a > worst[is_check] ? a : worst[is_check]
    printf "%-14s step %10.4f s  error %+9.5f %% of %s", $1, seconds[$1], e, $2 == "-" ? "the log" : "the equations"
    if ($2 != "-" && $3 != "-") printf ", %+.4f %% of the log", (seconds[$1] / $3 - 1) * 100
    if ($4 != "-") { over += $4 / seconds[$1]; peer += $4 / $3; measured++; printf "  measured/predicted %.3f, of the peer %.3f", $4 / seconds[$1], $4 / $3 }
    print ""
}
END {
    printf "rows of calculon and rail: %d, largest error %.5f %%, mean %.5f %%; the bar is 1 %%\n", n[0], worst[0], sum[0] / n[0]
    printf "rows of validation: %d, largest error %.2f %%, mean %.2f %%; rows without a stated utilization in whole units\n", n[1],
           worst[1], sum[1] / n[1]
    if (measured) printf "mean of measured over predicted: %.3f; the peer's rows give %.3f, its paper states 1.25\n", over / measured,
           peer / measured
}
