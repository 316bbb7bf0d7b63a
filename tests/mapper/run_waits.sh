#!/usr/bin/env bash
# Random tiny problems whose work waits for transfers: nothing in an enumeration of all mappings is below the bound of the search,
# or below what it calls optimal. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -t "${N:-200}" "${SEED:-1}"
