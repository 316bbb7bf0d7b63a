#!/usr/bin/env bash
# First mappings of single einsums on chips of the library; see first.c. ROW=text runs the rows that contain the text.
set -u
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -F -- "${ROW:-}" tests/mapper/first.tsv >"$work/table"
"${OUT:-build/release}/tests/mapper/first" "$work/table"
