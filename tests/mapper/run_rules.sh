#!/usr/bin/env bash
# Each rule of src/mapper/SEARCH.md (B1, D1, ...) has a number of its own, and is cited in the code of the mapper or of the checker of
# certificates, in a unit test of the same room, and by a mutant.
set -u
export LC_ALL=C
passed=0 failed=0

cited() { # cited RULE PATH...: whether a file cites the rule
    grep -rqE --include='*.c' --include='*.h' --include=mutants "(^|[^A-Za-z0-9_])$1([^A-Za-z0-9_]|\$)" "${@:2}"
}

rules() { sed -n 's/^\*\*\([BD][0-9]*\)\..*/\1/p' src/mapper/SEARCH.md; }

for rule in $(rules | sort | uniq -d); do
    failed=$((failed + 1))
    echo "FAILED: several rules are called $rule"
done
for rule in $(rules | sort -u); do
    for place in "src/mapper src/certify" "tests/unit/mapper tests/unit/certify" tests/property/mutants; do
        # shellcheck disable=SC2086 # a place is a list of folders
        if cited "$rule" $place; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED: nothing cites $rule in $place"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
