/* What is derived, einsum by einsum: text, points and operations as counted by hand, phases, roles and sizes. */
#include "tests/unit/train/trained.h"

#include "ir/print.h"

typedef struct {
    const char *name;
    const char *text;
    const char *has, *has_too; /* lines of the printed step, without the indentation; has_too may be NULL */
    const char *lacks;         /* no such text; or NULL */
} derivation_case;

#define STEP(body) "workload f : bf16 { " body " } workload step = train(f);"
#define M "rank m = 4; "
#define REPEAT \
    STEP("rank b = 2, d = 3; input X[b,d]; repeat 5 as layer carrying X = Y { weight W[d]; Y[b,d] = X[b,d] * W[d]; }" \
         " output Z[b,d] = square(layer.Y[b,d]);")

static const derivation_case cases[] = {
    /* ---- rules; the operations at the end of a line: operators, derivative, and 1 for the sum over points ---- */
    { "product", STEP("rank m = 3, k = 4, n = 2; input X[m,k]; weight W[k,n]; output Z[m,n] += X[m,k] * W[k,n];"),
      "einsum grad.W: grad.W[k, n] += (grad.Z[m, n] * X[m, k]);  // ranks m k n, 24 points, 1 MAC each, backward of Z\n", NULL, "grad.X" },
    { "product of weights", STEP("rank m = 3, k = 4, n = 2; weight V[m,k], W[k,n]; output Z[m,n] += V[m,k] * W[k,n];"),
      "einsum grad.V: grad.V[m, k] += (grad.Z[m, n] * W[k, n]);  // ranks m k n, 24 points, 1 MAC each, backward of Z\n",
      "einsum grad.W: grad.W[k, n] += (grad.Z[m, n] * V[m, k]);  // ranks m k n, 24 points, 1 MAC each, backward of Z\n", NULL },
    { "sum, difference and sign", STEP(M "weight U[m], V[m], W[m]; output Z[m] = U[m] - V[m] + -W[m];"),
      "einsum grad.V: grad.V[m] = -(grad.Z[m]);  // ranks m, 4 points, 1 FLOP each, backward of Z\n",
      "einsum grad.W: grad.W[m] = -(grad.Z[m]);  // ranks m, 4 points, 1 FLOP each, backward of Z\n", NULL },
    { "dividend", STEP(M "weight V[m], W[m]; output Z[m] = V[m] / W[m];"),
      "einsum grad.V: grad.V[m] = (grad.Z[m] / W[m]);  // ranks m, 4 points, 1 FLOP each, backward of Z\n",
      "einsum grad.W: grad.W[m] = -(((grad.Z[m] * V[m]) / (W[m] * W[m])));  // ranks m, 4 points, 4 FLOP each, backward of Z\n", NULL },
    { "function of one argument: 16 FLOP of gelu_d and the product", STEP(M "weight W[m]; output Z[m] = gelu(W[m]);"),
      "einsum grad.W: grad.W[m] = (grad.Z[m] * gelu_d(W[m]));  // ranks m, 4 points, 17 FLOP each, backward of Z\n", NULL, NULL },
    { "function of two arguments", STEP(M "weight V[m], W[m]; output Z[m] = max(V[m], W[m]);"),
      "einsum grad.V: grad.V[m] = (grad.Z[m] * max_d1(V[m], W[m]));  // ranks m, 4 points, 2 FLOP each, backward of Z\n",
      "einsum grad.W: grad.W[m] = (grad.Z[m] * max_d2(V[m], W[m]));  // ranks m, 4 points, 2 FLOP each, backward of Z\n", NULL },
    { "hold", STEP(M "weight V[m], W[m]; output Z[m] = V[m] - hold(W[m]);"),
      "einsum grad.V: grad.V[m] = grad.Z[m];  // ranks m, 4 points, 0 FLOP each, backward of Z\n", NULL, "grad.W" },
    { "maximum: two operations a point, and the sum", STEP("rank m = 3, n = 4; weight W[n]; input X[m]; T[m] max= W[n] where n <= m;"
      " output Z[m] = T[m] * X[m];"),
      "einsum grad.W#2: grad.W[n] += (grad.T[m] * max_share(W[n], T[m])) where m - n >= 0;  // ranks m n, 12 points, 3 FLOP each, backward of T\n",
      "einsum grad.W: grad.W[n] = 0;  // ranks n, 4 points, 0 FLOP each, backward of T\n" /* W[3] reaches no T */, NULL },
    { "minimum", STEP("rank m = 3, n = 4; weight W[m,n]; T[m] min= W[m,n]; output Z[m] = square(T[m]);"),
      "einsum grad.W: grad.W[m, n] = (grad.T[m] * min_share(W[m, n], T[m]));  // ranks m n, 12 points, 2 FLOP each, backward of T\n", NULL, NULL },
    { "a start of a maximum", STEP("rank m = 3, n = 4; weight V[m], W[m,n]; T[m] = V[m]; T[m] max= W[m,n]; output Z[m] = square(T[m]);"),
      "einsum grad.V: grad.V[m] = (grad.T[m] * max_share(V[m], T[m]));  // ranks m, 3 points, 2 FLOP each, backward of T\n", NULL, NULL },
    { "padding gets nothing", STEP("rank p = 5, r = 3; weight V[p], F[r]; X[p] = tanh(V[p]); output Z[p] += X[p + r - 1] * F[r];"),
      "einsum grad.X: grad.X[p + r - 1] += (grad.Z[p] * F[r]) where p + r - 1 >= 0, -p - r + 5 >= 0;  // ranks p r, 15 points, 1 MAC each, backward of Z\n",
      NULL, NULL },
    { "two uses: first =, then +=", STEP(M "weight W[m]; A[m] = tanh(W[m]); output Y[m] = A[m]; output Z[m] = square(A[m]);"),
      "einsum grad.A: grad.A[m] = (grad.Z[m] * square_d(A[m]));  // ranks m, 4 points, 2 FLOP each, backward of Z\n",
      "einsum grad.A#2: grad.A[m] += grad.Y[m];  // ranks m, 4 points, 1 FLOP each, backward of Y\n", NULL },
    { "an output that is read", STEP(M "weight W[m]; output A[m] = tanh(W[m]); output Z[m] = square(A[m]);"),
      "einsum grad.A#2: grad.A[m] += seed.A[m];  // ranks m, 4 points, 1 FLOP each, backward of A\n", "input seed.A[4]", NULL },
    { "a loss", "workload f : bf16 { rank m = 4; weight W[m]; T[m] = tanh(W[m]); output Z[m] = square(T[m]); }"
      "workload step = train(f, loss = T);", "input grad.T[4]", NULL, "grad.Z" },
    { "a rank without operand multiplies", STEP("rank m = 3, n = 4; weight W[m]; A[m] = tanh(W[m]); input X[m,n]; S[m] += A[m] + hold(X[m,n]);"
      " output Z[m] = S[m];"), "einsum grad.A: grad.A[m] = (grad.S[m] * 4);  // ranks m, 3 points, 1 FLOP each, backward of S\n", NULL, NULL },
    { "linear op over a rank: 5 * 8 * 3 FLOP and no product", STEP("rank m = 2, r = 8; weight W[m,r]; output Y[m,r] = fft(W[m,r]) over r;"),
      "einsum grad.W: grad.W[m, r] = fft_d(grad.Y[m, r]) over r;  // ranks m r, 2 points, 0 FLOP each, 15 FLOP per element, backward of Y\n", NULL, NULL },
    { "op over a rank", "op soft(x) over r = 4FLOP; op soft_d(g, x) over r = 7FLOP;"
      STEP("rank m = 2, r = 8; weight W[m,r]; output Y[m,r] = soft(W[m,r]) over r;"),
      "einsum grad.W: grad.W[m, r] = soft_d(grad.Y[m, r], W[m, r]) over r;", "7 FLOP per element", NULL },
    /* ---- gathers: a product into rows is a MAC ---- */
    { "rows of a large table", STEP("rank b = 3, v = 7, d = 2; input ids[b] : i32; weight T[v,d]; output Z[b,d] = gather T[v,d] by ids[b];"),
      "einsum grad.T: grad.T[b, d] += scatter(grad.Z[b, d], ids[b]);  // ranks b d, 6 points, 1 FLOP each, backward of Z\n",
      "einsum update.T: T[b, d] = adam(master.T[b, d], grad.T[b, d], moment1.T[b, d], moment2.T[b, d]);  // ranks b d, 6 points, 12 FLOP each, update of T\n",
      "= 0;" },
    { "rows of a small table", STEP("rank b = 9, v = 7, d = 2; input ids[b] : i32; weight T[v,d]; output Z[b,d] = gather T[v,d] by ids[b];"),
      "einsum grad.T: grad.T[v, d] = 0;  // ranks v d, 14 points, 0 FLOP each, backward of Z\n",
      "einsum update.T: T[v, d] = adam(master.T[v, d], grad.T[v, d], moment1.T[v, d], moment2.T[v, d]);  // ranks v d, 14 points, 12 FLOP each, update of T\n",
      NULL },
    { "experts", STEP("rank b = 9, x = 2, d = 3, f = 2; input X[b,d], which[b] : i32; weight E[x,d,f];"
      " output H[b,f] += X[b,d] * gather E[x,d,f] by which[b];"),
      "einsum grad.E@H: grad.E@H[b, d, f] += scatter((grad.H[b, f] * X[b, d]), which[b]);  // ranks b d f, 54 points, 1 MAC each, backward of H\n",
      "einsum update.E: E[x, d, f] = adam(", NULL },
    { "rows of a computed table", STEP("rank b = 2, p = 4, q = 3; input at[p] : i32, X[b]; weight W[q]; T[b,q] = W[q] * X[b];"
      " output Z[b,p] = gather T[b,q] by at[p];"), "einsum grad.T: grad.T[b, q] = 0;",
      "einsum grad.T@Z: grad.T@Z[p, b] += scatter(grad.Z[b, p], at[p]);  // ranks b p, 8 points, 1 FLOP each, backward of Z\n", NULL },
    { "a table whose gradient another einsum starts", STEP("rank b = 9, v = 5, d = 2; input ids[b] : i32; weight T[v,d];"
      " A[b,d] = tanh(gather T[v,d] by ids[b]); output Z[b,v] += A[b,d] * T[v,d];"),
      "einsum grad.T: grad.T[v, d] += (grad.Z[b, v] * A[b, d]);", "einsum grad.T@A:", "= 0;" },
    { "a row in a sum over a rank that it lacks", STEP("rank b = 9, v = 7, n = 5, d = 2; input ids[b] : i32, X[b,n]; weight T[v,d];"
      " output Z[b,d] += X[b,n] - gather T[v,d] by ids[b];"),
      "einsum grad.T@Z: grad.T@Z[b, d] += scatter((grad.Z[b, d] * -5), ids[b]);  // ranks b d, 18 points, 2 FLOP each, backward of Z\n",
      NULL, NULL },
    /* ---- repeats ---- */
    { "a repeat runs downwards", REPEAT,
      "einsum layer.grad.Y: layer.grad.Y[b, d] = (grad.Z[b, d] * square_d(layer.Y[4, b, d]));",
      "einsum layer.grad.X: layer.grad.X[layer, b, d] = (layer.grad.Y[b, d] * layer.W[layer, d]);", "einsum grad.X" },
    { "an input that a repeat starts from and others read", STEP("rank b = 2, d = 3; input X[b,d]; weight V[d]; output Q[b,d] = X[b,d] * V[d];"
      " repeat 5 as layer carrying X = Y { weight W[d]; Y[b,d] = X[b,d] * W[d]; } output Z[b,d] = square(layer.Y[b,d]);"),
      "einsum layer.grad.X:", "einsum grad.V:", "einsum grad.X" },
    { "weights of a repeat", REPEAT, "einsum layer.grad.W: layer.grad.W[layer, d] += (layer.grad.Y[b, d] * X[b, d]);",
      "einsum layer.update.W: layer.W[layer, d] = adam(layer.master.W[layer, d], layer.grad.W[layer, d], layer.moment1.W[layer, d], "
      "layer.moment2.W[layer, d]);  // ranks d layer, 15 points, 12 FLOP each, update of layer.W\n", NULL },
    /* ---- zeros before a gradient whose readers leave out elements ---- */
    { "one position behind a repeat", STEP("rank b = 2, m = 3, d = 2, e = 2; input X[b,m,d]; repeat 5 as layer carrying X = Y {"
      " weight W[d,e]; Y[b,m,e] += X[b,m,d] * W[d,e]; } output P[b,e] = square(layer.Y[b,0,e]);"),
      "einsum layer.grad.Y: layer.grad.Y[b, m, e] = 0;  // ranks b m e, 12 points, 0 FLOP each, backward of P\n",
      "einsum layer.grad.Y#2: layer.grad.Y[b, 0, e] += (grad.P[b, e] * square_d(layer.Y[4, b, 0, e]));", "layer.grad.X[layer, b, m, d] = 0" },
    { "one position in a repeat", STEP("rank b = 2, m = 3, d = 2, e = 2, f = 2; input X[b,m,d]; repeat 5 as layer carrying X = Y {"
      " weight W[d,e], U[d,f], Q[m]; C[b,f] += X[b,0,d] * U[d,f]; Y[b,m,e] += C[b,d] * W[d,e] + Q[m]; }"
      " output P[b,m,e] = square(layer.Y[b,m,e]);"),
      "einsum layer.grad.X: layer.grad.X[layer, b, m, d] = 0;  // ranks b m d layer, 60 points, 0 FLOP each, backward of layer.C\n",
      "einsum layer.grad.X#2: layer.grad.X[layer, b, 0, d] += ", "layer.grad.Y[b, m, e] = 0" },
    { "a reader under a condition", STEP("rank m = 6, n = 2; weight V[m], W[n]; H[m,n] = V[m] * W[n]; output P[m,n] = square(H[m,n])"
      " where m >= 2;"), "einsum grad.H: grad.H[m, n] = 0;  // ranks m n, 12 points, 0 FLOP each, backward of P\n",
      "einsum grad.H#2: grad.H[m, n] += ", NULL },
    { "a condition that leaves out nothing", STEP("rank m = 6, n = 6; weight V[m], W[n]; A[m] = tanh(V[m]); B[n] = tanh(W[n]);"
      " output P[m] += A[m] * B[n] where n <= m, m - n < 3;"), "einsum grad.A: grad.A[m] += ", "einsum grad.B: grad.B[n] += ", "] = 0;" },
    { "conditions that leave out one end each", STEP("rank r = 6, s = 6; weight V[r]; A[r] = tanh(V[r]);"
      " output P[r,s] = A[r] * A[s] where r < s;"), "einsum grad.A: grad.A[r] += ", "einsum grad.A#2: grad.A[s] += ", "] = 0;" },
    { "conditions that leave a gap", STEP("rank r = 6, s = 6; weight V[r]; A[r] = tanh(V[r]);"
      " output P[r,s] = A[r] * A[s] where r < s - 3;"), "einsum grad.A: grad.A[r] = 0;", NULL, NULL },
    { "a condition that leaves out the first three", STEP("rank m = 6, n = 6; weight V[m], W[n]; A[m] = tanh(V[m]);"
      " output P[m] += A[m] * W[n] where n <= m - 3;"), "einsum grad.A: grad.A[m] = 0;", NULL, NULL },
    { "what the producer leaves out", STEP("rank m = 6, n = 6; weight V[m], W[n]; S[m,n] = V[m] * W[n] where n <= m;"
      " E[m,n] = square(S[m,n]) where n <= m; output P[m] += E[m,n] where n <= m;"), "einsum grad.S: grad.S[m, n] = ", NULL, "] = 0;" },
    { "more than the producer leaves out", STEP("rank m = 6, n = 6; weight V[m], W[n]; S[m,n] = V[m] * W[n] where n <= m;"
      " E[m,n] = square(S[m,n]) where n < m; output P[m] += E[m,n] where n <= m;"), "einsum grad.S: grad.S[m, n] = 0;",
      "einsum grad.E: grad.E[m, n] = grad.P[m] where", NULL },
    { "a causal filter", STEP("rank m = 6, k = 3; weight V[m], W[k]; A[m] = tanh(V[m]); output P[m] += A[m - k] * W[k] where m - k >= 0;"),
      "einsum grad.A: grad.A[m - k] += ", NULL, "] = 0;" },
    /* ---- types ---- */
    { "a wide sum of narrow products", STEP("rank m = 3, k = 4, n = 2; input X[m,k]; weight W[k,n]; S[m,n] : fp32 += X[m,k] * W[k,n];"
      " output Z[m,n] = tanh(S[m,n]);"), "intermediate grad.S[3, 2] : bf16", "grad.W[4, 2] : fp32", NULL },
    { "of the widest of two products", STEP("rank m = 3, k = 4, n = 2; input X[m,k], T[m,k] : tf32; weight W[k,n], V[k,n]; S[m,n] : fp32 +="
      " X[m,k] * W[k,n]; S[m,n] += T[m,k] * V[k,n]; output Z[m,n] = tanh(S[m,n]);"), "intermediate grad.S[3, 2] : tf32", NULL, NULL },
    { "a wide sum of products of integers", STEP("rank m = 3, k = 4, n = 2; input X[m,k] : i8; weight W[k,n] : i8; S[m,n] : fp32 +="
      " X[m,k] * W[k,n]; output Z[m,n] = tanh(S[m,n]);"), "intermediate grad.S[3, 2] : fp32", "grad.W[4, 2] : fp32", NULL },
    { "a product of wide operands", STEP("rank m = 3, k = 4, n = 2; input X[m,k] : fp32; weight W[k,n]; S[m,n] : fp64 += X[m,k] * W[k,n];"
      " output Z[m,n] = tanh(S[m,n]);"), "intermediate grad.S[3, 2] : fp32", NULL, NULL },
    { "a narrow sum of wide products", STEP("rank m = 3, k = 4, n = 2; input X[m,k] : fp32; weight W[k,n]; S[m,n] += X[m,k] * W[k,n];"
      " output Z[m,n] = tanh(S[m,n]);"), "intermediate grad.S[3, 2] : bf16", NULL, NULL },
    { "a wide value that no product makes", STEP("rank m = 4; weight W[m]; S[m] : fp32 = tanh(W[m]); output Z[m] = square(S[m]);"),
      "intermediate grad.S[4] : fp32", NULL, NULL },
    { "a product and another value", STEP("rank m = 3, k = 4; input X[m,k]; weight W[k], V[m]; S[m] : fp32 = tanh(V[m]); S[m] += X[m,k] * W[k];"
      " output Z[m] = square(S[m]);"), "intermediate grad.S[3] : fp32", NULL, NULL },
    { "a product that a repeat carries", STEP("rank b = 2, d = 3, e = 3; input X[b,d] : fp32; repeat 5 as layer carrying X = Y { weight W[d,e],"
      " V[d,e]; C[b,d] = tanh(X[b,d]); Y[b,e] : fp32 += C[b,d] * W[d,e]; } output Z[b,d] = square(layer.Y[b,d]);"),
      "layer.grad.Y[2, 3] : fp32", "layer.grad.X[5, 2, 3] : fp32", NULL },
    /* ---- optimizers ---- */
    { "adam", STEP(M "weight W[m]; output Z[m] = square(W[m]);"),
      "einsum update.W: W[m] = adam(master.W[m], grad.W[m], moment1.W[m], moment2.W[m]);  // ranks m, 4 points, 12 FLOP each, update of W\n",
      "state master.W[4] : fp32", NULL },
    { "momentum", "workload f : bf16 { rank m = 4; weight W[m]; output Z[m] = square(W[m]); }"
      "workload step = train(f, optimizer = momentum(bf16));",
      "einsum update.W: W[m] = momentum(W[m], grad.W[m], moment1.W[m]);  // ranks m, 4 points, 4 FLOP each, update of W\n", "grad.W[4] : fp32",
      "master" },
    { "sgd", "workload f : fp32 { rank m = 4; weight W[m]; output Z[m] = square(W[m]); }"
      "workload step = train(f, optimizer = sgd(fp32), gradients = bf16);",
      "einsum update.W: W[m] = sgd(W[m], grad.W[m]);  // ranks m, 4 points, 2 FLOP each, update of W\n", "grad.W[4] : bf16", "master" },
    { "sgd of narrow weights has the master copy alone", "workload f : bf16 { rank m = 4; weight W[m]; output Z[m] = square(W[m]); }"
      "workload step = train(f, optimizer = sgd(fp32));",
      "einsum update.W: W[m] = sgd(master.W[m], grad.W[m]);  // ranks m, 4 points, 2 FLOP each, update of W\n", "state master.W[4] : fp32",
      "moment1" },
    { "a square weight has two ranks", STEP("rank m = 4, n = 4; weight W[a: 4, b: 4]; input X[m,n]; output Z[m] += X[m,n] * W[m,m];"),
      "einsum update.W: W[m, W.dim2] = adam(", "16 points, 12 FLOP each", NULL },
};

