#!/usr/bin/env bash
# The rules of the tree that a script can see: who includes whom (layers.txt), sizes, forbidden calls, no mutable
# globals, no leftovers. Each rule is one test; what breaks it is listed. `run_arch.sh --self-test` checks the checks
# on a small tree of violations.
set -u
export LC_ALL=C
root=${ARCH_ROOT:-.}
layers=${ARCH_LAYERS:-tests/arch/layers.txt}
passed=0 failed=0

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

words_of() { # words_of 'room diag' -> the words behind the colon
    sed -n "s/^$1: *//p" "$layers" | tr '\n' ' '
}

sources() { # all C files of the rooms, and the grammar, which belongs to the room syntax
    (cd "$root" && find src grammar -name '*.[chly]' 2>/dev/null | sort)
}

room_of() {
    case $1 in
    grammar/*) echo syntax ;;
    src/*/*) room=${1#src/}; echo "${room%%/*}" ;;
    esac
}

# FILE, a line break and its text without comments and string literals are what the checks of calls look at.
code_of() {
    sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's://.*$::' "$root/$1" | awk '
        { line = $0; out = ""
          while (line != "") {
              if (inside) { at = index(line, "*/"); if (!at) break; line = substr(line, at + 2); inside = 0 }
              else { at = index(line, "/*"); if (!at) { out = out line; break }
                     out = out substr(line, 1, at - 1); line = substr(line, at + 2); inside = 1 }
          }
          print FNR ": " out }'
}

check_includes() {
    local file room allowed header target
    while read -r file; do
        room=$(room_of "$file")
        grep -q "^room $room:" "$layers" || { echo "$file: room $room is not in layers.txt"; continue; }
        allowed=" $room $(words_of "room $room") "
        sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$root/$file" | while read -r header; do
            target=${header%%/*}
            case $header in
            */*) ;;
            *) echo "$file: \"$header\" is not written from src/"; continue ;;
            esac
            case $allowed in
            *" $target "*) ;;
            *) echo "$file: room $room may not include \"$header\"" ;;
            esac
        done
    done < <(sources)
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
    # A library header that no line above knows is one that nobody decided on.
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
    local file room
    while read -r file; do
        room=$(room_of "$file")
        case " $2 " in
        *" $room "* | *" $file "*) continue ;;
        esac
        code_of "$file" | grep -E "(^|[^A-Za-z0-9_])($1)[ ]*\(" | sed "s|^\([0-9]*\): *|$file:\1: $3: |"
    done < <(sources)
}

check_sizes() {
    local file lines
    while read -r file; do
        lines=$(wc -l <"$root/$file")
        case $file in
        *.c) [ "$lines" -le 1000 ] || echo "$file: $lines lines, the limit is 1000" ;;
        *.h) [ "$lines" -le 150 ] || echo "$file: $lines lines, the limit of a header is 150" ;;
        *.y) [ "$lines" -le 900 ] || echo "$file: $lines lines, the limit of the grammar is 900" ;;
        esac
    done < <(sources)
}

check_layout() {
    local file guard
    while read -r file; do
        awk -v file="$file" '
            length($0) > (file ~ /^grammar/ ? 150 : 130) { print file ":" FNR ": " length($0) " columns" }
            /\t/ && file ~ /\.[ch]$/ { print file ":" FNR ": tab" }
            /[ \t]$/ { print file ":" FNR ": blank at the end" }' "$root/$file"
        case $file in
        src/*.h)
            head -n 1 "$root/$file" | grep -q '^/\*' || echo "$file: the first line is not a comment"
            guard=$(printf '%s' "${file#src/}" | tr 'a-z/.' 'A-Z__')
            grep -q "^#define DFL_$guard\$" "$root/$file" || echo "$file: the include guard is not DFL_$guard"
            ;;
        esac
    done < <(sources)
}

# Objects in sections that can be written at run time; .data.rel.ro holds constant tables of pointers.
check_globals() {
    local lib=${OUT:-build/release}/libdfl.a
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
    result "rooms include only what they may" "$(check_includes)"
    result "headers of libraries stay in one file" "$(check_libraries)"
    result "nobody prints who must not" \
        "$(check_calls 'printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|putc|perror|fwrite' "$(words_of prints)" prints)"
    result "nobody ends the process who must not" \
        "$(check_calls 'exit|_exit|quick_exit|abort|assert' "$(words_of exits)" 'ends the process')"
    result "no forbidden calls" \
        "$(check_calls 'alloca|strcpy|strcat|sprintf|vsprintf|atoi|atol|atoll|atof|gets|setlocale|rand|srand|system|strtok' '' forbidden)"
    result "memory comes from arenas" \
        "$(check_calls 'malloc|calloc|realloc|strdup|strndup' 'src/support/arena.c cmd' 'not from an arena')"
    result "sizes of files" "$(check_sizes)"
    result "layout of files" "$(check_layout)"
    [ -n "${ARCH_ROOT:-}" ] || result "no mutable globals" "$(check_globals)"
    result "no leftovers" "$(check_leftovers)"
    [ -n "${ARCH_ROOT:-}" ] || result "names at the top level" "$(check_top_level)"
}

# A tree with one violation a rule: each must be found, and a clean file must not.
self_test() {
    local tree out want missed=0
    tree=$(mktemp -d)
    mkdir -p "$tree/src/support" "$tree/src/model" "$tree/src/nowhere"
    printf '#include "sema/sema.h"\n#include "x.h"\n#include <jansson.h>\n#include <zlib.h>\n' >"$tree/src/model/bad.c"
    printf 'void f(void) { printf("x"); exit(1); strcpy(a, b); malloc(1); } \n\t/* TODO */\n' >>"$tree/src/model/bad.c"
    printf '#include "support/a.h"\n/* printf(1) */ void g(void) { my_exit(1); h("printf(2)"); }\n' >"$tree/src/model/good.c"
    printf 'int x;\n' >"$tree/src/support/bad.h"
    printf 'int x;\n' >"$tree/src/nowhere/a.c"
    awk 'BEGIN { for (i = 0; i < 1001; i++) print "" }' >"$tree/src/model/long.c"
    out=$(ARCH_ROOT=$tree bash "$0")
    for want in 'model may not include "sema/sema.h"' '"x.h" is not written from src' '<jansson.h> belongs' '<zlib.h> is not' \
        'bad.c:5: prints' 'bad.c:5: ends the process' 'bad.c:5: forbidden' 'bad.c:5: not from an arena' 'bad.c:6: tab' \
        'bad.c:5: blank at the end' 'long.c: 1001 lines' 'bad.h: the first line' 'bad.h: the include guard' 'TODO' \
        'room nowhere is not'; do
        printf '%s\n' "$out" | grep -qF -- "$want" || { echo "self test: not found: $want"; missed=1; }
    done
    if printf '%s\n' "$out" | grep -q 'good\.c'; then
        echo "self test: a clean file was blamed"
        missed=1
    fi
    rm -rf "$tree"
    return $missed
}

[ -n "${ARCH_ROOT:-}" ] || result "the checks find what they look for" "$(self_test)"
run_all
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
