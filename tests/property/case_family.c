/* Families of workloads and systems. */
#include <string.h>

#include "tests/property/case_random.h"

case_random case_random_of(uint64_t seed, uint64_t index)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + index + 1;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (case_random){ .state = x ? x : 1 };
}

uint32_t case_below(case_random *rng, uint32_t n)
{
    uint64_t x = rng->state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    rng->state = x;
    return (uint32_t)((x >> 16) % n);
}

bool case_chance(case_random *rng, uint32_t percent) { return case_below(rng, 100) < percent; }

bool case_has_rank(const dfl_case *c, uint32_t einsum, uint32_t rank)
{
    const case_einsum *e = &c->einsums[einsum];

    for (uint32_t i = 0; i <= e->n_in; i++) {
        const case_access *a = i < e->n_in ? &e->in[i] : &e->out;
        for (uint32_t d = 0; d < c->tensors[a->tensor].n_dims; d++)
            for (uint32_t t = 0; t < a->index[d].n_terms; t++)
                if (a->index[d].rank[t] == rank)
                    return true;
    }
    return false;
}

/* ---- workloads --------------------------------------------------------------------------------------------------- */

static int64_t between(case_random *rng, uint32_t lo, uint32_t hi)
{
    return lo + case_below(rng, (rng->stretch && hi > 3 && case_chance(rng, 35) ? 4 : 1) * hi - lo + 1);
}

static void input(dfl_case *c, const char *name, dfl_role role, uint32_t n, int64_t a, int64_t b, int64_t d, int64_t e)
{
    case_add_input(c, name, role, n, (int64_t[]){ a, b, d, e });
}

static void matmul(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 7), n = between(rng, 1, 7), k = between(rng, 1, 8), b = between(rng, 1, 3);

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    case_add_rank(c, "k", k);
    if (case_chance(rng, 25)) {
        case_add_rank(c, "b", b);
        input(c, "A", DFL_ROLE_INPUT, 3, b, m, k, 1);
        input(c, "B", DFL_ROLE_INPUT, 3, b, k, n, 1);
        case_add_einsum(c, "Z[b,m,n] += A[b,m,k] * B[b,k,n]");
        return;
    }
    input(c, "A", DFL_ROLE_INPUT, 2, m, k, 1, 1);
    input(c, "B", DFL_ROLE_WEIGHT, 2, k, n, 1, 1);
    case_add_einsum(c, "Z[m,n] += A[m,k] * B[k,n]");
}

static void matmul_chain(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 5), k = between(rng, 1, 5), n = between(rng, 1, 5), o = between(rng, 1, 5);

    case_add_rank(c, "m", m);
    case_add_rank(c, "k", k);
    case_add_rank(c, "n", n);
    case_add_rank(c, "o", o);
    input(c, "A", DFL_ROLE_INPUT, 2, m, k, 1, 1);
    input(c, "B", DFL_ROLE_WEIGHT, 2, k, n, 1, 1);
    input(c, "C", DFL_ROLE_WEIGHT, 2, n, o, 1, 1);
    case_add_einsum(c, "Y[m,n] += A[m,k] * B[k,n]");
    case_add_einsum(c, "Z[m,o] += Y[m,n] * C[n,o]");
    if (case_chance(rng, 35)) {
        int64_t p = between(rng, 1, 4);
        case_add_rank(c, "p", p);
        input(c, "D", DFL_ROLE_WEIGHT, 2, o, p, 1, 1);
        case_add_einsum(c, "X[m,p] += Z[m,o] * D[o,p]");
    }
}

/* Extent of an input that `n` windows of `r` taps read; some windows reach outside. */
static int64_t span_of(int64_t n, int64_t r, int64_t stride, int64_t dilation, int64_t pad)
{
    int64_t all = (n - 1) * stride + (r - 1) * dilation + 1 - 2 * pad;

    return all < 1 ? 1 : all;
}

static void index_text(char *out, size_t n, const char *p, const char *r, int64_t stride, int64_t dilation, int64_t pad)
{
    snprintf(out, n, "%lld*%s + %lld*%s - %lld", (long long)stride, p, (long long)dilation, r, (long long)pad);
}