static void derives(void **state)
{
    const derivation_case *c = *state;
    trained *a = train_text(c->text);
    const dfl_workload *w = trained_step(a);
    dfl_strbuf out;
    const char *text;

    dfl_strbuf_init(&out, a->arena);
    dfl_workload_print(&out, a->names, w);
    text = out.text;
    if (strstr(text, c->has) == NULL || (c->has_too != NULL && strstr(text, c->has_too) == NULL) ||
        (c->lacks != NULL && strstr(text, c->lacks) != NULL))
        fail_msg("%s", text);
    trained_free(a);
}

/* ---- sums over the whole step ---- */

typedef struct {
    const char *name;
    const char *text;
    int64_t macs[3];   /* [phase] */
    int64_t inward;    /* those of the gradients of intermediates */
    int64_t weights, gradient_bits, moment_bits; /* elements of weights; bits of their gradients, of all moments at home */
} sum_case;

static const sum_case sums[] = {
    { "the operands of a product: one MAC each", STEP("rank m = 3, k = 4, n = 2; weight V[m,k], W[k,n]; output Z[m,n] += V[m,k] * W[k,n];"),
      { 24, 48, 0 }, 0, 20, 20 * 32, 20 * 96 },
    { "no gradient of an input", STEP("rank m = 3, k = 4, n = 2; input X[m,k]; weight W[k,n]; output Z[m,n] += X[m,k] * W[k,n];"),
      { 24, 24, 0 }, 0, 8, 8 * 32, 8 * 96 },
    { "no gradient of the input of the first layer", STEP("rank b = 2, x = 3, y = 5, z = 7; input X[b,x]; weight V[x,y], W[y,z];"
      " H[b,y] += X[b,x] * V[x,y]; G[b,y] = relu(H[b,y]); output Z[b,z] += G[b,y] * W[y,z];"),
      { 2 * 15 + 2 * 35, 2 * 15 + 2 * 2 * 35, 0 }, 2 * 35, 15 + 35, 50 * 32, 50 * 96 },
    /* b m d f = 2 * 3 * 4 * 3, heads * head = 4. A layer: 4 projections of 2 * 3 * 4 * 4, two products over 2 * 3 * 3 * 4, two
       matrices of 2 * 3 * 4 * 3; logits 2 * 3 * 4 * 5. Its first layer reads the embedding, which is trained.
       Parameters: 2 norms of 2 * 4, 3 * (16 + 4), 16 + 4, 12 + 3, 12 + 4 a layer; a norm, 5 * 4 and 3 * 4 outside. */
    { "gpt", "import std.workloads.transformer; workload step = train(transformer.gpt(B = 2, M = 3, layers = 2, width = 4, heads = 2,"
      " head = 2, inner = 3, vocab = 5, context = 3));",
      { 2 * (4 * 96 + 2 * 72 + 2 * 72) + 120, 2 * (2 * (4 * 96 + 2 * 72 + 2 * 72) + 120), 0 },
      2 * (4 * 96 + 2 * 2 * 72 + 2 * 72) + 120, /* attention has no weights */
      2 * (16 + 60 + 20 + 15 + 16) + 8 + 20 + 12, 294 * 32, 294 * 96 },
    { "rows of a table: their gradient, the moments of the table", STEP("rank b = 3, v = 7, d = 2; input ids[b] : i32; weight T[v,d];"
      " output Z[b,d] = gather T[v,d] by ids[b];"), { 0, 0, 0 }, 0, 14, 6 * 32, 14 * 96 },
    { "a small table", STEP("rank b = 9, v = 7, d = 2; input ids[b] : i32; weight T[v,d]; output Z[b,d] = gather T[v,d] by ids[b];"),
      { 0, 0, 0 }, 0, 14, 14 * 32, 14 * 96 },
    { "two tables in one", STEP("rank b = 3, c = 4, v = 9, d = 2; input ids[b] : i32, more[c] : i32; weight T[v,d];"
      " A[b,d] = gather T[v,d] by ids[b]; B[c,d] = gather T[v,d] by more[c]; output Z[b,c] += A[b,d] * B[c,d];"),
      { 24, 48, 0 }, 48, 18, 18 * 32, 18 * 96 },
};

