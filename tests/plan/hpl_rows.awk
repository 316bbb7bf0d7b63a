# Reads tests/plan/hpl_systems.csv, then the measured rows. Writes one mapping of HPL for each row with a machine into `dfl`, and the
# rows into `rows`: name, system, list, petaflops of N^3, peak, measured efficiency, N, source of N. Variables: dfl, rows, only, steps.
BEGIN { FS = ","; print "dfl 1;\nimport std.workloads.hpl;" > dfl }
FNR == 1 { file++ }
/^#/ || /^system,/ { next }
file == 1 { machine[$1, $2] = $0; next }
{
    if (only != "" && $1 !~ only) { skipped++; next }
    if (!(($1, $2) in machine)) { print "no machine:", $1, $2; next }
    split(machine[$1, $2], m, ",")
    of_list = $6 != ""
    n = of_list ? $6 : sqrt(0.8 * m[3] * m[7] * 1e9 / 8) # without a published size: 80 % of the memory
    block = int(n / steps); n = block * steps; name = "row" FNR
    printf "system chip_%s {\n  memory hbm { size = unlimited; bandwidth = %sGB/s; }\n  compute unit { ops = mac, flop; rate = %.6fTMAC/s; }\n}\n", \
        name, m[8], $4 * 1000 / m[3] / 2 > dfl
    printf "system %s {\n  network ports = switch { bandwidth = %sGB/s; }\n", name, m[6] > dfl
    printf "  array row[%d], column[%d] over ports { use chip_%s as chip; }\n}\n", m[4], m[5], name > dfl
    printf "workload hpl_%s = hpl(N = %d, NB = %d);\nmapping plan_%s for hpl_%s on %s {\n", name, n, block, name, name, name > dfl
    print "  spatial r:1 cyclic on row;\n  spatial c:1 cyclic on column;\n  temporal k;\n  k.column, k.diagonal, k.top, k.upper, " \
          "k.lower, k.below, k.D, k.L, k.row, k.U, k.rest { }\n  ...;\n  option overlap = perfect;\n}" > dfl
    printf "plan_%s,%s,%s,%.6f,%s,%s,%d,%s\n", name, $1, $2, (2 / 3 * n * n * n + 3 / 2 * n * n) / 1e15, $4, $5, n, \
        of_list ? "list" : "memory" > rows
}
END { if (skipped) print "left out in this sample:", skipped, "rows; `all` evaluates them" }
