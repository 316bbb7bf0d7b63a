#!/usr/bin/env bash
# Random tiny problems on arrays, with ranks spread as by default: the search against an enumeration of all mappings that this allows.
# N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -d "${N:-120}" "${SEED:-1}"
