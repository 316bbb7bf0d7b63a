/*
 * Some einsums as a workload of their own: what they exchange with others, ranks that a loop around them fixes, and a mapping of them
 * put into one of the whole. Expected texts are written by hand.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"
#include "ir/print.h"
#include "ir/print_mapping.h"
#include "solve/sub_workload.h"

#define CHIP "system chip { memory dram { size = unlimited; } memory sram { size = 8B; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "

static const dfl_program *read_text(dfl_session *s, const char *text)
{
    assert_int_equal(dfl_session_open_text(s, "text.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    assert_int_equal(dfl_sink_errors(s->sink), 0);
    return s->program;
}

/* All einsums with the rank, with one element of it. */
static bool take_with(dfl_session *s, const dfl_mapping *given, const char *rank, dfl_sub_workload *out)
{
    const dfl_workload *w = given->workload;
    bool *is_fixed = DFL_NEW_ARRAY(s->arena, bool, w->n_ranks);
    uint32_t *einsums = DFL_NEW_ARRAY(s->arena, uint32_t, w->n_einsums), r = 0;
    dfl_sub_source source = { s->arena, given, einsums, 0, is_fixed, NULL };

    while (strcmp(dfl_sym_text(s->names, w->ranks[r].name), rank) != 0)
        r++;
    is_fixed[r] = true;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (dfl_einsum_has_rank(&w->einsums[e], r))
            einsums[source.n_einsums++] = e;
    return dfl_sub_workload_take(&source, out);
}

typedef struct {
    const char *name, *einsums, *rank;
    const char *tensors; /* own ones with role and shape, in order; NULL = no such workload */
} taken_row;

/* Ranks a = 4, c = 2, h = 3. */
static const taken_row TAKEN[] = {
    { "a layer: what a repeat carries comes in and goes out",
      "input A[a]; X[a] = A[a] * A[a]; repeat 3 as layer carrying X = Y { weight W[a]; T[a] = X[a] * W[a]; Y[a] = T[a] * W[a]; } "
      "output Z[a] = layer.Y[a] * A[a];",
      "layer", "layer.T intermediate 1 4; X input 4; layer.W weight 1 4; layer.Y output 1 4; " },
    { "a rank of all einsums, with a tensor that lacks it",
      "input A[a, h]; weight W[a]; T[a, h] = A[a, h] * W[a]; output Z[a, h] = T[a, h] * W[a];", "h",
      "T intermediate 4 1; A input 4 1; W weight 4; Z output 4 1; " },
    { "an einsum outside reads T, too",
      "input A[a, h]; T[a, h] = A[a, h] * A[a, h]; U[a, h] = T[a, h] * A[a, h]; output Z[a] += T[a, c] * A[a, c]; "
      "output Y[a, h] = U[a, h] * T[a, h];", "h", "T output 4 1; A input 4 1; U intermediate 4 1; Y output 4 1; " },
    { "conditions are left out", "input A[a, h]; output Z[a, h] = A[a, h] * A[a, h] where a - h >= 0;", "h",
      "Z output 4 1; A input 4 1; " },
    { "a sum over the rank", "input A[a, h]; T[a] += A[a, h] * A[a, h]; output Z[a, h] = T[a] * A[a, h];", "h", NULL },
    { "a window over the rank", "input A[t: 5]; input B[a]; output Z[a, h] += A[h + c] * B[a];", "h", NULL },
    { "two accesses with other dimensions fixed", "input A[h, x: 3]; output Z[h, k] = A[h, k] * A[k, h];", "h", NULL },
    { "rows of a table", "input p[h] : i32; weight T[v: 9, a]; output Z[h, a] += gather T[v, a] by p[h];", "h", NULL },
};

