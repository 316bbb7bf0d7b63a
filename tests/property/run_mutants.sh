#!/usr/bin/env bash
# Each text of the file `mutants` stands exactly once in its file of src. `make mutate`, which takes hours, seeds the faults; this
# check takes a second.
set -u
export LC_ALL=C
awk '
    function text_of(name,    line, all) { while ((getline line < name) > 0) all = all line "\n"; close(name); return all }
    function complain(what) { printf "FAILED: %s:%d: %s\n", FILENAME, FNR, what; failed++ }
    /^#/ || /^$/ || /^\+ / { next }
    /^in ([a-z]+\/)+[a-z_]+\.c: / {
        file = "src/" substr($2, 1, length($2) - 1)
        if (!(file in text)) text[file] = text_of(file)
        next
    }
    /^- / {
        old = substr($0, 3)
        at = index(text[file], old)
        if (!at) complain("`" old "` does not stand in " file)
        else if (index(substr(text[file], at + length(old)), old)) complain("`" old "` stands several times in " file)
        else passed++
        next
    }
    { complain("not understood") }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || !passed }' "${1:-tests/property/mutants}"
