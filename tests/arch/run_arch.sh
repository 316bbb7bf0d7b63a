#!/usr/bin/env bash
# The rules of the tree that a script can see: who includes whom (layers.txt), sizes, forbidden calls, no mutable
# globals, no leftovers. Each rule is one test; what breaks it is listed. `run_arch.sh --self-test` checks the checks
# on a small tree of violations.
set -u
export LC_ALL=C
root=${ARCH_ROOT:-.}
layers=${ARCH_LAYERS:-tests/arch/layers.txt}
passed=0 failed=0 code=

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

# What the checks of calls look at, of all files: ROOM FILE LINE: text without comments and string literals.
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
        sed -n 's/^room \([^:]*\): */room \1 /p' "$layers"
        sources_of_rooms | sed 's/^/file /'
        sources | (cd "$root" && xargs -r -d '\n' grep -HoE '^[ \t]*#[ \t]*include[ \t]*"[^"]*"' /dev/null) |
            sed 's/^\([^:]*\):.*"\(.*\)"$/include \1 \2/'
    } | awk '
        $1 == "room" { known[$2] = 1; allowed[$2, $2] = 1; for (i = 3; i <= NF; i++) allowed[$2, $i] = 1 }
        $1 == "file" { room[$3] = $2; if (!($2 in known)) print $3 ": room " $2 " is not in layers.txt" }
        $1 != "include" || !(room[$2] in known) { next }
        $3 !~ /\// { print $2 ": \"" $3 "\" is not written from src/"; next }
        { target = $3; sub(/\/[^\/]*$/, "", target) }
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
    printf '%s\n' "$code" | grep -E "(^|[^A-Za-z0-9_])($1)[ ]*\(" | awk -v allowed=" $2 " -v message="$3" '
        index(allowed, " " $1 " ") || index(allowed, " " $2 " ") { next }
        { text = $0; sub(/^[^:]*: */, "", text); print $2 ":" $3 " " message ": " text }'
}

check_sizes() {
    sources | (cd "$root" && xargs -r -d '\n' wc -l /dev/null) | awk '
        $1 == 0 && $2 != "/dev/null" { print $2 ": no line" }
        $2 ~ /\.c$/ && $1 > 1000 { print $2 ": " $1 " lines, the limit is 1000" }
        $2 ~ /\.h$/ && $1 > 150 { print $2 ": " $1 " lines, the limit of a header is 150" }
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
    code=$(all_code)
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
