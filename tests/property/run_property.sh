#!/usr/bin/env bash
# Random cases through oracle and model; PROPERTY_CASES and PROPERTY_SEED choose others.
set -u
exec "${OUT:-build/release}/tests/property/property" "${PROPERTY_CASES:-3000}" "${PROPERTY_SEED:-1}"
