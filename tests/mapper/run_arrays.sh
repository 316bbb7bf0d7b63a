#!/usr/bin/env bash
# Random tiny problems with arrays around memories, one inside of another, through the search and through an enumeration of all
# mappings. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -a "${N:-60}" "${SEED:-1}"
