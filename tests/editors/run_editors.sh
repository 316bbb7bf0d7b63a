#!/usr/bin/env bash
# Tests of the editor files. The files of the tree must equal the output of `make editors`. Each editor colours each
# line of colours.txt as stated there. The TextMate grammar runs in an engine of the test; Vim and Emacs run without a
# window. If an editor is not installed, its tests are skipped, one for each line.
set -u
export LC_ALL=C
tests=tests/editors
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# result NAME FINDINGS: none is a pass
result() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        printf '%s\n' "$2" | head -n 40 | sed 's/^/    /'
    fi
}

# compare EDITOR LETTERS: one test for every line of DFL
compare() {
    local editor=$1 n=0 want got code bad i
    while IFS= read -r want; do
        n=$((n + 1))
        IFS= read -r got <&3 || got=
        code=$(sed -n "${n}p" "$work/text.dfl")
        bad=
        for ((i = 0; i < ${#code}; i++)); do
            [ "${code:i:1}" = ' ' ] || [ "${want:i:1}" = "${got:i:1}" ] || bad=1
        done
        result "$editor: line $n" "${bad:+"$(printf 'text %s\nwant %s\ngot  %s' "$code" "$want" "$got")"}"
    done <"$work/want" 3<"$2"
}

# ---- drift ----
sh editors/generate.sh "$work/made"
for file in $(cd "$work/made" && find . -type f | sort); do
    result "$file is what \`make editors\` makes" "$(diff -u "$file" "$work/made/$file" 2>&1)"
done

# ---- the text and what is wanted ----
sed -n 's/^> //p' "$tests/colours.txt" >"$work/text.dfl"
sed -n 's/^| //p' "$tests/colours.txt" >"$work/want"
lines=$(wc -l <"$work/text.dfl")
result "a line of letters for every line of DFL" \
    "$([ "$lines" -gt 20 ] && [ "$(wc -l <"$work/want")" -eq "$lines" ] || echo "$lines lines")"
if [ -x "${DFLC:=build/dflc}" ]; then
    # One unit of the text does not exist; nothing else is wrong with its syntax.
    result "the text is DFL" "$("$DFLC" dump ast "$work/text.dfl" 2>&1 >/dev/null; "$DFLC" fmt "$work/text.dfl" 2>&1 >/dev/null)"
fi

# ---- the editors ----
hard=" $(echo '@DECLARATION@ @WORKLOAD@ @SYSTEM@ @MAPPING@ @CHECK@ @WORD@' |
    awk -f editors/generate.awk grammar/keywords.def grammar/units.def grammar/dfl.y -) "
for file in editors/vscode/package.json editors/vscode/language-configuration.json editors/vscode/syntaxes/dfl.tmLanguage.json; do
    result "$file is JSON" "$(perl "$tests/textmate.pl" "$file" --only-json 2>&1)"
done
for path in $(sed -n 's/.*": "\.\/\([^"]*\)".*/\1/p' editors/vscode/package.json); do
    result "package.json names a file: $path" "$([ -f "editors/vscode/$path" ] || echo "$path is missing")"
done
perl "$tests/textmate.pl" editors/vscode/syntaxes/dfl.tmLanguage.json <"$work/text.dfl" >"$work/textmate" 2>"$work/said"
result "TextMate: no complaint" "$(cat "$work/said")"
compare TextMate "$work/textmate"

# All files of the tree: words of the language that are never names, names, numbers and strings by the lexer's opinion.
for file in examples/*.dfl $(find stdlib -name '*.dfl' | sort); do
    [ -x "$DFLC" ] || { skipped=$((skipped + 1)); continue; }
    "$DFLC" dump tokens "$file" >"$work/tokens"
    perl "$tests/textmate.pl" editors/vscode/syntaxes/dfl.tmLanguage.json <"$file" >"$work/letters" 2>&1
    result "TextMate: $file" "$(awk -v hard="$hard" '
        FNR == NR { letters[FNR] = $0; next }
        { split($1, at, /[:-]/); text = $3; gsub(/"/, "", text); got = substr(letters[at[1]], at[2], 1) }
        $2 == "name" && got != "." && got != "d" ||
        $2 == "keyword" && index(hard, " " text " ") && got != "k" || $2 == "number" && got != "n" ||
        $2 == "quantity" && got != "n" || $2 == "string" && got != "s" || $2 == "symbol" && got != "." {
            print "line " at[1] ", column " at[2] ": " $2 " " text " is shown as " got }' "$work/letters" "$work/tokens")"
done

if command -v vim >/dev/null && vim -es -u NONE -c 'if !has("syntax") | cquit | endif' -c 'qall!' </dev/null; then
    LETTERS=$work/vim timeout -k 5 60 vim -es -N -u NONE -i NONE --cmd "set runtimepath=editors/vim,\$VIMRUNTIME" \
        -c 'filetype plugin on' -c 'syntax on' -c "edit $work/text.dfl" -c "source $tests/colours.vim" \
        -c "call writefile([&filetype, &shiftwidth, &commentstring], '$work/options')" -c 'qall!' </dev/null >"$work/said" 2>&1
    result "Vim: type, indentation and comments" "$(printf 'dfl\n4\n// %%s\n' | diff - "$work/options" 2>&1)"
    compare Vim "$work/vim"
else
    skipped=$((skipped + lines + 1))
fi

if command -v emacs >/dev/null; then
    TEXT=$work/text.dfl timeout -k 5 100 emacs -Q --batch -L editors/emacs -l "$tests/colours.el" >"$work/emacs" 2>"$work/said"
    result "Emacs: no complaint" "$(cat "$work/said")"
    compare Emacs "$work/emacs"
else
    skipped=$((skipped + lines + 1))
fi

echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
