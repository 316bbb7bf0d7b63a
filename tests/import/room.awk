# Compares the room of each tensor in `l2` with the requirement that the source reports, layer by layer in file order.
# Usage: awk -v name=MAPPING -f room.awk IMPORTED.dfl IMPORTED.csv SOURCE.extra.csv
# Prints one line for each layer and tensor: "equal", "listed" with the reason, or "WRONG". The counting of the source is not sound
# in these cases, each with a condition on the layer:
#   halo     input: elements that share rows or columns with a neighbour are counted with their whole windows
#   stride   output: the stride is ignored, so a tile has more output rows or columns than there are
#   groups   output of a grouped convolution: counted once for each input channel
#   edge     output: one element less is counted if a spatial dimension is not longer than the array
#   nothing  the whole layer: the source finds no valid iteration
function value(text, key, otherwise) {
    return match(text, "[(, ]" key " = [0-9]+") ? substr(text, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 : otherwise
}
function reason(l, t, got, want,   m) {
    m = text[l]
    if (t == "input" && want > got && ((spatial[l] == "p" && value(m, "R", 1) > value(m, "stride_y", 1)) ||
                                       (spatial[l] == "q" && value(m, "S", 1) > value(m, "stride_x", 1))))
        return "halo"
    if (t == "output" && kind[l] == "ngconv" && want > got)
        return "groups"
    if (t == "output" && want > got && (value(m, "stride_y", 1) > 1 || value(m, "stride_x", 1) > 1))
        return "stride"
    if (t == "output" && want < got && got - want == got / extent(l) && extent(l) <= size0)
        return "edge"
    return ""
}
# The extent of the rank that is spatial at the top level: an output channel, or a channel of a depthwise layer.
function extent(l) { return value(text[l], spatial[l] == "c" ? "C" : "K", 0) }

FILENAME == ARGV[1] && /^\/\/\/ source_name: / { source = substr($0, 18); next }
FILENAME == ARGV[1] && /^mapping / { n++; name_of[n] = $2; from[n] = source; text[n] = ""; inside = 1; top = 1 }
FILENAME == ARGV[1] && inside { text[n] = text[n] " " $0 }
FILENAME == ARGV[1] && inside && top && /^    spatial / { spatial[n] = substr($2, 1, 1); top = 0 }
FILENAME == ARGV[1] && /^}/ { inside = 0 }
FILENAME == ARGV[1] { next }
FILENAME == ARGV[2] { split($0, f, ","); if (f[13] == "l2") { room[f[1], f[17]] = f[23] / 8; kind[f[1]] = f[2] } next }
FNR == 1 { next }
{ rows++; split($0, f, ","); key[rows] = f[1]; want[rows, "input"] = f[2]; want[rows, "filter"] = f[4]; want[rows, "output"] = f[6] }
END {
    split("input filter output", tensors, " ")
    for (r = 1; r <= rows; r++) {
        for (l++; rows != n && l <= n && from[l] != key[r]; l++);
        if (l > n) { print "WRONG " name " " key[r] ": no such mapping"; exit }
        kind[l] = kind[name_of[l]]
        none = want[r, "output"] == 0
        for (t = 1; t <= 3; t++) {
            got = room[name_of[l], tensors[t]]
            where = name " " name_of[l] " " tensors[t]
            if (got == want[r, tensors[t]]) print "equal " where
            else {
                why = none ? "nothing" : reason(l, tensors[t], got, want[r, tensors[t]])
                if (why == "") print "WRONG " where ": " got ", want " want[r, tensors[t]]
                else print "listed " where ": " why
            }
        }
    }
}
