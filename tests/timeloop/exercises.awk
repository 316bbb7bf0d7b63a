# Compares the report of an imported mapping (CSV of `dflc eval`) with the report of the peer (stats.txt). Input files, in this
# order: the report of the peer, the CSV, and the messages of the importer. Variables: name, and search = 1 for a result that must
# only be no worse. Prints one line of the table: name, cycles, energies, the difference, and what the importer says of it. Exits
# 1 when the cycles differ by more than 0.5 % or the energies by more than 1 %, when the amounts that the importer states do not
# make the difference of the energies to 0.2 %, or when a search is worse than the peer's.
function far(a, b, share) { return a - b > share * b || b - a > share * b }
FNR == 1 { file++ }
file == 1 && /^Cycles:/ { peer_cycles = $2 }
file == 1 && /^Computes =/ { computes = $3 }
file == 1 && /^    Total  / { peer_energy = $3 * computes / 1000 }

file == 2 { fields = split($0, cell, ",") }
file == 2 && FNR == 1 { for (i = 1; i <= fields; i++) column[cell[i]] = i }
file == 2 && FNR > 1 {
    energy = cell[column["joules"]] * 1e12
    seconds = cell[column["seconds"]]
}
file == 3 && / Timeloop counts [0-9.e+-]+ pJ / {
    match($0, /Timeloop counts [0-9.e+-]+ pJ (more|less)/)
    split(substr($0, RSTART, RLENGTH), said, " ")
    amount = said[5] == "more" ? said[3] : -said[3]
    cause = /whole vectors/ ? "whole vectors" : /old sums/ ? "old sums to each instance" : "shared words to each instance"
    stated[cause] += amount
    total += amount
}
END {
    cycles = seconds * 1e9
    for (cause in stated)
        causes = causes sprintf(" %s %+.2f %%,", cause, 100 * stated[cause] / peer_energy)
    sub(/,$/, "", causes)
    verdict = "ok"
    if (search && energy * cycles > peer_energy * peer_cycles * 1.0001)
        verdict = "WORSE"
    else if (!search && far(cycles, peer_cycles, 0.005))
        verdict = "CYCLES"
    else if (!search && (far(energy + total, peer_energy, 0.002) || far(energy, peer_energy, 0.01)))
        verdict = "ENERGY"
    printf "%-52s %8.0f %8.0f %12.6g %12.6g %+8.2f %%  %s%s\n", name, cycles, peer_cycles, energy, peer_energy,
        search ? 100 * (energy * cycles / (peer_energy * peer_cycles) - 1) : 100 * (energy / peer_energy - 1), verdict,
        search ? "" : causes
    exit verdict != "ok"
}
