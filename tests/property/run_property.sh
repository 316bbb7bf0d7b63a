#!/usr/bin/env bash
# Random cases through oracle and model; PROPERTY_CASES and PROPERTY_SEED choose others. Cases that the model refuses with
# a diagnostic are what this test skips.
set -u
"${OUT:-build/release}/tests/property/property" "${PROPERTY_CASES:-3000}" "${PROPERTY_SEED:-1}" |
    sed 's/^  refused  */skipped: cases refused: /'
exit "${PIPESTATUS[0]}"
