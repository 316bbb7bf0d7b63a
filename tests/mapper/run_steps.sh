#!/usr/bin/env bash
# Random tiny problems with windows of other steps, with gaps, and partly outside of the shape, through the search and through an
# enumeration of all mappings. N= and SEED= for more or others.
exec "${OUT:-build/release}/tests/mapper/exhaustive" -g "${N:-150}" "${SEED:-1}"