static void convolution(case_random *rng, dfl_case *c)
{
    bool flat = case_chance(rng, 45), depthwise = case_chance(rng, 20);
    int64_t m = between(rng, 1, 4), ch = between(rng, 1, 4), p = between(rng, 1, flat ? 10 : 5), q = between(rng, 1, 5);
    int64_t r = between(rng, 1, 3), s = between(rng, 1, 3), stride = between(rng, 1, 3), dilation = between(rng, 1, 2);
    int64_t pad = between(rng, 0, (uint32_t)((r - 1) * dilation)) * case_below(rng, 2), extra = case_below(rng, 3);
    char y[64], x[64], text[200];
    const char *out = depthwise ? "c" : "m", *tap = depthwise ? "c" : "m,c";

    if (case_chance(rng, 15))
        stride = 4;
    index_text(y, sizeof y, "p", "r", stride, dilation, pad);
    index_text(x, sizeof x, "q", "s", stride, dilation, 0);
    if (!depthwise)
        case_add_rank(c, "m", m);
    case_add_rank(c, "c", ch);
    case_add_rank(c, "p", p);
    case_add_rank(c, "r", r);
    if (!flat) {
        case_add_rank(c, "q", q);
        case_add_rank(c, "s", s);
    }
    input(c, "I", DFL_ROLE_INPUT, flat ? 2 : 3, ch, span_of(p, r, stride, dilation, pad) + extra,
          span_of(q, s, stride, dilation, 0), 1);
    if (depthwise)
        input(c, "F", DFL_ROLE_WEIGHT, flat ? 2 : 3, ch, r, s, 1);
    else
        input(c, "F", DFL_ROLE_WEIGHT, flat ? 3 : 4, m, ch, r, s);
    if (flat)
        snprintf(text, sizeof text, "O[%s,p] += I[c,%s] * F[%s,r]", out, y, tap);
    else
        snprintf(text, sizeof text, "O[%s,p,q] += I[c,%s,%s] * F[%s,r,s]", out, y, x, tap);
    case_add_einsum(c, text);
}

/* Two or three convolutions of one dimension, or two of two dimensions. */
static void convolution_pair(case_random *rng, dfl_case *c)
{
    bool flat = case_chance(rng, 50);
    int64_t stride = case_chance(rng, 85) ? 1 : 2, u = between(rng, 1, 3), v = between(rng, 1, 3), r = between(rng, 1, 2);
    int64_t p = between(rng, 2, flat ? 7 : 4), q = between(rng, 1, 4), pad = case_below(rng, 2) * (u > 1);
    int64_t unread = case_chance(rng, 25) ? 1 + case_below(rng, 2) : 0;
    int64_t h = span_of(p, u, stride, 1, pad) + unread, w = span_of(q, v, 1, 1, 0), m = between(rng, 1, 2);
    char y[64], text[200];

    index_text(y, sizeof y, "p", "u", stride, 1, pad);
    case_add_rank(c, "y", h);
    case_add_rank(c, "r", r);
    case_add_rank(c, "p", p);
    case_add_rank(c, "u", u);
    if (flat) {
        case_add_rank(c, "m", m);
        case_add_rank(c, "n", m);
        case_add_rank(c, "k", between(rng, 1, 2));
        input(c, "I", DFL_ROLE_INPUT, 1, h + r - 1, 1, 1, 1);
        input(c, "F", DFL_ROLE_WEIGHT, 2, m, r, 1, 1);
        input(c, "G", DFL_ROLE_WEIGHT, 3, c->ranks[6].extent, m, u, 1);
        case_add_einsum(c, "T[m,y] += I[y + r] * F[m,r]");
        snprintf(text, sizeof text, "O[k,p] += T[n,%s] * G[k,n,u]", y);
        case_add_einsum(c, text);
        if (case_chance(rng, 35) && p >= 3) {
            case_add_rank(c, "z", p - 1);
            case_add_rank(c, "t", 2);
            case_add_einsum(c, "P[k,z] max= O[k,z + t]");
        }
        return;
    }
    case_add_rank(c, "x", w);
    case_add_rank(c, "q", q);
    case_add_rank(c, "v", v);
    input(c, "I", DFL_ROLE_INPUT, 2, h + r - 1, w, 1, 1);
    input(c, "F", DFL_ROLE_WEIGHT, 1, r, 1, 1, 1);
    input(c, "G", DFL_ROLE_WEIGHT, 2, u, v, 1, 1);
    case_add_einsum(c, "T[y,x] += I[y + r,x] * F[r]");
    snprintf(text, sizeof text, "O[p,q] += T[%s,q + v] * G[u,v]", y);
    case_add_einsum(c, text);
}

