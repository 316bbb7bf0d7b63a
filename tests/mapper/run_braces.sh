#!/usr/bin/env bash
# Random tiny problems of two or three einsums with written branches: the search against an enumeration of all lines in their braces.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -b "${N:-250}" "${SEED:-1}"
