#!/usr/bin/env bash
# The rules of the tree that a script can check: who includes and calls whom (layers.txt), no circles of calls, one name
# for one type, sizes, forbidden calls, no mutable globals, no leftovers. Each rule is one test; each violation is
# listed. The first test runs the others on a small tree of violations, where each must be found. If a line `pending` of
# layers.txt names a room, its violations of the rule count as skipped.
set -u
export LC_ALL=C
root=${ARCH_ROOT:-.}
layers=${ARCH_LAYERS:-tests/arch/layers.txt}
out=${OUT:-build/release}
passed=0 failed=0 skipped=0 code= found=

# result NAME FINDINGS: findings are lines; none is a pass.
result() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        printf '%s\n' "$2" | sed 's/^/    /'
    fi
}

# rule NAME KEY: the findings of symbols.pl under a key, without the rooms for which it is pending
rule() {
    local pending=" $(words_of "pending $2") " room count
    for room in $pending; do
        count=$(printf '%s\n' "$found" | grep -c "^$2 $room ")
        if [ "$count" -eq 0 ]; then
            echo "not pending any more, to be taken out of layers.txt: $2 $room"
        else
            skipped=$((skipped + 1))
            echo "skipped: $2 of room $room, findings: $count"
        fi
    done
    result "$1" "$(printf '%s\n' "$found" | awk -v key="$2" -v pending="$pending" '
        $1 == key && !index(pending, " " $2 " ") { print substr($0, length($1) + length($2) + 3) }')"
}

words_of() { # words_of 'room diag' -> the words behind the colon
    sed -n "s/^$1: *//p" "$layers" | tr '\n' ' '
}

sources() { # all C files of the rooms, and the grammar files, which belong to the room syntax
    (cd "$root" && find src grammar -name '*.[chly]' 2>/dev/null | sort)
}

room_of() {
    case $1 in
    grammar/*) echo syntax ;;
    src/*/*) room=${1#src/}; echo "${room%/*}" ;;
    esac
}

# ROOM FILE, of all files; room - is none.
sources_of_rooms() {
    local file room
    sources | while read -r file; do
        room=$(room_of "$file")
        printf '%s %s\n' "${room:--}" "$file"
    done
}

# The input of the checks of calls: for all files, lines `ROOM FILE LINE: text` without comments and string literals.
all_code() {
    sources_of_rooms | (cd "$root" && awk '
        { room = $1; file = $2; number = inside = 0
          while ((getline line < file) > 0) {
              out = ""
              gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
              sub(/\/\/.*$/, "", line)
              while (line != "") {
                  if (inside) { at = index(line, "*/"); if (!at) break; line = substr(line, at + 2); inside = 0 }
                  else { at = index(line, "/*"); if (!at) { out = out line; break }
                         out = out substr(line, 1, at - 1); line = substr(line, at + 2); inside = 1 }
              }
              if (out != "") print room, file, ++number ": " out; else number++
          }
          close(file) }')
}

check_includes() {
    {
        sed -n -e 's/^room \([^:]*\): */room \1 /p' -e 's/^face \([^:]*\): */face \1 /p' "$layers"
        sources_of_rooms | sed 's/^/file /'
        sources | (cd "$root" && xargs -r -d '\n' grep -HoE '^[ \t]*#[ \t]*include[ \t]*"[^"]*"' /dev/null) |
            sed 's/^\([^:]*\):.*"\(.*\)"$/include \1 \2/'
    } | awk '
        $1 == "room" { known[$2] = 1; allowed[$2, $2] = 1; for (i = 3; i <= NF; i++) allowed[$2, $i] = 1 }
        $1 == "face" { faced[$2] = 1; for (i = 3; i <= NF; i++) shown[$i] = 1 }
        $1 == "file" { room[$3] = $2; if (!($2 in known)) print $3 ": room " $2 " is not in layers.txt" }
        $1 != "include" || !(room[$2] in known) { next }
        $3 !~ /\// { print $2 ": \"" $3 "\" is not written from src/"; next }
        { target = $3; sub(/\/[^\/]*$/, "", target) }
        target in faced && target != room[$2] && index(room[$2], target "/") != 1 && !($3 in shown) { print $2 ": \"" $3 "\" is not of the face of room " target }
        !((room[$2], target) in allowed) { print $2 ": room " room[$2] " may not include \"" $3 "\"" }'
}

check_libraries() {
    local header files file
    sed -n 's/^only \([^:]*\): *\(.*\)/\1 \2/p' "$layers" | while read -r header files; do
        (cd "$root" && grep -rlE "^[ \t]*#[ \t]*include[ \t]*[<\"]$header[>\"]" src grammar include 2>/dev/null) | sort |
            while read -r file; do
                case " $files " in
                *" $file "*) ;;
                *) echo "$file: <$header> belongs into $files" ;;
                esac
            done
    done
    # Every library header needs a line `only` in layers.txt.
    (cd "$root" && grep -rHoE '^[ \t]*#[ \t]*include[ \t]*<[^>]*>' src grammar include 2>/dev/null) |
        sed 's/:.*</ /; s/>$//' | sort -u | while read -r file header; do
            case " assert.h ctype.h dirent.h errno.h fcntl.h float.h getopt.h inttypes.h limits.h math.h poll.h setjmp.h \
signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h \
sys/mman.h sys/resource.h sys/stat.h sys/time.h sys/types.h sys/wait.h time.h unistd.h $(sed -n 's/^only \([^:]*\):.*/\1/p' "$layers" | tr '\n' ' ')" in
            *" $header "*) ;;
            *) echo "$file: <$header> is not in layers.txt" ;;
            esac
        done
}

