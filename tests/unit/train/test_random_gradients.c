/* Gradients of random workloads: einsums that read each other, windows, conditions, gathers and a repeat. All functions are
   smooth, so that differences are exact enough. */
#include "tests/unit/train/differences.h"

#define WORKLOADS 120
#define TENSORS 16

/* A workload under construction: its text, and the tensors that an expression may read. */
typedef struct {
    uint64_t state;
    char text[6000];
    size_t len;
    struct { char name[16], dims[8]; } tensor[TENSORS]; /* the ranks of its dimensions, a letter each */
    int n_tensors;
    char used[8];                                       /* ranks of the expression so far */
} draft;

static int draw(draft *d, int n)
{
    uint64_t x = d->state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int)((x ^ x >> 31) % (uint64_t)n);
}

static void add(draft *d, const char *text)
{
    assert_true(d->len + strlen(text) < sizeof d->text);
    strcpy(d->text + d->len, text);
    d->len += strlen(text);
}

static void add_tensor(draft *d, const char *name, const char *dims)
{
    assert_true(d->n_tensors < TENSORS);
    strcpy(d->tensor[d->n_tensors].name, name);
    strcpy(d->tensor[d->n_tensors++].dims, dims);
}

static void append(char *ranks, char rank)
{
    const size_t n = strlen(ranks);

    ranks[n] = rank;
    ranks[n + 1] = '\0';
}

static void use_rank(draft *d, char rank)
{
    if (strchr(d->used, rank) == NULL)
        append(d->used, rank);
}

/* Adds `name[dims]`. `vary`: may read by another rank of the same extent, m and n, or by a window. */
static void add_access(draft *d, const char *name, const char *dims, bool vary)
{
    add(d, name);
    add(d, "[");
    for (const char *c = dims; *c != '\0'; c++) {
        const char rank = vary && (*c == 'm' || *c == 'n') && draw(d, 3) == 0 ? (char)('m' + 'n' - *c) : *c;
        const char text[] = { rank, '\0' };

        add(d, c > dims ? ", " : "");
        add(d, text);
        use_rank(d, rank);
        if (vary && draw(d, 8) == 0) {
            add(d, " + l - 1");
            use_rank(d, 'l');
        }
    }
    add(d, "]");
}

static void add_expression(draft *d, int depth, bool vary)
{
    static const char *const functions[] = { "tanh(", "sigmoid(", "gelu(", "square(", "silu(", "-(" };
    static const char *const operators[] = { ") + (", ") - (", ") * (", ") * (", ") / (3 + square(" };
    const int choice = draw(d, 20), t = draw(d, d->n_tensors), op = draw(d, 5);

    if (depth == 2 || choice < 8) {
        add_access(d, d->tensor[t].name, d->tensor[t].dims, vary);
    } else if (choice == 8 && vary) {
        add(d, "T[k] * gather B[v, k] by at[m]");
        use_rank(d, 'k');
        use_rank(d, 'm');
    } else if (choice < 13) {
        add(d, functions[draw(d, 6)]);
        add_expression(d, depth + 1, vary);
        add(d, ")");
    } else {
        add(d, "(");
        add_expression(d, depth + 1, vary);
        add(d, operators[op]);
        add_expression(d, depth + 1, vary);
        add(d, op == 4 ? "))" : ")");
    }
}

/* Adds einsums over random ranks, each of which may read those before it. */
static void add_einsums(draft *d)
{
    const int n = 2 + draw(d, 4);

    for (int i = 0; i < n; i++) {
        const size_t head = d->len;
        char name[16], dims[8] = "", right[1500], left[100];
        bool sums = false;

        snprintf(name, sizeof name, "Q%d", i);
        d->used[0] = '\0';
        add_expression(d, 0, true);
        assert_true(d->len - head < sizeof right);
        strcpy(right, d->text + head);
        d->len = head;
        for (const char *c = d->used; *c != '\0'; c++) {
            if (*c != 'l' && draw(d, 3) > 0)
                append(dims, *c);
            else
                sums = true;
        }
        add_access(d, name, dims, false);
        snprintf(left, sizeof left, sums ? " += " : " = ");
        add(d, left);
        add(d, right);
        if (sums && strchr(d->used, 'm') != NULL && strchr(d->used, 'n') != NULL && draw(d, 3) == 0)
            add(d, " where n <= m");
        add(d, ";\n");
        add_tensor(d, name, dims);
    }
}

/* Adds a repeat that carries a tensor, and what reads its result. */
static void add_repeat(draft *d)
{
    const int outside = d->n_tensors, n = draw(d, 3);

    add(d, "X[m, k] = U[k] * V[m] + I[m, k];\nrepeat 3 as layer carrying X = Y {\nweight W[k], F[m, k];\n");
    add_tensor(d, "X", "mk");
    add_tensor(d, "W", "k");
    add_tensor(d, "F", "mk");
    for (int i = 0; i < n; i++) {
        char name[16];

        snprintf(name, sizeof name, "H%d", i);
        add(d, name);
        add(d, draw(d, 3) == 0 ? "[m, k] += T[k] * " : "[m, k] = I[m, k] + ");
        add(d, "(");
        add_expression(d, 0, false);
        add(d, ");\n");
        add_tensor(d, name, "mk");
    }
    add(d, draw(d, 2) == 0 ? "Y[m, k] = X[m, k] * 0.7 + (0.1 * (" : "Y[m, k] = tanh(X[m, k]) + 0.3 * tanh(F[m, k] + (");
    add_expression(d, 0, false);
    add(d, "));\n");
    add_tensor(d, "Y", "mk");
    if (draw(d, 2) == 0) {
        add(d, "output O[m, k] = I[m, k] * (");
        add_expression(d, 0, false);
        add(d, ");\n");
    }
    d->n_tensors = outside;
    add_tensor(d, "X", "mk");
    add_tensor(d, "layer.Y", "mk");
    add(d, "}\noutput Z[m, k] = I[m, k] * layer.Y[m, k] + (");
    add_expression(d, 0, false);
    add(d, ");\n");
}

static void compares(void **state)
{
    uint32_t n_compared = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= WORKLOADS; seed++) {
        draft *d = calloc(1, sizeof *d);
        const dfl_workload *step;
        trained *a;

        assert_non_null(d);
        d->state = seed;
        add(d, "workload f : fp32 {\nrank m = 3, n = 3, k = 2, l = 3;\nweight U[k], V[m], S[n, k];\n"
               "input I[m, k], T[k], at[m] : i32;\n");
        add(d, seed % 3 == 0 ? "rank v = 2;\nweight B[v, k];\n" : "rank v = 9;\nweight B[v, k];\n");
        add_tensor(d, "U", "k");
        add_tensor(d, "V", "m");
        add_tensor(d, "I", "mk");
        if (seed % 2 == 0) {
            add_repeat(d);
        } else {
            add_tensor(d, "S", "nk");
            add_einsums(d);
        }
        add(d, "}\nworkload step = train(f, optimizer = sgd(fp32));\n");
        a = train_text(d->text);
        step = trained_find_step(a);
        if (step != NULL) /* else the loss depends on no weight */
            n_compared += compare_gradients(a, step, d->text) > 0;
        trained_free(a);
        free(d);
    }
    assert_true(n_compared > WORKLOADS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(compares) };

    return CHECK_GROUP("train.random_gradients", tests);
}
