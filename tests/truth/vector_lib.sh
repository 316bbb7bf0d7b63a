# vector_head MEMORY ARRAY LOCAL OPS: the templates that the kernels OPS need on a chip whose memory, array of multiprocessors and
# memory of a multiprocessor have these names.
vector_head() {
    names="s/in hbm/in $1/; s/ on sm/ on $2/; s/in smem/in $3/"
    shift 3
    for op in "$@"; do
        case $op in
        add) term='X[i] + Y[i]' ;;
        mul) term='X[i] * Y[i]' ;;
        div) term='X[i] / Y[i]' ;;
        pow) term='pow(X[i], 2.5)' ;;
        relu | tanh | gelu) term="$op(X[i])" ;;
        *) continue ;;
        esac
        sed "s/NAME/$op/g; s|VALUE|$term|; $names" tests/truth/elementwise.dfl
    done
    grep -v '^//' tests/truth/rows.dfl | sed "$names"
}

# vector_ops FAMILY: the kernels of a family.
vector_ops() {
    case $1 in
    elementwise) echo add mul div pow relu tanh gelu ;;
    softmax) echo softmax ;;
    layer_norm) echo ln ;;
    esac
}
