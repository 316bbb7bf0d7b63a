#!/usr/bin/env bash
# Random tiny problems: better machines and other names. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/monotone" "${N:-300}" "${SEED:-3}"
