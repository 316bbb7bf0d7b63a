#!/usr/bin/env bash
# The search for plans with open schedules, interleaves, recomputed tensors and split homes; run_planner.sh says what is compared.
export WIDE=1 PROBLEMS=${PROBLEMS:-20} SEED=${SEED:-1}
exec bash tests/plan/run_planner.sh
