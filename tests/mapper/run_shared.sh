#!/usr/bin/env bash
# Random tiny problems of several einsums, with all ways to share loops. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -s "${N:-60}" "${SEED:-1}"