static void residual(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 3), p = between(rng, 2, 7), r = between(rng, 1, 3), k = between(rng, 1, 3);
    bool pointwise = case_chance(rng, 50);

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", m);
    case_add_rank(c, "k", k);
    case_add_rank(c, "p", p);
    case_add_rank(c, "r", r);
    input(c, "I", DFL_ROLE_INPUT, 2, k, p, 1, 1);
    input(c, "F", DFL_ROLE_WEIGHT, 2, m, k, 1, 1);
    input(c, "G", DFL_ROLE_WEIGHT, 3, m, m, r, 1);
    case_add_einsum(c, "T[m,p] += I[k,p] * F[m,k]");
    case_add_einsum(c, pointwise ? "U[n,p] += T[m,p] * G[n,m,r]" : "U[n,p] += T[m,p + r - 1] * G[n,m,r]");
    case_add_einsum(c, "R[m,p] = T[m,p] * U[m,p]");
    if (case_chance(rng, 30))
        case_add_einsum(c, "S[m,p] = R[m,p] * T[m,p]");
}

/* Several readers of one result with different accesses: windows of several sizes, strides, far apart, or one after the
   other. Some cases join the results of the readers. */
static void block(case_random *rng, dfl_case *c)
{
    int64_t stride = case_chance(rng, 60) ? 1 : 2, p = between(rng, 2, 6), u = between(rng, 1, 3), v = between(rng, 1, 4);
    int64_t pad = case_below(rng, 2), far = case_below(rng, 4), m = between(rng, 1, 2), h = p;
    char wide[64], bare[64], text[200];

    index_text(wide, sizeof wide, "p", "u", stride, 1, pad);
    snprintf(bare, sizeof bare, stride == 1 ? "p + %d" : "2*p + %d", (int)far);
    h = span_of(p, u, stride, 1, pad) + (case_chance(rng, 50) ? far : 0);
    case_add_rank(c, "m", m);
    case_add_rank(c, "n", m);
    case_add_rank(c, "y", h);
    case_add_rank(c, "p", p);
    case_add_rank(c, "u", u);
    case_add_rank(c, "v", v);
    input(c, "I", DFL_ROLE_INPUT, 2, m, h + 1, 1, 1);
    input(c, "F", DFL_ROLE_WEIGHT, 2, m, m, 1, 1);
    input(c, "G", DFL_ROLE_WEIGHT, 2, m, u, 1, 1);
    case_add_einsum(c, case_chance(rng, 50) ? "T[m,y] += I[n,y] * F[m,n]" : "T[m,y] = I[m,y + 1] * I[m,y]");
    snprintf(text, sizeof text, "A[m,p] += T[m,%s] * G[m,u]", wide);
    case_add_einsum(c, text);
    switch (case_below(rng, 4)) {
    case 0: /* the input of the block is added to its result */
        snprintf(text, sizeof text, "Z[m,p] = A[m,p] * T[m,%s]", bare);
        break;
    case 1: /* side by side */
        snprintf(text, sizeof text, "B[m,p] max= T[m,p + v - %d]", (int)v / 2);
        break;
    case 2: /* both, joined */
        snprintf(text, sizeof text, "B[n,p] += T[m,%s] * F[n,m]", bare);
        case_add_einsum(c, text);
        snprintf(text, sizeof text, "Z[n,p] = A[n,p] * B[n,p]");
        break;
    default: /* one after the other, and around; or every second one of them */
        if (p > 2 && case_chance(rng, 40)) {
            c->ranks[5].extent = p / 2;
            snprintf(text, sizeof text, "B[m,v] = A[m,2*v] * A[m,2*v]");
            break;
        }
        snprintf(text, sizeof text, "B[m,p] += A[m,p + v - %d]", (int)v / 2);
        case_add_einsum(c, text);
        snprintf(text, sizeof text, "Z[m,p] = B[m,p] * T[m,%s]", bare);
    }
    case_add_einsum(c, text);
}

