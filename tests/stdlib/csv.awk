# Splits a line of a CSV file into f[1], f[2], ... without their quotes; commas inside of quotes stay. Returns the number of
# fields. The other programs of this folder are run with `awk -f csv.awk -f PROGRAM.awk`.
function split_csv(line, f,    n, c, i, q, s) {
    n = 0; s = ""; q = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") q = !q
        else if (c == "," && !q) { f[++n] = s; s = "" }
        else s = s c
    }
    f[++n] = s
    return n
}
