# Sourced by field.sh and peers.sh.

# key NAME FILE: the first number of a key in a JSON report
key() { sed -n 's/^ *"'"$1"'": \([-0-9.e+]*\),*$/\1/p' "$2" | head -n 1; }
