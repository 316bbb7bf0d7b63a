# The time of the step in s, and the memory `hbm` of the first stage in bytes: weights, gradients, moments, activations with
# working values, peak. Reads the report of a plan in JSON, one key in a line; prints nothing without a plan.
function value(line) { sub(/^[^:]*: */, "", line); sub(/,$/, "", line); return line + 0 }
/"seconds":/ && time == "" { time = value($0) }
/"stage": 0,/ { inside = 1 }
inside && /"hbm":/ { memory = 1 }
memory && /"[a-z_]*": [0-9]/ { key = $0; sub(/^[^"]*"/, "", key); sub(/".*/, "", key); got[key] = value($0) }
memory && /\}/ { exit }
END {
    if (memory) printf "%.17g %.0f %.0f %.0f %.0f %.0f\n", time, got["weights"] / 8, got["gradients"] / 8, got["moments"] / 8,
        (got["activations"] + got["working"]) / 8, got["peak_bits"] / 8
}