static void attention(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 4), n = between(rng, 1, 5), e = between(rng, 1, 3), f = between(rng, 1, 3);

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    case_add_rank(c, "e", e);
    case_add_rank(c, "f", f);
    input(c, "Q", DFL_ROLE_INPUT, 2, m, e, 1, 1);
    input(c, "K", DFL_ROLE_INPUT, 2, n, e, 1, 1);
    input(c, "V", DFL_ROLE_INPUT, 2, n, f, 1, 1);
    case_add_einsum(c, "S[m,n] += Q[m,e] * K[n,e]");
    case_add_einsum(c, "X[m] max= S[m,n]");
    case_add_einsum(c, "N[m,n] = S[m,n] * X[m]");
    case_add_einsum(c, "D[m] += N[m,n]");
    case_add_einsum(c, "A[m,f] += N[m,n] * V[n,f]");
    if (case_chance(rng, 70))
        case_add_einsum(c, "Z[m,f] = A[m,f] * D[m]");
}

static void normalisation(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 6), n = between(rng, 2, 8);

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    input(c, "A", DFL_ROLE_INPUT, 2, m, n, 1, 1);
    case_add_einsum(c, case_chance(rng, 50) ? "D[m] += A[m,n]" : "D[m] max= A[m,n]");
    case_add_einsum(c, "E[m,n] = D[m] * A[m,n]");
    if (case_chance(rng, 85))
        case_add_einsum(c, "F[m] += E[m,n]");
}

/* Indices that no convolution has: written in strides, falling, shifted, one tensor read at two places. */
static void shifted(case_random *rng, dfl_case *c)
{
    int64_t p = between(rng, 2, 7), r = between(rng, 1, 3), k = between(rng, 1, 3);
    uint32_t kind = case_below(rng, 4);

    case_add_rank(c, "p", p);
    case_add_rank(c, "k", k);
    if (kind < 2) {
        case_add_rank(c, "r", r);
        input(c, "F", DFL_ROLE_WEIGHT, 2, k, r, 1, 1);
    }
    switch (kind) {
    case 0: /* transposed: windows of the result overlap or leave gaps */
        input(c, "A", DFL_ROLE_INPUT, 2, p, k, 1, 1);
        case_add_einsum(c, case_chance(rng, 50) ? "O[p + r] += A[p,k] * F[k,r]" : "O[2*p + r] += A[p,k] * F[k,r]");
        break;
    case 1: /* flipped */
        input(c, "A", DFL_ROLE_INPUT, 2, p + case_below(rng, 3), k, 1, 1);
        case_add_einsum(c, case_chance(rng, 50) ? "O[p] += A[p - r + 1,k] * F[k,r]" : "O[p] += A[2*p - 2*r,k] * F[k,r]");
        break;
    case 2: /* a stencil */
        input(c, "A", DFL_ROLE_INPUT, 2, p + case_below(rng, 3), k, 1, 1);
        case_add_einsum(c, case_chance(rng, 40)   ? "O[p,k] = A[p,k] * A[p + 1,k]"
                           : case_chance(rng, 50) ? "O[p,k] = A[p - 1,k] * A[p + 1,k]"
                                                  : "O[p,k] = A[p,k] * A[p + 1,k + 1]");
        break;
    case 3: /* one shift after another, the last of them before the start */
        input(c, "A", DFL_ROLE_INPUT, 2, p, k, 1, 1);
        case_add_einsum(c, "B[p,k] = A[p - 1,k]");
        case_add_einsum(c, case_chance(rng, 50) ? "O[p,k] = B[p,k] * B[p - 1,k]" : "O[p,k] = B[p,k] * A[p + 1,k]");
        break;
    }
}

