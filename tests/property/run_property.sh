#!/usr/bin/env bash
# Compares oracle and model on random cases. PROPERTY_CASES and PROPERTY_SEED choose other cases. Cases that the model
# refuses with a diagnostic are counted as skipped.
set -u
"${OUT:-build/release}/tests/property/property" "${PROPERTY_CASES:-3000}" "${PROPERTY_SEED:-1}" |
    sed 's/^  refused  */skipped: cases refused: /'
exit "${PIPESTATUS[0]}"
