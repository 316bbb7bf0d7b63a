#!/usr/bin/env bash
# Seeds the faults of the file `mutants` into src, one at a time, and runs the tests that should find them, the quickest
# first: random cases against the oracle, unit tests of the model and the oracle, goldens, examples, the library. A fault
# fails if no test finds it, if its text does not stand exactly once in its file, or if it does not compile. The changed
# file is compiled outside of the build and linked before the library, so that it replaces the file of the library; the
# tree does not change.
#
# BUILD, OUT, DFLC as the Makefile says; JOBS at once; ONLY=room.c takes the faults of one file, ONLY=mapper/ those of a
# directory, WHY=text those whose description contains the text; CASES random cases.
set -u
export LC_ALL=C NO_COLOR=1 DFL_STDLIB=stdlib
export BUILD=${BUILD:-build} CASES=${CASES:-10000}
export OUT=${OUT:-$BUILD/release} DFLC=${DFLC:-$BUILD/dflc}
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 1)}
list=tests/property/mutants
export work=$BUILD/mutate
rm -rf "$work"
mkdir -p "$work"

# The flags of the build: what compiles, and behind the bar what links.
compile=$(sed 's/ | .*//' "$OUT/flags")
link="${compile%% -*} $(sed 's/.* | //' "$OUT/flags")"
libs=$(sed 's/.* | //' "$OUT/flags" | grep -o -- ' -l[^ ]*' | tr -d '\n')
export compile link libs

# One directory per fault: file, why, old, new.
awk -v work="$work" '
    function begin() { dir = sprintf("%s/%03d", work, ++n); system("mkdir " dir) }
    function put(name, text) { printf "%s", text > (dir "/" name); close(dir "/" name) }
    /^#/ || /^$/ { next }
    /^in ([a-z]+\/)+[a-z_]+\.c: / { begin(); put("file", substr($2, 1, length($2) - 1)); sub(/^in [^ ]+ /, ""); put("why", $0); next }
    /^- / { put("old", substr($0, 3)); next }
    /^\+ / { put("new", substr($0, 3)); next }
    { printf "%s:%d: not understood: %s\n", FILENAME, FNR, $0; bad = 1 }
    END { exit bad || n == 0 }' "$list" || { echo "0 passed, 1 failed"; exit 1; }

# Puts `new` where `old` stands; fails unless that is one place.
change() { # change DIR
    awk -v RS='\001' -v dir="$1" '
        { text = $0 }
        END {
            getline old < (dir "/old")
            if ((getline new < (dir "/new")) <= 0) new = ""
            at = index(text, old)
            rest = substr(text, at + length(old))
            if (!at || index(rest, old)) exit 1
            printf "%s%s%s", substr(text, 1, at - 1), new, rest
        }' "src/$(cat "$1/file")" >"$1/changed.c"
}

program() { # program DIR NAME OBJECTS: links a program with the changed file
    local dir=$1 name=$2
    shift 2
    eval "$link" "$@" "$dir/changed.o" "$OUT/libdfl.a" -lcmocka "$libs" -o "$dir/$name" 2>>"$dir/log"
}

