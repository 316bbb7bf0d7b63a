#!/usr/bin/env bash
# Certificates of searches with open schedules, interleaves, recomputed tensors and split homes; run_plan_certificate.sh says what
# is compared.
export WIDE=1 PROBLEMS=${PROBLEMS:-10} SEED=${SEED:-3}
exec bash tests/plan/run_plan_certificate.sh
