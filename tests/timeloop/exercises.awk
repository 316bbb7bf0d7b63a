# Compares the report of an imported mapping (CSV of `dflc eval`) with the report of the peer (stats.txt) under the energies of
# its table (ERT). Input files, in this order: the table, the report of the peer, the CSV, and the messages of the importer.
# Variables: name, and search = 1 for a result that must only be no worse. Prints one line of the table: name, cycles, energies,
# the difference, and what the importer says of it. Exits 1 when the cycles differ by more than 0.5 %, when the amounts that the
# importer states do not make the difference of the energies to 0.2 %, or when a search is worse than the peer's.
function plain(text) { sub(/\[[^]]*\]$/, "", text); sub(/.*\./, "", text); return text }
function far(a, b, share) { return a - b > share * b || b - a > share * b }
FNR == 1 { file++ }
file == 1 && $2 == "name:" && $3 ~ /\./ { part = plain($3) }
file == 1 && $2 == "name:" && $3 !~ /[.\[]/ { action = $3 }
file == 1 && $1 == "energy:" { ert[part, action] = $2 }

file == 2 && /^=== / { level = $2 }
file == 2 && /Block size/ { block[level] = $4 }
file == 2 && /^    [A-Za-z]+:[ \t]*$/ { tensor = $1; sub(/:/, "", tensor) }
file == 2 && /Utilized instances \(max\)/ { used[level, tensor] = $5 }
file == 2 && /Scalar reads/ { reads[level, tensor] = $5; seen[level, tensor] = 1 }
file == 2 && /Scalar fills/ { fills[level, tensor] = $5 }
file == 2 && /Scalar updates/ { updates[level, tensor] = $5 }
file == 2 && /^Cycles:/ { peer_cycles = $2 }
file == 2 && /^Computes =/ { computes = $3 }
file == 2 && /^    Total  / { peer_energy = $3 * computes / 1000 }
file == 2 && /^    [A-Za-z_]+ +=/ && $1 != "Total" { peer_part[$1] = $3 * computes / 1000 }
file == 2 && /Leakage energy/ { leak[level] = $5 }

file == 3 { fields = split($0, cell, ",") }
file == 3 && FNR == 1 { for (i = 1; i <= fields; i++) column[cell[i]] = i }
file == 3 && FNR > 1 {
    energy = cell[column["joules"]] * 1e12
    seconds = cell[column["seconds"]]
    memory = cell[column["memory"]]
    if (memory != "") {
        key = memory SUBSEP cell[column["tensor"]]
        ours[key] = cell[column["serve"]] + cell[column["accumulate"]]
        filled[key] = cell[column["fill"]]
        updated[key] = cell[column["update"]]
        kept[memory] = 1
    }
}
file == 4 && / Timeloop counts [0-9.e+-]+ pJ / {
    match($0, /Timeloop counts [0-9.e+-]+ pJ (more|less)/)
    split(substr($0, RSTART, RLENGTH), said, " ")
    amount = said[5] == "more" ? said[3] : -said[3]
    cause = /whole vectors/ ? "whole vectors" : /old sums/ ? "old sums to each instance" : "shared words to each instance"
    stated[cause] += amount
    total += amount
}
END {
    cycles = seconds * 1e9
    # One of the causes follows from the reports alone.
    for (key in ours) {
        split(key, at, SUBSEP)
        words = block[at[1]]
        n = used[key]
        read = ert[at[1], "read"] / words
        write = ert[at[1], "write"] / words
        scalar[at[1]] += n * (reads[key] * read + (fills[key] + updates[key]) * write)
    }
    for (m in kept)
        vectors += peer_part[m] - leak[m] - scalar[m]
    for (cause in stated)
        causes = causes sprintf(" %s %+.2f %%,", cause, 100 * stated[cause] / peer_energy)
    sub(/,$/, "", causes)
    verdict = "ok"
    if (search && energy * cycles > peer_energy * peer_cycles * 1.0001)
        verdict = "WORSE"
    else if (!search && far(cycles, peer_cycles, 0.005))
        verdict = "CYCLES"
    else if (!search && (far(energy + total, peer_energy, 0.002)))
        verdict = "ENERGY"
    else if (!search && (vectors - stated["whole vectors"] > 0.002 * energy || \
                         stated["whole vectors"] - vectors > 0.002 * energy))
        verdict = "VECTORS"
    else if (!search && far(energy, peer_energy, 0.01))
        verdict = "explained"
    printf "%-52s %8.0f %8.0f %12.6g %12.6g %+8.2f %%  %s%s\n", name, cycles, peer_cycles, energy, peer_energy,
        search ? 100 * (energy * cycles / (peer_energy * peer_cycles) - 1) : 100 * (energy / peer_energy - 1), verdict,
        search ? "" : causes
    exit verdict != "ok" && verdict != "explained"
}
