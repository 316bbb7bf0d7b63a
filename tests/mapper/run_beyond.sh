#!/usr/bin/env bash
# Random tiny problems of several einsums: what is found beyond the space is no worse. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/beyond" "${N:-24}" "${SEED:-1}"
