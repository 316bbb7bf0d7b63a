/* The gradient of every weight, computed by the derived einsums, against central differences of the forward einsums. */
#include "tests/unit/train/differences.h"

typedef struct {
    const char *name;
    const char *text;     /* declares `workload step` */
} gradient_case;

#define STEP(body) "workload f : fp32 { " body " } workload step = train(f, optimizer = sgd(fp32));"
#define TRANSFORMER(call) "import std.workloads.transformer; workload step = train(transformer." call ");"

static const gradient_case cases[] = {
    /* ---- one rule each ---- */
    { "product", STEP("rank m = 3, k = 4, n = 2; input X[m,k]; weight W[k,n]; output Z[m,n] += X[m,k] * W[k,n];") },
    { "both operands of a product", STEP("rank m = 3, k = 4, n = 2; weight V[m,k], W[k,n]; output Z[m,n] += V[m,k] * W[k,n];") },
    { "quotient", STEP("rank m = 3, n = 2; weight V[m,n], W[n]; output Z[m] += V[m,n] / (W[n] + 3);") },
    { "difference and sign", STEP("rank m = 3; weight U[m], V[m], W[m]; output Z[m] = U[m] * (-V[m] - W[m] * U[m]);") },
    { "one weight on both sides", STEP("rank m = 3; weight W[m]; output Z[m] = (W[m] + 2) / (W[m] * W[m] + 1) - W[m];") },
    { "function of one argument", STEP("rank m = 5; weight W[m]; output Z[m] = tanh(square(W[m]) * 0.5) + sigmoid(W[m]);") },
    { "functions of two arguments", STEP("rank m = 6; weight V[m], W[m]; output Z[m] = max(V[m], W[m] * 0.7) + min(V[m], square(W[m]));") },
    { "power", STEP("rank m = 5; weight V[m], W[m]; output Z[m] = pow(square(V[m]), W[m]);") },
    { "hold passes nothing", STEP("rank m = 3, n = 4; weight W[m,n]; T[m] max= W[m,n]; E[m,n] = exp(W[m,n] - hold(T[m])); S[m] += E[m,n];"
      " input G[m,n]; output Z[m] += E[m,n] / S[m] * G[m,n];") },
    { "maximum", STEP("rank m = 3, n = 4; weight W[m,n]; T[m] max= tanh(W[m,n]); output Z[m] = square(T[m]);") },
    { "minimum", STEP("rank m = 3, n = 4; weight W[m,n]; T[m] min= tanh(W[m,n]); output Z[m] = square(T[m]);") },
    { "maximum with a start", STEP("rank m = 5, n = 2; weight V[m], W[m,n]; T[m] = V[m]; T[m] max= W[m,n]; output Z[m] = square(T[m]);") },
    { "a rank that the value lacks", STEP("rank m = 3, n = 4; weight W[m]; A[m] = tanh(W[m]); input X[n];"
      " output Y[m] += A[m] * A[m] * X[n];") },
    { "a condition", STEP("rank m = 4, n = 5; weight V[m], W[n]; A[n] = tanh(W[n]); output Z[m] += V[m] * A[n] where n <= m;") },
    { "windows with padding", STEP("rank c = 2, k = 3, p = 5, r = 3; weight V[c, p], F[k, c, r]; X[c, p] = tanh(V[c, p]);"
      " output Z[k, p] += X[c, p + r - 1] * F[k, c, r];") },
    { "windows with strides and dilation", STEP("rank c = 2, k = 2, p = 3, r = 2, x = 8; weight V[c, x], F[k, c, r]; X[c, x] = tanh(V[c, x]);"
      " output Z[k, p] += X[c, 2*p + 3*r - 1] * F[k, c, r];") },
    { "a window of the maximum, with padding", STEP("rank k = 2, p = 5, r = 3; weight V[k, p]; X[k, p] = square(V[k, p]);"
      " M[k, p] max= X[k, p + r - 1]; output Z[k, p] = square(M[k, p]);") },
    { "parts of a result", STEP("rank m = 3; weight V[m], W[m]; X[m] = tanh(V[m]); X[m + 3] = sigmoid(W[m]); rank i = 6; output Z[i] = square(X[i]);") },
    { "packed index", STEP("rank r = 3, s = 2; weight V[r], W[s]; X[2*r + s] = V[r] * W[s]; rank i = 6; input G[i]; output Z[i] = X[i] * G[i] * X[i];") },
    { "uses in several einsums", STEP("rank m = 3, n = 2; weight W[m]; A[m] = tanh(W[m]); B[m] = A[m] * A[m]; C[n] += A[m] * B[m] where n <= m;"
      " output Z[n] = C[n]; output Y[m] = A[m] * W[m];") },
    { "a use of one tensor at two places", STEP("rank m = 3, n = 3; weight W[m]; A[m] = tanh(W[m]); output Z[m] += A[m] * A[n];") },
    { "an output that is read", STEP("rank m = 3; weight W[m]; output A[m] = tanh(W[m]); output Z[m] = square(A[m]);") },
    { "a chosen loss", "workload f : fp32 { rank m = 3; weight W[m]; T[m] = tanh(W[m]); output Z[m] = square(T[m]); output Y[m] = exp(W[m]); }"
      "workload step = train(f, loss = T, optimizer = sgd(fp32));" },
    { "scalars", STEP("rank m = 3; weight W[m], B[]; S[] += W[m] * B[]; output Z[] = tanh(S[]);") },
    /* ---- elements that no reader visits ---- */
    { "one position behind a repeat", STEP("rank b = 2, m = 3, d = 2, e = 2; weight I[b,m,d]; repeat 3 as layer carrying I = Y {"
      " weight W[d,e]; Y[b,m,e] += tanh(I[b,m,d]) * W[d,e]; } output P[b,e] = square(layer.Y[b,1,e]);") },
    { "one position in a repeat", STEP("rank b = 2, m = 3, d = 2, e = 2, f = 2; weight I[b,m,d]; repeat 3 as layer carrying I = Y {"
      " weight W[d,e], U[d,f], Q[m]; C[b,f] += I[b,0,d] * U[d,f]; Y[b,m,e] += tanh(C[b,d]) * W[d,e] + Q[m]; }"
      " output P[b,m,e] = square(layer.Y[b,m,e]);") },
    { "a reader under a condition", STEP("rank m = 6, n = 2; weight V[m], W[n]; H[m,n] = V[m] * W[n]; output P[m,n] = square(H[m,n])"
      " where m >= 2;") },
    /* ---- gathers ---- */
    { "rows of a large table", STEP("rank b = 3, v = 7, d = 2; input ids[b] : i32; weight T[v,d]; output Z[b,d] = tanh(gather T[v,d] by ids[b]);") },
    { "rows of a small table", STEP("rank b = 9, v = 3, d = 2; input ids[b] : i32; weight T[v,d]; output Z[b,d] = tanh(gather T[v,d] by ids[b]);") },
    { "a row in a sum over a rank that it lacks", STEP("rank b = 9, v = 4, n = 3, d = 2; input ids[b] : i32, X[b,n]; weight T[v,d];"
      " S[b,d] += X[b,n] - gather T[v,d] by ids[b]; output Z[b,d] = tanh(S[b,d]);") },
    { "bags of rows", STEP("rank b = 3, l = 4, v = 9, d = 2; input ids[b,l] : i32; weight T[v,d], W[l]; output Z[b,d] += W[l] * gather T[v,d] by ids[b,l];") },
    { "two gathers from one table", STEP("rank b = 3, c = 4, v = 9, d = 2; input ids[b] : i32, more[c] : i32; weight T[v,d];"
      " A[b,d] = gather T[v,d] by ids[b]; B[c,d] = gather T[v,d] by more[c]; output Z[b,c] += A[b,d] * B[c,d];") },
    { "a table that is read whole before", STEP("rank b = 3, v = 5, d = 2; input ids[b] : i32, X[d]; weight T[v,d]; H[v] += T[v,d] * X[d];"
      " output Y[v] = tanh(H[v]); output Z[b,d] = tanh(gather T[v,d] by ids[b]);") },
    { "a table that is read whole behind", STEP("rank b = 3, v = 5, d = 2; input ids[b] : i32; weight T[v,d];"
      " A[b,d] = tanh(gather T[v,d] by ids[b]); output Z[b,v] += A[b,d] * T[v,d];") },
    { "rows of a computed table", STEP("rank b = 2, p = 4, q = 3; input pair[p] : i32; weight V[b], W[q]; T[b,q] = tanh(V[b] * W[q]);"
      " output Z[b,p] = gather T[b,q] by pair[p];") },
    { "experts", STEP("rank b = 5, k = 2, d = 3, f = 2, x = 4; input X[b,d], choice[b,k] : i32; weight E[x,d,f], R[d,x];"
      " S[b,x] += X[b,d] * R[d,x]; G[b,k] = sigmoid(gather S[b,x] by choice[b,k]);"
      " H[b,k,f] += X[b,d] * gather E[x,d,f] by choice[b,k]; output Z[b,f] += H[b,k,f] * G[b,k];") },
    /* ---- ops over a whole rank ---- */
    { "a linear op over a rank", "op mix(x) over r = 3FLOP; op mix_d(x) over r = 3FLOP;"
      STEP("rank m = 2, r = 4; weight W[m,r]; X[m,r] = tanh(W[m,r]); Y[m,r] = mix(X[m,r]) over r; output Z[m,r] = square(Y[m,r]);") },
    { "an op over a rank", "op soft(x) over r = 4FLOP; op soft_d(g, x) over r = 4FLOP;"
      STEP("rank m = 2, r = 4; weight W[m,r]; X[m,r] = tanh(W[m,r]); Y[m,r] = soft(X[m,r]) over r; output Z[m,r] = square(Y[m,r]);") },
    /* ---- repeats ---- */
    { "a repeat", STEP("rank b = 2, d = 3, f = 4; input I[b,d]; weight W0[d]; X[b,d] = I[b,d] * W0[d];"
      " repeat 3 as layer carrying X = Y { weight W[d,f], V[f,d]; H[b,f] += X[b,d] * W[d,f]; G[b,f] = tanh(H[b,f]);"
      " F[b,d] += G[b,f] * V[f,d]; Y[b,d] = X[b,d] + F[b,d]; } output Z[b,d] = tanh(layer.Y[b,d]);") },
    { "a repeat of an input", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as layer carrying X = Y { weight W[d];"
      " Y[b,d] = tanh(X[b,d] * W[d]); } output Z[b,d] = square(layer.Y[b,d]);") },
    { "a repeat that also reads what it starts from", STEP("rank b = 2, d = 3; input I[b,d]; weight W0[d]; X[b,d] = tanh(I[b,d] * W0[d]);"
      " repeat 2 as layer carrying X = Y { weight W[d]; Y[b,d] = tanh(X[b,d] * W[d]); } output Z[b,d] = X[b,d] * layer.Y[b,d];") },
    { "a weight beside a repeat", STEP("rank b = 2, d = 3; input X[b,d]; weight U[d]; A[d] = tanh(U[d]); repeat 3 as layer carrying X = Y { weight W[d];"
      " Y[b,d] = tanh(X[b,d] * W[d] + A[d]); } output Z[b,d] = square(layer.Y[b,d]);") },
    { "a weight beside a repeat in a sum", STEP("rank b = 2, d = 3; input X[b,d]; weight U[d]; repeat 3 as layer carrying X = Y { weight W[d];"
      " H[b,d] = tanh(X[b,d] * W[d]); Y[b,d] = H[b,d] + X[b,d] + U[d]; } output Z[b,d] = square(layer.Y[b,d]);") },
    { "a repeat that ends a workload", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as layer carrying X = Y { weight W[d];"
      " Y[b,d] = tanh(X[b,d] * W[d]); }") },
    { "a carried result that its iteration reads", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as layer carrying X = Y { weight W[d], V[d];"
      " Y[b,d] = tanh(X[b,d] * W[d]); output Q[b,d] = square(Y[b,d]) * V[d]; } output Z[b,d] = square(layer.Y[b,d]);") },
    { "a repeat behind a repeat", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as low carrying X = Y { weight W[d]; Y[b,d] = tanh(X[b,d] * W[d]); }"
      " repeat 2 as high carrying low.Y = Y { weight V[d]; H[b,d] = tanh(low.Y[b,d]); Y[b,d] = low.Y[b,d] + H[b,d] * V[d]; }"
      " output Z[b,d] = square(high.Y[b,d]);") },
    { "a repeat behind a repeat, and others that read between", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as low carrying X = Y { weight W[d];"
      " Y[b,d] = tanh(X[b,d] * W[d]); Q[b,d] = square(Y[b,d]); } output P[b,d] = tanh(low.Y[b,d]);"
      " repeat 2 as high carrying low.Y = Y { weight V[d]; Y[b,d] = low.Y[b,d] + V[d]; } output Z[b,d] = square(high.Y[b,d]);") },
    { "two repeats from one tensor", STEP("rank b = 2, d = 3; input I[b,d]; weight U[d]; X[b,d] = I[b,d] * U[d];"
      " repeat 3 as left carrying X = Y { weight W[d]; Y[b,d] = tanh(X[b,d] * W[d]); }"
      " repeat 2 as right carrying X = Y { weight V[d]; Y[b,d] = X[b,d] + V[d] * tanh(X[b,d]); }"
      " output Z[b,d] = square(left.Y[b,d]) * right.Y[b,d] + X[b,d];") },
    { "results of every iteration", STEP("rank b = 2, d = 3; input X[b,d]; repeat 3 as layer carrying X = Y { weight W[d], V[d];"
      " H[b,d] = tanh(X[b,d] * W[d]); Y[b,d] = X[b,d] + H[b,d]; output Q[b,d] = H[b,d] * V[d]; } output Z[b,d] = square(layer.Y[b,d]);") },
    /* ---- networks ---- */
    { "attention with a stable softmax", STEP("rank m = 3, n = 3, e = 2; input X[m,e]; weight WQ[e], WK[e], WV[e]; Q[m,e] = X[m,e] * WQ[e];"
      " K[n,e] = X[n,e] * WK[e]; V[n,e] = X[n,e] * WV[e]; qk[m,n] += Q[m,e] * K[n,e]; top[m] max= qk[m,n];"
      " A[m,n] = exp(qk[m,n] - hold(top[m])); sum[m] += A[m,n]; av[m,e] += A[m,n] * V[n,e]; output Z[m,e] = av[m,e] / sum[m];") },
    { "layer norm", STEP("rank m = 3, d = 4; input I[m,d]; weight W[d], g[d], b[d]; X[m,d] = I[m,d] * W[d]; mean[m] += X[m,d];"
      " mid[m,d] = X[m,d] - mean[m] / 4; var[m] += square(mid[m,d]);"
      " output Z[m,d] = mid[m,d] * rsqrt(var[m] / 4 + 0.00001) * g[d] + b[d];") },
    { "gpt", TRANSFORMER("gpt(B = 2, M = 3, layers = 2, width = 4, heads = 2, head = 2, inner = 3, vocab = 5, context = 3)") },
    { "llama", TRANSFORMER("llama(B = 1, M = 3, layers = 2, width = 4, kv_heads = 2, group = 2, head = 2, inner = 3, vocab = 5)") },
    { "bert", TRANSFORMER("bert(B = 1, M = 3, layers = 2, width = 4, heads = 2, head = 2, inner = 3, vocab = 5, context = 3, types = 2)") },
    { "mixtral", "import std.workloads.mixtral; workload step = train(mixtral.mixtral(B = 1, M = 3, layers = 2, width = 4, kv_heads = 1,"
      " group = 2, head = 2, inner = 3, experts = 3, chosen = 2, vocab = 5));" },
    { "deepseek", "import std.workloads.deepseek_v3; workload step = train(deepseek_v3.deepseek(B = 1, M = 3, dense_layers = 2, layers = 2,"
      " width = 4, heads = 2, q_latent = 2, kv_latent = 2, head = 2, turned = 2, value = 2, inner = 3, expert_inner = 2, experts = 3,"
      " chosen = 2, vocab = 5));" },
    { "dlrm", "import std.workloads.dlrm; workload step = train(dlrm.dlrm(B = 2, rows = 11, tables = 2, lookups = 2, width = 2, dense = 3,"
      " bottom1 = 3, bottom2 = 3, top1 = 4, top2 = 3, top3 = 3, top4 = 2));" },
    { "a convolution, a maximum of windows, a mean", STEP("rank n = 1, c = 2, k = 2, p = 4, q = 4, r = 3, s = 3, u = 2, v = 2, x = 2, y = 2;"
      " input I[n,c,h: 4,w: 4]; weight F[k,c,r,s], W[k]; A[n,k,p,q] += I[n,c,p+r-1,q+s-1] * F[k,c,r,s]; B[n,k,p,q] = tanh(A[n,k,p,q]);"
      " M[n,k,u,v] max= B[n,k,2*u+x,2*v+y]; output Z[n,k] += M[n,k,u,v] * W[k] / 4;") },
};

static void compare(void **state)
{
    const gradient_case *c = *state;
    trained *a = train_text(c->text);
    const dfl_workload *w = trained_step(a);
    interpreter m = start_interpreter(a, w);

    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].role == DFL_ROLE_WEIGHT && (!w->tensors[t].gathered || w->tensors[t].table == t))
            assert_non_null(find_gradient(&m, t));
    assert_true(compare_gradients(a, w, c->name) > 0);
    trained_free(a);
}

int main(void) { return CHECK_TABLE("train.gradients", cases, compare); }
