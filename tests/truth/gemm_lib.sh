# gemm_head A_TYPE B_TYPE RESULT MEMORY ARRAY UNIT: the templates of matrix products on a chip whose memory, array of multiprocessors and
# matrix unit have these names; results are written to RESULT (`hbm`: the memory, or the cache). Each template stands three times: both
# operands in the memory, A in the cache (`_a`), both in the cache (`_ab`).
gemm_head() {
    sed "s/A_TYPE/$1/; s/B_TYPE/$2/; $([ "$3" = hbm ] && echo '/keep Z in l2/d')" tests/truth/gemm.dfl > "$work/templates"
    {
        cat "$work/templates"
        for mapping in columns rows parts; do
            sed -n "/^mapping $mapping(/,/^}/p" "$work/templates" | sed "s/^mapping $mapping/&_a/; s/keep A, B, Z in hbm;/keep B, Z in hbm; keep A in l2;/
                s/keep A, B in l2;/keep B in l2;/"
            sed -n "/^mapping $mapping(/,/^}/p" "$work/templates" | sed "s/^mapping $mapping/&_ab/; s/keep A, B, Z in hbm;/keep Z in hbm; keep A, B in l2;/
                s/^  *keep A, B in l2;$//"
        done
    } | gemm_names "$4" "$5" "$6"
}

# gemm_names MEMORY ARRAY UNIT: replaces the names of memory, array and unit.
gemm_names() { sed "s/ in hbm;/ in $1;/g; s/ on sm/ on $2/g; s/ on tensor;/ on $3;/"; }

# tiles FAMILY: the tiles that the kernels of a library have. `mma`: instructions of a warp, up to 256 x 128; `wgmma`: instructions of four warps
# or pairs of multiprocessors, and three quarters of most sizes.
tiles() {
    small="256x128 128x256 128x128 128x64 64x128 64x64 256x64 64x256 64x32 32x64 128x32 32x128 16x64 64x16 16x128 128x16"
    case $1 in
    mma) echo "$small 32x256 256x32 160x128 128x160" ;;
    wgmma) echo "$small 192x128 128x192 192x192 64x192 192x64 64x96 96x64 128x96 96x128 256x192 192x256 256x256" ;;
    esac
}

# types TYPE: data types of A and B, bytes of their elements, FLOP/s relative to bf16, and 1 if a kernel before turns A into its type. `nvfp4` has a
# scale of one byte for 16 elements.
types() {
    case $1 in
    bfloat16) echo bf16 bf16 2 2 1 0 ;;
    fp16) echo fp16 fp16 2 2 1 0 ;;
    fp8 | fp8_block) echo fp8 fp8 1 1 2 1 ;;
    nvfp4) echo i4 i4 0.5625 0.5625 4 1 ;;
    int8_wo) echo bf16 i8 2 1 1 0 ;;
    int4_wo) echo bf16 i4 2 0.5 1 0 ;;
    *) echo ;;
    esac
}
