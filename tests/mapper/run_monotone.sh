#!/usr/bin/env bash
# Random tiny problems: better machines and other names. N= and SEED= for more or others.
passed=0 failed=0
for seed in ${SEED:-1 3}; do
    while read -r line; do
        case $line in
        *' passed, '*' failed') set -- $line; passed=$((passed + $1)) failed=$((failed + $3)) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done < <("${OUT:-build/release}/tests/mapper/monotone" "${N:-300}" "$seed" || echo "0 passed, 1 failed")
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
