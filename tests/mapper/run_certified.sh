#!/usr/bin/env bash
# Random tiny problems: the certificates of their searches hold. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/certified" "${N:-250}" "${SEED:-1}"
