#!/usr/bin/env bash
# The first screen of README.md and its tour show the program under test. The first block ```text is examples/first.dfl. The
# blocks ```sh of the first screen and of the section "Ten minutes" are run as one shell script. Each prints the block ```text that
# follows it, if there is one. A line `...` there stands for any lines; counters of a search may differ.
. tests/harness/script.sh
unset DFL_STDLIB
page=${README:-README.md}
mkdir "$work/blocks" "$work/bin" "$work/tmp"
case $DFLC in
/*) ln -s "$DFLC" "$work/bin/dflc" ;;
*) ln -s "$PWD/$DFLC" "$work/bin/dflc" ;;
esac
awk -v dir="$work/blocks" '
    BEGIN { inside = 1 }
    /^## / { inside = $0 == "## Ten minutes" }
    !inside { next }
    /^```sh$/ { file = sprintf("%s/%02d.sh", dir, ++n); line[n] = NR; open = 1; next }
    /^```text$/ { file = sprintf("%s/%02d.want", dir, n); open = 1; next }
    /^```$/ { if (open) close(file); open = 0; next }
    open { print > file }' "$page"

[ -f "$work/blocks/00.want" ] && echo 'cat examples/first.dfl' >"$work/blocks/00.sh"

# The blocks one after another in one shell; each ends by closing its output.
{
    echo "export TMPDIR='$work/tmp' PATH='$work/bin:$PATH'"
    for block in "$work"/blocks/*.sh; do
        echo "exec > '${block%.sh}.got' 2>&1"
        # the first line puts build/ into the path; the program under test goes before it
        sed "s|^PATH=\$PWD/build:|PATH=$work/bin:|" "$block"
    done
} >"$work/script"
timeout -k 5 120 bash "$work/script" </dev/null || true

# matches WANT GOT: the lines of WANT, where `...` is any number of lines
matches() {
    awk '
        function fits(i, k) {
            while (i <= n && want[i] != "...") {
                if (k > m || want[i] != got[k]) return 0
                i++; k++
            }
            if (i > n) return k > m
            while (k <= m + 1) {
                if (fits(i + 1, k)) return 1
                k++
            }
            return 0
        }
        FILENAME == ARGV[1] { want[++n] = $0; next }
        { got[++m] = $0 }
        END { exit !fits(1, 1) }' "$1" "$2"
}

for block in "$work"/blocks/*.sh; do
    [ -f "$block" ] || continue
    name=${block%.sh}
    [ -f "$name.want" ] || : >"$name.want"
    touch "$name.got"
    sed -i -E -f tests/harness/counters.sed "$name.want" "$name.got"
    if matches "$name.want" "$name.got"; then
        pass
    else
        fail "$page: block $(basename "$block" .sh) of the tour"
        diff -u --label 'in the tour' --label printed "$name.want" "$name.got"
    fi
done
[ $((passed + failed)) -gt 5 ] || fail "where is the tour?"
finish
