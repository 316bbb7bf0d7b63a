#!/usr/bin/env bash
# Random tiny problems of several einsums, others than those of run_shared.sh, that find less room for what they exchange. N= and SEED=
# for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -l "${N:-40}" "${SEED:-2}"
