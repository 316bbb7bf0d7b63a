# What fit_kernels.sh and run_kernels.sh share: the tables of kernels that are predicted by launches and shares alone.
silicon=${REFERENCE:-../shared/reference}/silicon
tables=()
for table in gemm_fp32 gemm_deepbench gemm_tpu_v4 conv_deepbench attention moe vector; do
    tables+=("$silicon/$table.csv")
done
tables+=("$silicon/../calculon/op_measured.csv")
