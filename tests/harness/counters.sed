# The counters of a search (`120 evaluated, 32 pruned`; the keys evaluated, pruned and refused of JSON) measure effort,
# not results. Tests that compare reports replace the counters on both sides with this script; tests/bench/effort.sh
# watches the effort. For sed -E.
s/[0-9]+ evaluated, [0-9]+ pruned/N evaluated, M pruned/
s/, [0-9]+ (refused by the model)/, K \1/
s/^( *"(evaluated|pruned|refused)": )[0-9]+/\10/
