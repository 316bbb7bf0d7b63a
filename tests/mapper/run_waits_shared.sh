#!/usr/bin/env bash
# The same as run_waits.sh with several einsums that share loops, others than those of run_shared.sh. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -t -s "${N:-100}" "${SEED:-2}"