static void takes(void **state)
{
    const taken_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    dfl_sub_workload part;
    dfl_strbuf out;
    char text[1500];

    snprintf(text, sizeof text, "dfl 1; workload w : i8 { rank a = 4, c = 2, h = 3, k = 3, v = 9; %s } " CHIP
             "mapping m for w on chip { ...; }", row->einsums);
    if (!take_with(s, read_text(s, text)->designs[0].mapping, row->rank, &part)) {
        assert_null(row->tensors);
        dfl_session_free(s);
        return;
    }
    assert_non_null(row->tensors);
    dfl_strbuf_init(&out, s->arena);
    for (uint32_t t = 0; t < part.mapping->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &part.mapping->workload->tensors[t];
        dfl_strbuf_printf(&out, "%s %s", dfl_sym_text(s->names, tensor->name), dfl_role_text(tensor->role));
        for (uint32_t d = 0; d < tensor->n_dims; d++)
            dfl_strbuf_printf(&out, " %lld", (long long)tensor->extents[d]);
        dfl_strbuf_z(&out, "; ");
    }
    assert_string_equal(out.text, row->tensors);
    for (uint32_t e = 0; e < part.mapping->workload->n_einsums; e++)
        assert_int_equal((int)part.mapping->workload->einsums[e].n_where, 0);
    dfl_session_free(s);
}

#define LAYERS                                                                                                            \
    "dfl 1; workload w : i8 { rank a = 4; input A[a]; X[a] = A[a] * A[a]; repeat 3 as layer carrying X = Y { "            \
    "weight W[a], V[a]; T[a] = X[a] * W[a]; Y[a] = T[a] * V[a]; } output Z[a] = layer.Y[a] * A[a]; } " CHIP

typedef struct {
    const char *name, *base;
    const char *want; /* lines of the whole; NULL = the part has no place there */
} put_row;

/* The part is the layer: `keep X, W, V, Y in dram; temporal a:2; keep T in sram; fuse { T { temporal a; } Y { temporal a; } }`. */
static const put_row PUTS[] = {
    { "the lines of the layer stand below its loop, without homes, and T has none outside",
      "keep A, X, layer.W, layer.V, layer.T, layer.Y, Z in dram; fuse { X { temporal a; } layer.T, layer.Y { temporal layer; "
      "fuse { layer.T { temporal a; } layer.Y { temporal a; } } } Z { temporal a; } }",
      "keep A, X, layer.W, layer.V, layer.Y, Z in dram; fuse { X { temporal a; } layer.T, layer.Y { temporal layer, a:2; "
      "keep layer.T in sram; fuse { layer.T { temporal a; } layer.Y { temporal a; } } } Z { temporal a; } } " },
    { "below a loop over another rank the einsums are no part",
      "keep A, X, layer.W, layer.V, layer.T, layer.Y, Z in dram; fuse { X { temporal a; } layer.T, layer.Y { temporal layer, a:2; "
      "fuse { layer.T { temporal a; } layer.Y { temporal a; } } } Z { temporal a; } }", NULL },
};

static uint32_t tensor_named(const dfl_session *s, const dfl_sub_workload *part, const char *name)
{
    uint32_t t = 0;

    while (strcmp(dfl_sym_text(s->names, part->mapping->workload->tensors[t].name), name) != 0)
        t++;
    return t;
}

static dfl_body *add_body(dfl_arena *arena, const dfl_line *lines, uint32_t n, uint32_t einsum)
{
    dfl_body *b = DFL_NEW(arena, dfl_body);
    uint32_t *einsums = DFL_NEW_ARRAY(arena, uint32_t, 2);

    einsums[0] = einsum;
    einsums[1] = 1;
    *b = (dfl_body){ .kind = DFL_BODY_LEAF, .lines = DFL_NEW_ARRAY(arena, dfl_line, n), .n_lines = n, .einsums = einsums,
                     .n_einsums = 1, .compute = DFL_NONE };
    memcpy(b->lines, lines, n * sizeof *lines);
    return b;
}

/* The mapping of the layer that PUTS states. */
static const dfl_mapping *found_of(dfl_session *s, const dfl_sub_workload *part)
{
    static const char *const homes[] = { "X", "layer.W", "layer.V", "layer.Y" };
    const dfl_line loop = { .kind = DFL_LINE_TEMPORAL, .amount = 1 };
    dfl_line lines[6];
    dfl_mapping *out = DFL_NEW(s->arena, dfl_mapping);
    dfl_body *root, **children = DFL_NEW_ARRAY(s->arena, dfl_body *, 2);

    for (uint32_t i = 0; i < 4; i++)
        lines[i] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor_named(s, part, homes[i]), .memory = 0 };
    lines[4] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .amount = 2 };
    lines[5] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor_named(s, part, "layer.T"), .memory = 1 };
    root = add_body(s->arena, lines, 6, 0);
    root->kind = DFL_BODY_FUSE;
    root->n_einsums = 2;
    children[0] = add_body(s->arena, &loop, 1, 0);
    children[1] = add_body(s->arena, &loop, 1, 1);
    root->children = children;
    root->n_children = 2;
    *out = *part->mapping;
    out->root = root;
    out->has_holes = false;
    dfl_mapping_number(s->arena, out);
    return out;
}

