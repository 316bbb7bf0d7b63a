#!/usr/bin/env bash
# Random tiny problems of one einsum with written lines: the search against an enumeration of all lines between them.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -p "${N:-250}" "${SEED:-1}"