/* Conditions over three ranks, and several conditions, on an einsum over m, n and e, and on its reader. */
static void solids(case_random *rng, dfl_case *c)
{
    static const char *const bodies[] = {
        "m + n - e >= 0", "m - n - e >= 0", "2*m - n - e >= 0 && e - n >= 0", "m - n >= 0 && n - e >= 0",
        "m + 1 - n >= 0 && 2*e - m >= 0", "m + n + e - 4 >= 0", "4 - m - n - e >= 0", "m - n >= 0 && e - 1 >= 0",
        "1 - m + n >= 0 && 1 - n + m >= 0", "e + 1 - m - n >= 0 && n - m >= 0", "m + 2*n - 3*e + 1 >= 0",
    };
    static const char *const reads[] = { "A[m,n] * B[n,e]", "A[m,e] * B[e,n]", "A[m+e,n] * B[n,e]" };
    static const char *const makes[] = { "S[m,n] +=", "S[m] +=", "S[m,n,e] =", "S[e] max=", "S[m+n,e] +=" };
    const char *body = bodies[case_below(rng, sizeof bodies / sizeof bodies[0])];
    uint32_t made = case_below(rng, 5);
    char text[200];

    input(c, "A", DFL_ROLE_INPUT, 2, 9, 9, 1, 1);
    input(c, "B", DFL_ROLE_INPUT, 2, 9, 9, 1, 1);
    snprintf(text, sizeof text, "%s %s where %s", makes[made], reads[case_below(rng, 3)], body);
    case_add_einsum(c, text);
    if (made < 3 && case_chance(rng, 40)) {
        static const char *const read[] = { "S[m,n]", "S[m]", "S[m,n,e]" };
        snprintf(text, sizeof text, "Z[m,e] += %s * B[n,e] where %s", read[made], body);
        case_add_einsum(c, text);
    }
}

/* Conditions on the points: a triangle, a band, a corner; or a whole attention that is causal. */
static void conditional(case_random *rng, dfl_case *c)
{
    static const char *const triangles[] = {
        "m - n >= 0", "n - m >= 0", "m - n >= 0 && n - m + 2 >= 0", "5 - m - 2*n >= 0", "m - n + 1 >= 0", "2*m - n >= 0",
        "m - n >= 0 && 4 - n >= 0", "3 - m >= 0",
    };
    int64_t m = between(rng, 1, 8), n = between(rng, 1, 8), e = between(rng, 1, 3);
    const char *where = triangles[case_below(rng, sizeof triangles / sizeof triangles[0])];
    char text[200];

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    case_add_rank(c, "e", e);
    if (case_chance(rng, 40)) {
        solids(rng, c);
        return;
    }
    input(c, "Q", DFL_ROLE_INPUT, 2, m, e, 1, 1);
    input(c, "K", DFL_ROLE_INPUT, 2, n, e, 1, 1);
    snprintf(text, sizeof text, "S[m,n] += Q[m,e] * K[n,e] where %s", where);
    case_add_einsum(c, text);
    if (case_chance(rng, 40))
        return;
    if (case_chance(rng, 30)) {
        snprintf(text, sizeof text, "D[m] += S[m,n] where %s", where);
        case_add_einsum(c, text);
        return;
    }
    case_add_rank(c, "f", between(rng, 1, 2));
    input(c, "V", DFL_ROLE_INPUT, 2, n, c->ranks[3].extent, 1, 1);
    snprintf(text, sizeof text, "X[m] max= S[m,n] where %s", where);
    case_add_einsum(c, text);
    snprintf(text, sizeof text, "N[m,n] = S[m,n] * X[m] where %s", where);
    case_add_einsum(c, text);
    snprintf(text, sizeof text, "A[m,f] += N[m,n] * V[n,f] where %s", where);
    case_add_einsum(c, text);
}

/* Operations that take a whole rank. */
static void transforms(case_random *rng, dfl_case *c)
{
    int64_t x = between(rng, 1, 6), y = between(rng, 1, 6), z = between(rng, 1, 3);

    case_add_rank(c, "x", x);
    case_add_rank(c, "y", y);
    case_add_rank(c, "z", z);
    input(c, "A", DFL_ROLE_INPUT, 3, x, y, z, 1);
    input(c, "B", DFL_ROLE_WEIGHT, 1, y, 1, 1, 1);
    case_add_einsum(c, "T[x,y,z] = A[x,y,z] over x");
    if (case_chance(rng, 70))
        case_add_einsum(c, case_chance(rng, 50) ? "Z[x,y,z] = T[x,y,z] * B[y] over y" : "Z[x,z] += T[x,y,z] * B[y]");
}