/* The text with single spaces. */
static const char *squeeze(char *text)
{
    char *to = text;

    for (const char *c = text; *c != 0; c++)
        if (*c != ' ' && *c != '\n')
            *to++ = *c;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = 0;
    return text;
}

static void puts_lines(void **state)
{
    const put_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    const dfl_mapping *m;
    const dfl_program *p;
    dfl_sub_workload part;
    dfl_strbuf out;
    char text[2000];

    snprintf(text, sizeof text, LAYERS "mapping open for w on chip { ...; } mapping base for w on chip { %s }", row->base);
    p = read_text(s, text);
    assert_true(take_with(s, p->designs[0].mapping, "layer", &part));
    m = dfl_sub_workload_put(s->arena, &part, p->designs[1].mapping, found_of(s, &part));
    if (row->want == NULL)
        assert_null(m);
    else {
        assert_non_null(m);
        dfl_strbuf_init(&out, s->arena);
        dfl_mapping_print_lines(&out, s->names, m, 0);
        snprintf(text, sizeof text, "%s", out.text);
        assert_string_equal(squeeze(text), row->want);
    }
    dfl_session_free(s);
}

/* ---- one einsum in its leaf ---- */

#define TWO "dfl 1; workload w : i8 { rank a = 4; input A[a]; X[a] = A[a] * A[a]; output Z[a] = X[a] * A[a]; } " CHIP

/* The part is the first einsum: `keep A in sram; temporal a:2, a;`. */
static const put_row LEAVES[] = {
    { "its lines replace those of the leaf, without the keep that the whole has around it, the innermost of two",
      "keep A, Z in dram; keep A, X in sram; fuse { X { temporal a; } Z { temporal a; } }",
      "keep A, Z in dram; keep A, X in sram; fuse { X { temporal a:2, a; } Z { temporal a; } } " },
    { "a keep further in than that of the whole stays",
      "keep A, X, Z in dram; fuse { X { temporal a; } Z { temporal a; } }",
      "keep A, X, Z in dram; fuse { X { keep A in sram; temporal a:2, a; } Z { temporal a; } } " },
    { "an einsum that shares a loop has other pieces",
      "keep A, Z in dram; temporal a:2; keep A, X in sram; fuse { X { temporal a; } Z { temporal a; } }", NULL },
};

static void puts_leaf(void **state)
{
    const put_row *row = *state;
    const uint32_t first = 0;
    const bool is_fixed = false;
    dfl_session *s = dfl_session_new(NULL);
    dfl_mapping found;
    dfl_line lines[3];
    dfl_sub_workload part;
    const dfl_mapping *m;
    const dfl_program *p;
    dfl_strbuf out;
    char text[2000];

    snprintf(text, sizeof text, TWO "mapping open for w on chip { ...; } mapping base for w on chip { %s }", row->base);
    p = read_text(s, text);
    assert_true(dfl_sub_workload_take(&(dfl_sub_source){ s->arena, p->designs[0].mapping, &first, 1, &is_fixed, NULL }, &part));
    lines[0] = (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor_named(s, &part, "A"), .memory = 1 };
    lines[1] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .amount = 2 };
    lines[2] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .amount = 1 };
    found = *part.mapping;
    found.root = add_body(s->arena, lines, 3, 0);
    found.has_holes = false;
    dfl_mapping_number(s->arena, &found);
    m = dfl_sub_workload_put(s->arena, &part, p->designs[1].mapping, &found);
    assert_true((m == NULL) == (row->want == NULL));
    if (m != NULL) {
        dfl_strbuf_init(&out, s->arena);
        dfl_mapping_print_lines(&out, s->names, m, 0);
        snprintf(text, sizeof text, "%s", out.text);
        assert_string_equal(squeeze(text), row->want);
    }
    dfl_session_free(s);
}

int main(void)
{
    return CHECK_TABLE("solve.sub_workload.taken", TAKEN, takes) + CHECK_TABLE("solve.sub_workload.put", PUTS, puts_lines) +
           CHECK_TABLE("solve.sub_workload.leaf", LEAVES, puts_leaf);
}