static void adds_up(void **state)
{
    const sum_case *c = *state;
    trained *a = train_text(c->text);
    const dfl_workload *w = trained_step(a);
    int64_t macs[3] = { 0 }, inward = 0, weights = 0, gradients = 0, moments = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        dfl_i128 work;

        assert_false(dfl_einsum_work(w, &w->einsums[e], &work));
        macs[w->einsums[e].phase] += w->einsums[e].is_mac ? (int64_t)work : 0;
        inward += w->einsums[e].is_mac && w->einsums[e].is_input_gradient ? (int64_t)work : 0;
    }
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        dfl_i128 stored;

        assert_false(dfl_tensor_stored(tensor, &stored));
        weights += tensor->role == DFL_ROLE_WEIGHT ? (int64_t)stored : 0;
        gradients += tensor->part == DFL_PART_GRADIENT && w->tensors[tensor->of].role == DFL_ROLE_WEIGHT
                         ? (int64_t)stored * tensor->type.bits : 0;
        moments += tensor->part == DFL_PART_MOMENT ? (int64_t)stored * tensor->type.bits : 0;
    }
    for (int phase = 0; phase < 3; phase++)
        assert_int_equal(macs[phase], c->macs[phase]);
    assert_int_equal(inward, c->inward);
    assert_int_equal(weights, c->weights);
    assert_int_equal(gradients, c->gradient_bits);
    assert_int_equal(moments, c->moment_bits);
    trained_free(a);
}

int main(void)
{
    return CHECK_TABLE("train.derivation", cases, derives) + CHECK_TABLE("train.sums", sums, adds_up);
}
