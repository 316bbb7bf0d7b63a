#!/usr/bin/env bash
# The random tiny problems of problems.tsv. ROW=name runs one row, N= and SEED= replace the numbers of the table. `make test` runs
# each row as a test of its own.
set -u
export LC_ALL=C
programs=${OUT:-build/release}/tests/mapper
table=${PROBLEMS:-tests/mapper/problems.tsv}
passed=0 failed=0 rows=0

while IFS=$'\t' read -r name program flags n seed _; do
    case $name in '' | '#'*) continue ;; esac
    [ "${ROW:-$name}" = "$name" ] || continue
    rows=$((rows + 1))
    [ "$flags" != - ] || flags=
    # shellcheck disable=SC2086
    output=$("$programs/$program" $flags "${N:-$n}" "${SEED:-$seed}")
    status=$?
    printf '%s: %s\n' "$name" "$output"
    read -r p _ f _ < <(printf '%s\n' "$output" | grep -E '^[0-9]+ passed, [0-9]+ failed$' | tail -n 1)
    if [ -z "${f:-}" ] || { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; }; then
        echo "FAILED: $name ended with status $status"
        f=1
    fi
    passed=$((passed + ${p:-0})) failed=$((failed + f)) p= f=
done <"$table"
[ "$rows" -gt 0 ] || { echo "FAILED: no row ${ROW:-} in $table"; failed=1; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
