# vector_head MEMORY OPS: the templates that the kernels OPS need on a chip whose memory is called MEMORY.
vector_head() {
    outer=$1
    shift
    for op in "$@"; do
        case $op in
        add) term='X[i] + Y[i]' ;;
        mul) term='X[i] * Y[i]' ;;
        div) term='X[i] / Y[i]' ;;
        pow) term='pow(X[i], 2.5)' ;;
        relu | tanh | gelu) term="$op(X[i])" ;;
        *) continue ;;
        esac
        sed "s/NAME/$op/g; s|VALUE|$term|; s/in hbm/in $outer/" tests/truth/elementwise.dfl
    done
    grep -v '^//' tests/truth/rows.dfl | sed "s/in hbm/in $outer/"
}

# vector_ops FAMILY: the kernels of a family.
vector_ops() {
    case $1 in
    elementwise) echo add mul div pow relu tanh gelu ;;
    softmax) echo softmax ;;
    layer_norm) echo ln ;;
    esac
}
