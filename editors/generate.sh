#!/bin/sh
# generate.sh DIRECTORY: makes the files of the editors and the dictionary of the fuzzers from the tables of the grammar, and
# writes them under DIRECTORY with their paths of the tree. `make editors` writes them to the tree itself.
set -eu
export LC_ALL=C
into=${1:-.}
make_file() {
    mkdir -p "$into/$(dirname "$2")"
    awk -f editors/generate.awk grammar/keywords.def grammar/units.def grammar/dfl.y "editors/templates/$1" >"$into/$2.new"
    mv "$into/$2.new" "$into/$2"
}
make_file dfl.tmLanguage.json editors/vscode/syntaxes/dfl.tmLanguage.json
make_file dfl.vim editors/vim/syntax/dfl.vim
make_file dfl-mode.el editors/emacs/dfl-mode.el
make_file dfl.dict tests/fuzz/dfl.dict
