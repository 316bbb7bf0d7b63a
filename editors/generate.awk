# awk -f generate.awk keywords.def units.def dfl.y TEMPLATE: writes the template with its marks replaced.
#
#   @CLASS@   words of the class that are never names; classes: DECLARATION WORKLOAD SYSTEM MAPPING CHECK WORD MODIFIER
#   @PREFIX@  words that may be names, but stand before a name or a value when they are words of the language
#   @INFIX@   words that may be names, but stand between two values
#   @POSTFIX@ words that may be names, but stand behind a value
#   @BETWEEN@ words that are never names and can stand right behind a name
#   @DECLARES@ words that stand before the name of a declaration
#   @PREFIXED_SI@ @PREFIXED_BIG@ @PREFIXED_BINARY@ @PREFIXED_NO@   units, by the prefixes that they take
#   @DICTIONARY@ one line `"word"` for each word, unit and symbol, the format of fuzz dictionaries
#
# Blanks separate the words. In @CLASS|@ bars separate the words, as alternatives of a pattern; in @CLASS"@ the words stand in
# quotes. `make editors` runs it for every file in editors/templates.

function add(set, word, pattern) {
    pattern = word
    sub(/%/, "[%]", pattern)
    join(set, word, " ")
    join(set "|", pattern, "|")
    join(set "\"", "\"" word "\"", " ")
}

function join(set, word, between) {
    list[set] = list[set] (list[set] == "" ? "" : between) word
}

function field(text, n,   parts) {
    sub(/^[A-Z_]+\(/, "", text)
    split(text, parts, /[ \t]*,[ \t]*/)
    gsub(/[")]/, "", parts[n])
    return parts[n]
}

function dictionary(   i) {
    for (i = 1; i <= n_words; i++)
        printf "\"%s\"\n", word[i]
    for (i = 1; i <= n_units; i++)
        printf "\"1%s\"\n", unit[i]
}

function sort_words(   i, set) {
    for (i = 1; i <= n_words; i++) {
        set = class[i] == "WORD" ? "INFIX" : class[i] == "MODIFIER" ? "POSTFIX" : "PREFIX"
        add(token[i] in name ? set : class[i], word[i])
        if (!(token[i] in name) && (class[i] == "WORD" || token[i] ~ /^(WHERE|PIPELINE)$/))
            add("BETWEEN", word[i])
        if (token[i] ~ /^(WORKLOAD|SYSTEM|MAPPING|SWEEP|OP|PARAM|LET|OPTION|MEMORY|COMPUTE|NETWORK|ELEMENT)$/)
            add("DECLARES", word[i])
    }
    for (i = 1; i <= n_units; i++)
        add("PREFIXED_" prefixes[i], unit[i])
}

FNR == 1 { file++ }

file == 1 && /^DFL_KEYWORD\(/ {
    word[++n_words] = field($0, 1); token[n_words] = field($0, 2); class[n_words] = field($0, 3)
}

file == 2 && /^DFL_UNIT\(/ { unit[++n_units] = field($0, 1); prefixes[n_units] = field($0, 2) }

# The rule `word` of the grammar: its alternatives up to `;`.
file == 3 && /^word:/ { in_name = 1 }
file == 3 && in_name {
    for (i = 1; i <= NF; i++)
        name[$i] = 1
    if (/;/)
        in_name = 0
}

file == 4 && FNR == 1 { sort_words() }
file == 4 {
    if ($0 == "@DICTIONARY@") {
        dictionary()
        next
    }
    while (match($0, /@[A-Z_]+[|"]?@/)) {
        mark = substr($0, RSTART + 1, RLENGTH - 2)
        if (list[mark] == "") {
            print FILENAME ":" FNR ": no words for @" mark "@" > "/dev/stderr"
            exit 1
        }
        $0 = substr($0, 1, RSTART - 1) list[mark] substr($0, RSTART + RLENGTH)
    }
    print
}