# calls PATTERN ALLOWED MESSAGE: calls of functions that match, outside the allowed rooms and files
check_calls() {
    printf '%s\n' "$code" | grep -E "(^|[^A-Za-z0-9_])($1)[ ]*\(" | awk -v allowed=" $2 " -v message="$3" '
        index(allowed, " " $1 " ") || index(allowed, " " $2 " ") { next }
        { text = $0; sub(/^[^:]*: */, "", text); print $2 ":" $3 " " message ": " text }'
}

check_sizes() {
    sources | (cd "$root" && xargs -r -d '\n' wc -l /dev/null) | awk '
        $1 == 0 && $2 != "/dev/null" { print $2 ": no line" }
        $2 ~ /\.c$/ && $1 > 1000 { print $2 ": " $1 " lines, the limit is 1000" }
        $2 ~ /\.h$/ && $1 > 300 { print $2 ": " $1 " lines, the limit of a header is 300" }
        $2 ~ /\.y$/ && $1 > 900 { print $2 ": " $1 " lines, the limit of the grammar is 900" }'
}

check_layout() {
    sources | (cd "$root" && xargs -r -d '\n' awk '
        function end_of_header() { if (guard != "" && !guarded) print last ": the include guard is not DFL_" guard }
        FNR == 1 {
            end_of_header()
            last = FILENAME
            guard = guarded = ""
            if (FILENAME ~ /^src\/.*\.h$/) {
                guard = toupper(substr(FILENAME, 5))
                gsub(/[\/.]/, "_", guard)
                if ($0 !~ /^\/\*/) print FILENAME ": the first line is not a comment"
            }
        }
        guard != "" && $0 == "#define DFL_" guard { guarded = 1 }
        length($0) > (FILENAME ~ /^grammar/ ? 150 : 130) { print FILENAME ":" FNR ": " length($0) " columns" }
        /\t/ && FILENAME ~ /\.[ch]$/ { print FILENAME ":" FNR ": tab" }
        /[ \t]$/ { print FILENAME ":" FNR ": blank at the end" }
        END { end_of_header() }' /dev/null)
}

# Objects in sections that can be written at run time; .data.rel.ro holds constant tables of pointers.
check_globals() {
    local lib=$out/libdfl.a
    [ -f "$lib" ] || { echo "$lib is missing"; return; }
    objdump -t "$lib" | awk '
        /^[A-Za-z0-9_.-]+\.o:/ { object = $1 }
        $0 ~ /[ \t]O[ \t]/ && $0 ~ /[ \t](\.data|\.bss|\.tdata|\.tbss|\.data\.rel|\.data\.rel\.local|\*COM\*)[ \t]/ {
            print object " " $NF " can be written: no globals" }' |
        grep -v ' __gcov\| __asan\| __odr_asan\| __llvm\| __tsan' | sort -u
}

check_leftovers() {
    (cd "$root" && find Makefile README.md grammar src include examples stdlib tests editors .ci -type f 2>/dev/null |
        grep -v '^tests/arch/run_arch.sh$\|^tests/import/.*\.m$\|^tests/.*/seeds/\|^tests/.*/regressions/' | sort |
        xargs -r -d '\n' grep -InE '\<(TODO|FIXME|XXX|HACK)\>|[Nn]ot implemented|[Nn]ot yet implemented|\<for now\>' /dev/null)
    (cd "$root" && grep -rnE '__DATE__|__TIME__|__TIMESTAMP__' src grammar include 2>/dev/null)
}

check_top_level() {
    local names
    names=$(cd "$root" && git ls-files --cached --others --exclude-standard 2>/dev/null) || names=$(ls "$root")
    printf '%s\n' "$names" | sed 's:/.*::' | sort -u |
        grep -vE '^(Makefile|README\.md|grammar|src|include|examples|stdlib|tests|editors|\..*|build.*)$' |
        sed 's/$/: not one of the names of the top level/'
}

run_all() {
    code=$(all_code)
    found=$(perl tests/arch/symbols.pl "$root" "$out/obj" <"$layers" 2>&1 || echo "calls - symbols.pl failed")
    result "rooms include only what they may" "$(check_includes)"
    rule "rooms use only what they may" calls
    rule "no circles of calls" circles
    rule "X.h declares what X.c defines" declared
    rule "rooms with a face are used through it" face
    rule "one name for one type" types
    result "headers of libraries stay in one file" "$(check_libraries)"
    result "nobody prints who must not" \
        "$(check_calls 'printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|putc|perror|fwrite' "$(words_of prints)" prints)"
    result "nobody ends the process who must not" \
        "$(check_calls 'exit|_exit|quick_exit|abort|assert' "$(words_of exits)" 'ends the process')"
    result "no forbidden calls" \
        "$(check_calls 'alloca|strcpy|strcat|sprintf|vsprintf|atoi|atol|atoll|atof|gets|setlocale|rand|srand|system|strtok' '' forbidden)"
    result "memory comes from arenas" \
        "$(check_calls 'malloc|calloc|realloc|strdup|strndup' 'src/support/arena.c src/support/blocks.c cmd' 'not from an arena')"
    result "sizes of files" "$(check_sizes)"
    result "layout of files" "$(check_layout)"
    [ -n "${ARCH_ROOT:-}" ] || result "no mutable globals" "$(check_globals)"
    result "no leftovers" "$(check_leftovers)"
    [ -n "${ARCH_ROOT:-}" ] || result "names at the top level" "$(check_top_level)"
}

# A tree with one violation per rule: the checks must find each of them and must not report a clean file.
self_test() {
    local tree out_of_tree want missed=0 file compiler
    tree=$(mktemp -d)
    mkdir -p "$tree/src/support" "$tree/src/model/sets" "$tree/src/nowhere" "$tree/src/ir" "$tree/src/diag"
    printf '#include "model/sets/good.h"\n' >"$tree/src/model/past.c"
    printf '#include "sema/sema.h"\n#include "x.h"\n#include <jansson.h>\n#include <zlib.h>\n' >"$tree/src/model/bad.c"
    printf 'void f(void) { printf("x"); exit(1); strcpy(a, b); malloc(1); } \n\t/* TODO */\n' >>"$tree/src/model/bad.c"
    printf '#include "support/a.h"\n/* printf(1) */ void g(void) { my_exit(1); h("printf(2)"); }\n' >"$tree/src/model/good.c"
    printf 'int x;\n' >"$tree/src/support/bad.h"
    printf 'int x;\n' >"$tree/src/nowhere/a.c"
    awk 'BEGIN { for (i = 0; i < 1001; i++) print "" }' >"$tree/src/model/long.c"
    awk 'BEGIN { for (i = 0; i < 301; i++) print "" }' >"$tree/src/model/long.h"
    # Calls: ir calls up into model/sets past its face, first and second call each other, nobody declares dfl_second or dfl_pended.
    printf 'int dfl_up(void); int dfl_low(void); int dfl_low(void) { return dfl_up(); }\n' >"$tree/src/ir/low.c"
    printf '/* x */\nint dfl_low(void);\n' >"$tree/src/ir/ir_internal.h"
    printf 'int dfl_up(void); int dfl_up(void) { return 1; }\n' >"$tree/src/model/sets/good.c"
    printf '/* x */\nint dfl_up(void);\n' >"$tree/src/model/sets/good.h"
    printf '/* x */\n' >"$tree/src/model/sets/sets.h"
    printf 'int dfl_second(void); int dfl_first(void); int dfl_first(void) { return dfl_second(); }\n' >"$tree/src/ir/first.c"
    printf '/* x */\nint dfl_first(void);\n' >"$tree/src/ir/first.h"
    printf 'int dfl_second(void); int dfl_first(void); int dfl_second(void) { return dfl_first(); }\n' >"$tree/src/ir/second.c"
    printf '/* int dfl_second(void); */\n' >"$tree/src/ir/second.h"
    printf 'int dfl_pended(void); int dfl_pended(void) { return 1; }\n' >"$tree/src/diag/late.c"
    # Types: four pairs of one name; a declaration of a struct that is defined elsewhere is none.
    printf 'typedef struct { struct dfl_inner { int a; } b; } dfl_one;\nenum dfl_two { DFL_A };\n' >"$tree/src/ir/types.h"
    printf 'typedef int (*dfl_three)(void);\ntypedef struct dfl_fine dfl_fine;\nstruct dfl_inner { int a; };\n' >"$tree/src/ir/more.h"
    printf 'struct dfl_one { int a; };\ntypedef struct dfl_two { int a; } dfl_other;\n' >"$tree/src/diag/types.h"
    printf 'typedef int dfl_three(void);\nstruct dfl_fine { int a; };\nstruct own { int a; };\n' >"$tree/src/diag/more.c"
    { grep -v '^pending' "$layers"; echo 'face model/sets: model/sets/sets.h'; echo 'pending declared: diag'; } >"$tree/layers.txt"
    read -r -a compiler <<<"${CC:-cc}" # perhaps with words before it, as in `ccache gcc`
    for file in ir/low ir/first ir/second model/sets/good diag/late; do
        mkdir -p "$tree/out/obj/src/${file%/*}"
        "${compiler[@]}" -c "$tree/src/$file.c" -o "$tree/out/obj/src/$file.o" || missed=1
    done
    out_of_tree=$(ARCH_ROOT=$tree ARCH_LAYERS=$tree/layers.txt OUT=$tree/out bash "$0")
    for want in 'model may not include "sema/sema.h"' '"x.h" is not written from src' '<jansson.h> belongs' '<zlib.h> is not' \
        'bad.c:5: prints' 'bad.c:5: ends the process' 'bad.c:5: forbidden' 'bad.c:5: not from an arena' 'bad.c:6: tab' \
        'bad.c:5: blank at the end' 'long.c: 1001 lines' 'long.h: 301 lines' 'bad.h: the first line' 'bad.h: the include guard' \
        'past.c: "model/sets/good.h" is not of the face of room model/sets' 'TODO' \
        'room nowhere is not' 'ir/low.c: room ir may not use src/model/sets/good.c: dfl_up' \
        '2 files: src/ir/first.c src/ir/second.c' 'src/ir/first.c uses src/ir/second.c: dfl_second' \
        'ir/second.c: dfl_second is not declared in second.h' 'dfl_up is used by src/ir/low.c, and not declared in model/sets/sets.h' \
        'dfl_inner is a type of src/ir/more.h, src/ir/types.h' 'dfl_one is a type of src/diag/types.h, src/ir/types.h' \
        'dfl_two is a type of' 'dfl_three is a type of src/diag/more.c, src/ir/more.h' 'skipped: declared of room diag'; do
        printf '%s\n' "$out_of_tree" | grep -qF -- "$want" || { echo "self test: not found: $want"; missed=1; }
    done
    for want in '/good\.c: ' 'dfl_first is not' 'dfl_low is not' 'dfl_pended' 'dfl_fine' '\<own\>' 'dfl_other'; do
        if printf '%s\n' "$out_of_tree" | grep "$want" | grep -v 'is used by\|may not use'; then
            echo "self test: blamed without a reason: $want"
            missed=1
        fi
    done
    rm -rf "$tree"
    return $missed
}

[ -n "${ARCH_ROOT:-}" ] || result "the checks find what they look for" "$(self_test 2>&1)"
run_all
printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
echo
[ "$failed" -eq 0 ]
