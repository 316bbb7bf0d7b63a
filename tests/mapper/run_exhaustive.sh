#!/usr/bin/env bash
# Random tiny problems: the search against an enumeration of all mappings. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" "${N:-760}" "${SEED:-1}"
