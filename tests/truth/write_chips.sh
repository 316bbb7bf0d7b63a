#!/usr/bin/env bash
# Writes the systems of stdlib/chips/measured that run matrix products, from the numbers of gemm_numbers.txt:
#   write_chips.sh                 all of them: CHIP.dfl (bf16) and CHIP_types.dfl (other data types)
#   write_chips.sh CHIP TYPE       prints a text for fit.awk with the numbers of one system
set -u
cd "$(dirname "$0")/../.." || exit 2
truth=tests/truth
out=${DFL_STDLIB:-stdlib}/chips/measured

# system_text CHIP TYPE: the system with names of numbers in braces.
system_text() {
    read -r _ module plain _ _ _ _ _ _ _ _ _ memory _ _ _ unit <<< "$(grep "std.chips.$1 " $truth/chips.txt)"
    kernel=bf16
    case $2 in
    bfloat16) name=$1_measured; what="matrix products in bf16" ;;
    fp8) name=$1_fp8 kernel=fp8; what="matrix products in fp8, A turned into it by a kernel before" ;;
    fp8_block) name=$1_fp8_block kernel=fp8; what="matrix products in fp8 with a scale for each 128 elements, A turned into it by a kernel before" ;;
    nvfp4) name=$1_nvfp4 kernel=i4; what="matrix products in nvfp4, A turned into it by a kernel before. The type i4 stands for nvfp4: its scales, a byte for 16 elements, are not counted" ;;
    *) name=$1_$2; what="matrix products of bf16 with ${2%_wo} weights" ;;
    esac
    echo "/// $(awk -v c="$1" '$1 == c { print $2 }' <<< $'a100 A100\nh100 H100\nb200 B200\nl40s L40S\narc_b60 Arc-Pro-B60' | tr - ' '): $what."
    echo "system $name = plain.$plain {"
    echo '    source = "times of kernels: ai-dynamo/aiconfigurator 095f58a5 (Apache-2.0), TensorRT-LLM, vLLM and SGLang; median over releases";'
    echo "    confidence = \"low: fitted to $2 products only\";"
    [ "$2" = nvfp4 ] && echo "    $unit.rate.i4 = 16384MAC/cycle;"
    [ "$1.$kernel" = arc_b60.fp8 ] && echo "    $unit.rate.fp8 = 1024MAC/cycle;"
    echo '    l2.bandwidth = {l2}TB/s;'
    echo '    smem.write.bandwidth = {port}GB/s;'
    echo '    vector.launch = {parts}us;'
    echo "    $unit.launch = {launch}us;"
    echo "    $unit.efficiency = curve({points rate 1000000 6 FLOP});"
    echo "    $memory.efficiency = curve({points memory 10000 3 B});"
    echo '}'
}
numbers="launch parts l2 port rate_1 rate_2 rate_3 rate_4 rate_5 rate_6 memory_1 memory_2 memory_3"
# numbers_of CHIP TYPE: lines `number NAME START LOW HIGH STEP`.
numbers_of() {
    awk -v c="$1" -v t="$2" -v names="$numbers" '$1 == c && $2 == t {
        n = split(names, name, " ")
        for (i = 1; i <= n; i++) {
            low = name[i] ~ /_/ ? 0.02 : name[i] == "port" ? 20 : name[i] == "parts" ? 0 : 0.1
            high = name[i] ~ /_/ ? 1 : name[i] == "port" ? 1000 : name[i] == "l2" ? 100 : 20
            print "number", name[i], $(i + 2), low, high, 0.08
        }
    }' $truth/gemm_numbers.txt
}
plain_of() { grep "std.chips.$1 " $truth/chips.txt | cut -d' ' -f2; }
if [ $# = 2 ]; then
    numbers_of "$1" "$2"
    echo "---"
    echo "dfl 1;"
    echo "import $(plain_of "$1") as plain;"
    system_text "$1" "$2" | sed "s/^system [a-z0-9_]*/system chip/"
    exit 0
fi
for chip in $(grep -v '^#' $truth/gemm_numbers.txt | cut -d' ' -f1 | sort -u); do
    types=$(awk -v c="$chip" '$1 == c { print $2 }' $truth/gemm_numbers.txt)
    for file in "$chip" "${chip}_types"; do
        some=$(for t in $types; do [ "$([ "$t" = bfloat16 ] && echo "$chip" || echo "${chip}_types")" = "$file" ] && echo "$t"; done)
        [ -z "$some" ] && continue
        {
            echo "dfl 1;"
            echo "// Launches and shares of peaks, fitted to measured times of matrix products: half of the measured shapes (the even lines of the"
            echo "// table) fit the numbers, the other half judges them (tests/truth). The plain chip stays at its published peaks. \`launch\` of the"
            echo "// vector units is that of the kernel which adds the parts of a product with few results, and of the kernel which turns A into"
            echo "// the data type of the product."
            echo "import $(plain_of "$chip") as plain;"
            for type in $some; do
                echo
                { numbers_of "$chip" "$type"; echo "---"; system_text "$chip" "$type"; } > "$out/.fit"
                awk -f $truth/fit.awk -v fill_only=1 "$out/.fit"
            done
        } > "$out/$file.dfl"
        rm -f "$out/.fit"
        "${DFLC:-build/dflc}" fmt -w "$out/$file.dfl"
    done
done