/* A result in two parts; a tensor that is read in two orders; a sum of everything. */
static void joined(case_random *rng, dfl_case *c)
{
    int64_t m = between(rng, 1, 5), n = between(rng, 1, 5), k = between(rng, 1, 3);
    char text[200];

    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    switch (case_below(rng, 3)) {
    case 0:
        case_add_rank(c, "k", k);
        case_add_rank(c, "z", m + n);
        input(c, "A", DFL_ROLE_INPUT, 2, m, k, 1, 1);
        input(c, "B", DFL_ROLE_INPUT, 2, n, k, 1, 1);
        case_add_einsum(c, "Z[m,k] = A[m,k]");
        snprintf(text, sizeof text, "Z[n + %d,k] = B[n,k]", (int)m);
        case_add_einsum(c, text);
        if (case_chance(rng, 60))
            case_add_einsum(c, case_chance(rng, 50) ? "Y[z] += Z[z,k]" : "Y[z,k] = Z[z,k] * Z[z,k]");
        return;
    case 1:
        c->ranks[1].extent = m;
        input(c, "A", DFL_ROLE_INPUT, 2, m, m, 1, 1);
        case_add_einsum(c, case_chance(rng, 50) ? "Z[m,n] = A[m,n] * A[n,m]" : "Z[m] += A[m,n] * A[n,m]");
        return;
    default:
        input(c, "A", DFL_ROLE_INPUT, 2, m, n, 1, 1);
        case_add_einsum(c, "S[] += A[m,n]");
        if (case_chance(rng, 50))
            case_add_einsum(c, "Z[m,n] = A[m,n] * S[]");
    }
}

/* States: a sum or a row is written into a tensor with older values, before or after other einsums read it. */
static void stateful(case_random *rng, dfl_case *c)
{
    int64_t b = between(rng, 1, 3), n = between(rng, 1, 7), e = between(rng, 1, 5), at = case_below(rng, (uint32_t)n);
    uint32_t what = case_below(rng, 6);
    char append[32];

    case_add_rank(c, "b", b);
    case_add_rank(c, "n", n);
    case_add_rank(c, "e", e);
    input(c, "X", DFL_ROLE_INPUT, 2, b, e, 1, 1);
    input(c, "K", DFL_ROLE_INPUT, 3, b, n, e, 1);
    c->tensors[1].state = true;
    snprintf(append, sizeof append, "K[b,%d,e] = X[b,e]", (int)at);
    if (what == 0)
        case_add_einsum(c, append);
    bool sum = case_chance(rng, 60);
    case_add_einsum(c, sum ? "Z[b,n] += X[b,e] * K[b,n,e]" : "Z[b,n,e] = X[b,e] * K[b,n,e]");
    if (what == 1)
        case_add_einsum(c, append);
    if (what == 2)
        case_add_einsum(c, "K[b,n,e] = K[b,n,e] * X[b,e]");
    if (what == 3)
        case_add_einsum(c, sum ? "K[b,n,e] += Z[b,n] * X[b,e]" : "K[b,n,e] += X[b,e]");
    if (what == 4) /* each element is made from a neighbour */
        case_add_einsum(c, case_chance(rng, 50) ? "K[b,n,e] = K[b,n+1,e] * X[b,e]" : "K[b,n,e] = K[b,n-1,e] * X[b,e]");
    if (what == 5)
        case_add_einsum(c, case_chance(rng, 50) ? "K[b,n,e] = K[b,n-1,e+1] * X[b,e]" : "K[b,n,e] = K[b,n-1,e] * K[b,n,e-1]");
    c->tensors[2].state = case_chance(rng, 30);
}

static bool small(const dfl_case *c, int64_t most)
{
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        int64_t points = 1;
        for (uint32_t r = 0; r < c->n_ranks; r++)
            points *= case_has_rank(c, e, r) ? c->ranks[r].extent : 1;
        if (points > most)
            return false;
    }
    return true;
}

