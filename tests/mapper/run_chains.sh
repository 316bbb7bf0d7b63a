#!/usr/bin/env bash
# Random chains of four and five einsums with a tensor that is long alive, in little room. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -c "${N:-24}" "${SEED:-1}"