# Unit tests that are quicker than random cases, by the room of the changed file.
unit_tests() { # unit_tests DIR
    case $(cat "$1/file") in
    model/counts/link_loads.c | model/counts/link_places.c) echo "$OUT/obj/tests/unit/model/test_link_loads.o" ;;
    ir/workload.c) echo "$OUT/obj/tests/unit/ir/test_iterations.o" ;;
    mapper/branches/*) echo "$OUT/obj/tests/unit/mapper/test_branches.o" ;;
    mapper/tiling/form_program.c) echo "$OUT"/obj/tests/unit/mapper/test_{form_program,matched_tiles,exchange_bound}.o ;;
    mapper/program/*) echo "$OUT/obj/tests/unit/mapper/test_geometric.o" ;;
    mapper/sizes/*) echo "$OUT/obj/tests/unit/mapper/test_holes.o" ;;
    mapper/nests/* | mapper/problem/floor.c) echo "$OUT/obj/tests/unit/mapper/test_nests.o" ;;
    mapper/first/*) echo "$OUT/obj/tests/unit/mapper/test_first.o" ;;
    mapper/divisors/shared_loops.c) echo "$OUT/obj/tests/unit/mapper/test_space.o" ;;
    mapper/join/lines.c) echo "$OUT/obj/tests/unit/mapper/test_lines.o" ;;
    mapper/join/skeleton_tree.c | mapper/join/part_cells.c | mapper/join/pattern_*)
        echo "$OUT"/obj/tests/unit/mapper/test_{skeleton_tree,exchange_bound,matched_tiles}.o ;;
    mapper/join/first_tiles.c) echo "$OUT/obj/tests/unit/mapper/test_first_tiles.o" ;;
    mapper/join/*) echo "$OUT/obj/tests/unit/mapper/test_exchange_bound.o" ;;
    mapper/tiling/loose_form.c) echo "$OUT"/obj/tests/unit/mapper/test_{family,uneven,skeleton_tree}.o ;;
    mapper/tiling/*) echo "$OUT"/obj/tests/unit/mapper/test_{chains,merged_axes,boxes,forms,ramps,tiling,uneven}.o ;;
    support/memo.c) echo "$OUT/obj/tests/unit/support/test_memo.o" ;;
    solve/own_system.c) echo "$OUT/obj/tests/unit/solve/test_own_system.o" ;;
    solve/proof_status.c) echo "$OUT/obj/tests/unit/solve/test_proof_status.o" ;;
    groups/groups.c) echo "$OUT/obj/tests/unit/groups/test_groups.o" ;;
    collective/*) echo "$OUT/obj/tests/unit/collective/test_collective.o $OUT/obj/tests/unit/collective/test_closed_forms.o" ;;
    plan/exchange/exchange_groups.c) echo "$OUT/obj/tests/unit/plan/test_exchange_groups.o" ;;
    plan/pass/group_space.c) echo "$OUT/obj/tests/unit/plan/test_group_space.o" ;;
    plan/memory/flight.c) echo "$OUT/obj/tests/unit/plan/test_flight.o" ;;
    plan/layout/largest.c) echo "$OUT/obj/tests/unit/plan/test_largest.o" ;;
    pipeline/*) echo "$OUT/obj/tests/unit/pipeline/test_pipeline.o" ;;
    train/*) echo "$OUT/obj/tests/unit/train/test_derivation.o" ;;
    esac
}

# Prints the test that found the fault; fails if no test did.
find_fault() { # find_fault DIR
    local dir=$1 test name
    for test in $(unit_tests "$dir"); do
        name=$(basename "$test" .o)
        program "$dir" "$name" "$test" "$OUT"/obj/tests/property/case_*.o "$OUT"/obj/tests/harness/*.o || { echo LINK; return 0; }
        CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 1 100 "$dir/$name" >"$dir/out" 2>>"$dir/log" ||
            { echo "unit: $(sed -n 's/^not ok [0-9]* - //p' "$dir/out" | head -n 1)"; return 0; }
    done
    case $(cat "$dir/file") in
    plan/exchange/*.c | plan/layout/*.c | plan/memory/*.c | plan/kinds.c | plan/pass/iterations.c)
        program "$dir" dflc "$OUT"/obj/src/cmd/*.o || { echo LINK; return 0; }
        DFLC=$dir/dflc timeout -k 1 300 bash tests/plan/run_prove.sh >"$dir/out" 2>>"$dir/log" ||
            { echo "plans: $(grep -m 1 -o 'error.*' "$dir/out" | cut -c 1-90)"; return 0; } ;;
    esac
    case $(cat "$dir/file") in
    solve/plan_* | certify/plan* | plan/floor.c | ir/decisions.c)
        program "$dir" dflc "$OUT"/obj/src/cmd/*.o || { echo LINK; return 0; }
        for test in run_decisions run_fronts run_decisions_certificate; do
            DFLC=$dir/dflc timeout -k 1 300 bash tests/plan/$test.sh >"$dir/out" 2>>"$dir/log" ||
                { echo "plans: $(grep -m 1 FAILED "$dir/out" | cut -c 1-90)"; return 0; }
        done ;;
    esac
    case $(cat "$dir/file") in
    certify/plan*)
        DFLC=$dir/dflc ROW=certificate timeout -k 1 300 bash tests/cli/run_cli.sh >"$dir/out" 2>>"$dir/log" ||
            { echo "certificates: $(grep -m 1 FAILED "$dir/out" | cut -c 1-90)"; return 0; } ;;
    esac
    program "$dir" property "$OUT/obj/tests/property/property.o" "$OUT"/obj/tests/property/case_*.o \
        "$OUT"/obj/tests/harness/*.o || { echo "LINK"; return 0; }
    timeout -k 1 300 "$dir/property" --quick "$CASES" >"$dir/out" 2>>"$dir/log" ||
        { echo "random: $(sed -n 's/^case \([0-9]*\) of seed 1: /case \1, /p' "$dir/out" | cut -c 1-90)"; return 0; }
    for test in "$OUT"/obj/tests/unit/model/test_*.o "$OUT"/obj/tests/unit/oracle/test_*.o; do
        [ -f "$test" ] || continue
        name=$(basename "$test" .o)
        program "$dir" "$name" "$test" "$OUT"/obj/tests/property/case_*.o "$OUT"/obj/tests/harness/*.o || { echo LINK; return 0; }
        CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 1 100 "$dir/$name" >"$dir/out" 2>>"$dir/log" ||
            { echo "unit: $(sed -n 's/^not ok [0-9]* - //p' "$dir/out" | head -n 1)"; return 0; }
    done
    program "$dir" dflc "$OUT"/obj/src/cmd/*.o || { echo LINK; return 0; }
    for test in tests/golden/run_golden.sh tests/examples/run_examples.sh tests/stdlib/run_library.sh tests/stdlib/run_proofs.sh; do
        DFLC=$dir/dflc timeout -k 1 300 bash "$test" >"$dir/out" 2>>"$dir/log" ||
            { echo "$(basename "$test" .sh | sed 's/run_//'): $(sed -n 's/^FAILED: //p' "$dir/out" | head -n 1)"; return 0; }
    done
    return 1
}

run_one() { # run_one DIR: tests one fault and writes its line of the report to DIR/result
    local dir=$1 file found
    file=$(cat "$dir/file")
    if ! change "$dir"; then
        echo "STALE     $file: \`$(cat "$dir/old")\` does not stand exactly once" >"$dir/result"
    elif ! eval "$compile" -w -c "$dir/changed.c" -o "$dir/changed.o" 2>"$dir/log"; then
        echo "BROKEN    $file: $(cat "$dir/why"): $(grep -m 1 error "$dir/log")" >"$dir/result"
    elif ! found=$(find_fault "$dir"); then
        echo "SURVIVED  $file: $(cat "$dir/why")" >"$dir/result"
    elif [ "$found" = LINK ]; then
        echo "BROKEN    $file: $(cat "$dir/why"): does not link" >"$dir/result"
    else
        echo "found     $file: $(cat "$dir/why") -- $found" >"$dir/result"
    fi
    find "$dir" -type f ! -name result -delete
}
export -f change program unit_tests find_fault run_one

# Control run without a fault, where no test may fail: the first text is replaced by itself.
cp -r "$work/001" "$work/none"
cp "$work/none/old" "$work/none/new"
run_one "$work/none"
if ! grep -q '^SURVIVED' "$work/none/result"; then
    sed 's/^/without a fault: /' "$work/none/result"
    echo "0 passed, 1 failed"
    exit 1
fi

for dir in "$work"/[0-9]*; do
    case $(cat "$dir/file") in "${ONLY:-}"* | */"${ONLY:-}") ;; *) continue ;; esac
    [ -z "${WHY:-}" ] || grep -qF -- "$WHY" "$dir/why" || continue
    printf '%s\n' "$dir"
done >"$work/todo"
xargs -P "$JOBS" -I DIR bash -c 'run_one DIR' <"$work/todo"
passed=0 failed=0
while read -r dir; do
    cat "$dir/result" || echo "LOST      $dir"
    if grep -q '^found' "$dir/result" 2>/dev/null; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done <"$work/todo"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