void case_draw_workload(case_random *rng, dfl_case *c)
{
    static const struct { uint32_t weight; void (*draw)(case_random *rng, dfl_case *c); } family[] = {
        { 8, matmul }, { 12, convolution }, { 8, matmul_chain }, { 16, convolution_pair }, { 5, residual }, { 8, block },
        { 10, attention }, { 14, normalisation }, { 5, shifted }, { 5, conditional }, { 2, transforms }, { 3, joined }, { 4, stateful },
    };

    rng->stretch = case_chance(rng, 12);
    do {
        uint32_t pick = case_below(rng, 100), i = 0;
        case_init(c);
        for (; pick >= family[i].weight; i++)
            pick -= family[i].weight;
        family[i].draw(rng, c);
    } while (!small(c, rng->stretch ? 4000 : 1200));
    rng->stretch = false;
    for (uint32_t e = 0; e < c->n_einsums; e++) /* of any family, a result that adds to what is there */
        c->tensors[c->einsums[e].out.tensor].state |= case_chance(rng, 4);
    case_set_roles(c);
    for (uint32_t t = 0; t < c->n_tensors; t++)
        c->tensors[t].bits = case_chance(rng, 60) ? 8 : 16;
}

/* ---- systems ----------------------------------------------------------------------------------------------------- */

static case_set multicast_set(case_random *rng)
{
    static const case_set set[] = { CASE_ALL, CASE_ALL, CASE_ALL, CASE_ALL, CASE_NO, CASE_INPUTS_ONLY,
                                    CASE_WEIGHTS_ONLY };

    return set[case_below(rng, 7)];
}

static case_set reduce_set(case_random *rng)
{
    static const case_set set[] = { CASE_ALL, CASE_ALL, CASE_NO, CASE_OUTPUTS_ONLY };

    return set[case_below(rng, 4)];
}

/* Draws a kind for the network of each array. An array without a network shares no transfers. */
static void draw_networks(case_random *rng, dfl_case *c)
{
    for (uint32_t i = 1; i < c->n_elements; i++) {
        c->networks[i] = case_chance(rng, 95) ? (case_network)case_below(rng, CASE_NETWORKS) : CASE_WIRELESS;
        if (c->networks[i] == CASE_CROSSBAR && case_chance(rng, 50))
            c->networks[i] = CASE_MESH;
        for (uint32_t a = 0; c->networks[i] == CASE_WIRELESS && a < c->n_axes; a++)
            if (c->axes[a].element == i) {
                c->axes[a].multicast = c->axes[a].reduce = CASE_NO;
                c->axes[a].forward = false;
            }
    }
    c->one_network = c->n_elements > 2 && c->networks[1] != CASE_WIRELESS && case_chance(rng, 20);
}

void case_draw_system(case_random *rng, dfl_case *c)
{
    uint32_t inner = 0;

    case_add_memory(c, "dram", 0, 1);
    if (case_chance(rng, 75))
        case_add_memory(c, "sram", 0, 1 + case_below(rng, 2));
    if (case_chance(rng, 70)) {
        inner = 1;
        case_add_axis(c, "row", 1, between(rng, 2, 6), multicast_set(rng), reduce_set(rng));
        if (case_chance(rng, 90))
            case_add_axis(c, "col", 1, between(rng, 2, 4), multicast_set(rng), reduce_set(rng));
        if (case_chance(rng, 45))
            c->axes[case_below(rng, c->n_axes)].forward = true;
        if (case_chance(rng, 10))
            c->axes[case_below(rng, c->n_axes)].forward = true;
        if (case_chance(rng, 85))
            case_add_memory(c, "reg", 1, 1 + case_below(rng, 2));
        if (case_chance(rng, 20))
            case_add_memory(c, "lat", 1, 1);
        if (case_chance(rng, 25)) {
            inner = 2;
            case_add_axis(c, "lane", 2, between(rng, 2, 3), multicast_set(rng), reduce_set(rng));
            c->axes[c->n_axes - 1].forward = case_chance(rng, 20);
            if (case_chance(rng, 60))
                case_add_memory(c, "vreg", 2, 1);
        }
    } else if (case_chance(rng, 50)) {
        case_add_memory(c, "buf", 0, 1);
    }
    draw_networks(rng, c);
    case_add_unit(c, "mac", inner);
    if (case_chance(rng, 15))
        c->units[0].reuse = case_chance(rng, 50) ? CASE_INPUTS_ONLY : CASE_WEIGHTS_ONLY;
}
