/* Writing cases by hand, for unit tests. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/case.h"

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "bad test case: %s: %s\n", what, text);
    abort();
}

static void set_name(char to[CASE_NAME], const char *from, size_t len)
{
    if (len == 0 || len >= CASE_NAME)
        fail("name", from);
    memcpy(to, from, len);
    to[len] = '\0';
}

void case_init(dfl_case *c)
{
    memset(c, 0, sizeof *c);
    c->n_elements = 1;
    c->n_bodies = 1;
    c->bodies[0] = (case_body){ .parent = DFL_NONE, .kind = DFL_BODY_LEAF, .unit = DFL_NONE };
}

uint32_t case_add_rank(dfl_case *c, const char *name, int64_t extent)
{
    if (c->n_ranks == CASE_RANKS)
        fail("too many ranks", name);
    set_name(c->ranks[c->n_ranks].name, name, strlen(name));
    c->ranks[c->n_ranks].extent = extent;
    return c->n_ranks++;
}

static uint32_t add_tensor(dfl_case *c, const char *name, size_t len, dfl_role role)
{
    if (c->n_tensors == CASE_TENSORS)
        fail("too many tensors", name);
    set_name(c->tensors[c->n_tensors].name, name, len);
    c->tensors[c->n_tensors].role = role;
    c->tensors[c->n_tensors].bits = 8;
    return c->n_tensors++;
}

uint32_t case_add_input(dfl_case *c, const char *name, dfl_role role, uint32_t n_dims, const int64_t *extents)
{
    uint32_t t = add_tensor(c, name, strlen(name), role);

    c->tensors[t].n_dims = n_dims;
    for (uint32_t d = 0; d < n_dims; d++)
        c->tensors[t].extents[d] = extents[d];
    return t;
}

static size_t word(const char **at, const char **start)
{
    while (**at == ' ')
        (*at)++;
    *start = *at;
    while (isalnum((unsigned char)**at) || **at == '_')
        (*at)++;
    return (size_t)(*at - *start);
}

static bool eat(const char **at, const char *what)
{
    while (**at == ' ')
        (*at)++;
    if (strncmp(*at, what, strlen(what)) != 0)
        return false;
    *at += strlen(what);
    return true;
}

static void expect(const char **at, const char *what)
{
    if (!eat(at, what))
        fail(what, *at);
}

static uint32_t rank_named(const dfl_case *c, const char *name, size_t len)
{
    for (uint32_t r = 0; r < c->n_ranks; r++)
        if (strlen(c->ranks[r].name) == len && memcmp(c->ranks[r].name, name, len) == 0)
            return r;
    fail("unknown rank", name);
    return 0;
}

static uint32_t tensor_of(const dfl_case *c, const char *name, size_t len)
{
    for (uint32_t t = 0; t < c->n_tensors; t++)
        if (strlen(c->tensors[t].name) == len && memcmp(c->tensors[t].name, name, len) == 0)
            return t;
    return DFL_NONE;
}

uint32_t case_tensor_named(const dfl_case *c, const char *name)
{
    uint32_t t = tensor_of(c, name, strlen(name));

    if (t == DFL_NONE)
        fail("unknown tensor", name);
    return t;
}

uint32_t case_memory_named(const dfl_case *c, const char *name)
{
    for (uint32_t m = 0; m < c->n_memories; m++)
        if (strcmp(c->memories[m].name, name) == 0)
            return m;
    fail("unknown memory", name);
    return 0;
}

static case_index read_index(const dfl_case *c, const char **at)
{
    case_index x = { 0 };
    int64_t sign = eat(at, "-") ? -1 : 1;

    for (;;) {
        char *end;
        int64_t coef = sign;
        const char *name;
        while (**at == ' ')
            (*at)++;
        if (isdigit((unsigned char)**at)) {
            coef = sign * strtoll(*at, &end, 10);
            *at = end;
            if (!eat(at, "*")) {
                x.offset += coef;
                goto next;
            }
        }
        size_t len = word(at, &name);
        x.rank[x.n_terms] = rank_named(c, name, len);
        x.coef[x.n_terms++] = coef;
    next:
        if (eat(at, "+"))
            sign = 1;
        else if (eat(at, "-"))
            sign = -1;
        else
            return x;
    }
}

/* Extent of a dimension that an index with positive factors runs through. */
static int64_t reach(const dfl_case *c, const case_index *x)
{
    int64_t extent = x->offset + 1;

    for (uint32_t t = 0; t < x->n_terms; t++)
        extent += x->coef[t] * (c->ranks[x->rank[t]].extent - 1);
    return extent;
}

static case_access read_access(dfl_case *c, const char **at, bool produced)
{
    case_access a = { 0 };
    const char *name;
    size_t len = word(at, &name);
    uint32_t d = 0;

    a.tensor = tensor_of(c, name, len);
    if (a.tensor == DFL_NONE && !produced)
        fail("unknown tensor", name);
    if (a.tensor == DFL_NONE)
        a.tensor = add_tensor(c, name, len, DFL_ROLE_INTERMEDIATE);
    expect(at, "[");
    do {
        if (eat(at, "]")) {
            *at -= 1;
            break;
        }
        a.index[d] = read_index(c, at);
        if (produced) {
            int64_t extent = reach(c, &a.index[d]);
            c->tensors[a.tensor].n_dims = d + 1;
            if (c->tensors[a.tensor].extents[d] < extent) /* a second einsum may write further elements */
                c->tensors[a.tensor].extents[d] = extent;
        }
        d++;
    } while (eat(at, ","));
    expect(at, "]");
    return a;
}

uint32_t case_add_einsum(dfl_case *c, const char *text)
{
    case_einsum *e = &c->einsums[c->n_einsums];

    if (c->n_einsums == CASE_EINSUMS)
        fail("too many einsums", text);
    *e = (case_einsum){ .out = read_access(c, &text, true) };
    if (eat(&text, "+="))
        e->reduce = DFL_REDUCE_ADD;
    else if (eat(&text, "max="))
        e->reduce = DFL_REDUCE_MAX;
    else if (eat(&text, "min="))
        e->reduce = DFL_REDUCE_MIN;
    else
        expect(&text, "=");
    do
        e->in[e->n_in++] = read_access(c, &text, false);
    while (eat(&text, "*"));
    if (eat(&text, "over ")) {
        const char *name;
        size_t len = word(&text, &name);
        e->over = rank_named(c, name, len);
        e->whole = true;
    }
    for (bool more = eat(&text, "where "); more; more = eat(&text, "&&")) {
        if (e->n_where == CASE_WHERE)
            fail("too many conditions", text);
        e->where[e->n_where++] = read_index(c, &text);
        expect(&text, ">= 0");
    }
    if (*text != '\0')
        fail("rest of einsum", text);
    return c->n_einsums++;
}

uint32_t case_add_memory(dfl_case *c, const char *name, uint32_t element, int64_t buffers)
{
    case_memory *m = &c->memories[c->n_memories];

    set_name(m->name, name, strlen(name));
    m->element = element;
    m->buffers = buffers;
    m->access = 0;
    return c->n_memories++;
}

uint32_t case_add_axis(dfl_case *c, const char *name, uint32_t element, int64_t size, case_set multicast, case_set reduce)
{
    case_axis *a = &c->axes[c->n_axes];

    *a = (case_axis){ .element = element, .size = size, .multicast = multicast, .reduce = reduce };
    set_name(a->name, name, strlen(name));
    if (element >= c->n_elements)
        c->n_elements = element + 1;
    return c->n_axes++;
}

uint32_t case_add_unit(dfl_case *c, const char *name, uint32_t element)
{
    set_name(c->units[c->n_units].name, name, strlen(name));
    c->units[c->n_units].element = element;
    c->units[c->n_units].reuse = CASE_NO;
    return c->n_units++;
}

static uint32_t add_body(dfl_case *c, uint32_t parent, dfl_body_kind kind)
{
    if (c->n_bodies == CASE_BODIES)
        fail("too many bodies", "");
    c->bodies[c->n_bodies] = (case_body){ .parent = parent, .kind = kind, .unit = DFL_NONE };
    if (c->bodies[parent].kind == DFL_BODY_LEAF)
        c->bodies[parent].kind = DFL_BODY_FUSE;
    return c->n_bodies++;
}

uint32_t case_add_leaf(dfl_case *c, uint32_t parent, const char *produced)
{
    uint32_t body = add_body(c, parent, DFL_BODY_LEAF), t = case_tensor_named(c, produced);

    for (uint32_t e = 0; e < c->n_einsums; e++)
        if (c->einsums[e].out.tensor == t)
            c->bodies[body].einsum = e;
    return body;
}

uint32_t case_add_branch(dfl_case *c, uint32_t parent)
{
    return add_body(c, parent, DFL_BODY_FUSE);
}

static void add_line(dfl_case *c, uint32_t body, case_line line)
{
    if (c->bodies[body].n_lines == CASE_LINES)
        fail("too many lines", "");
    c->bodies[body].lines[c->bodies[body].n_lines++] = line;
}

static void read_keep(dfl_case *c, uint32_t body, const char **at)
{
    uint32_t tensors[CASE_TENSORS], n = 0, memory;
    const char *name;
    size_t len;
    char text[CASE_NAME];
    dfl_keep_mode mode;

    do {
        len = word(at, &name);
        if ((tensors[n++] = tensor_of(c, name, len)) == DFL_NONE)
            fail("unknown tensor", name);
    } while (eat(at, ","));
    expect(at, "in ");
    len = word(at, &name);
    set_name(text, name, len);
    memory = case_memory_named(c, text);
    mode = eat(at, "fresh") ? DFL_KEEP_FRESH : eat(at, "window") ? DFL_KEEP_WINDOW : DFL_KEEP_EXACT;
    for (uint32_t i = 0; i < n; i++)
        add_line(c, body, (case_line){ .kind = DFL_LINE_KEEP, .tensor = tensors[i], .memory = memory, .mode = mode });
}

static void read_loop(dfl_case *c, uint32_t body, dfl_line_kind kind, const char **at)
{
    case_line l = { .kind = kind, .by = DFL_BY_SIZE, .amount = 1 };
    const char *name;
    size_t len = word(at, &name);
    char *end;

    l.rank = rank_named(c, name, len);
    if (eat(at, "/"))
        l.by = DFL_BY_PARTS;
    if (l.by == DFL_BY_PARTS || eat(at, ":")) {
        l.amount = strtoll(*at, &end, 10);
        *at = end;
    }
    if (kind == DFL_LINE_SPATIAL) {
        expect(at, "on ");
        len = word(at, &name);
        l.axis = DFL_NONE;
        for (uint32_t a = 0; a < c->n_axes; a++)
            if (strlen(c->axes[a].name) == len && memcmp(c->axes[a].name, name, len) == 0)
                l.axis = a;
        if (l.axis == DFL_NONE)
            fail("unknown axis", name);
    }
    if (eat(at, "online"))
        l.online = true;
    if (eat(at, "for "))
        do {
            len = word(at, &name);
            uint32_t t = tensor_of(c, name, len);
            for (uint32_t e = 0; e < c->n_einsums; e++)
                if (c->einsums[e].out.tensor == t)
                    l.only |= 1u << e;
        } while (eat(at, ","));
    add_line(c, body, l);
}

void case_lines(dfl_case *c, uint32_t body, const char *text)
{
    while (eat(&text, "") && *text != '\0') {
        if (eat(&text, "keep "))
            read_keep(c, body, &text);
        else if (eat(&text, "temporal "))
            do
                read_loop(c, body, DFL_LINE_TEMPORAL, &text);
            while (eat(&text, ","));
        else if (eat(&text, "spatial "))
            read_loop(c, body, DFL_LINE_SPATIAL, &text);
        else if (eat(&text, "recompute ")) {
            const char *name;
            size_t len = word(&text, &name);
            c->bodies[body].recompute |= 1u << tensor_of(c, name, len);
        } else
            fail("line", text);
        expect(&text, ";");
    }
}

void case_set_roles(dfl_case *c)
{
    for (uint32_t t = 0; t < c->n_tensors; t++) {
        bool read = false, produced = false;
        for (uint32_t e = 0; e < c->n_einsums; e++) {
            produced |= c->einsums[e].out.tensor == t;
            for (uint32_t i = 0; i < c->einsums[e].n_in; i++)
                read |= c->einsums[e].in[i].tensor == t;
        }
        if (produced)
            c->tensors[t].role = c->tensors[t].state ? DFL_ROLE_STATE : read ? DFL_ROLE_INTERMEDIATE : DFL_ROLE_OUTPUT;
    }
}

void case_init_matmul(dfl_case *c, int64_t m, int64_t n, int64_t k)
{
    case_init(c);
    case_add_rank(c, "m", m);
    case_add_rank(c, "n", n);
    case_add_rank(c, "k", k);
    case_add_input(c, "A", DFL_ROLE_INPUT, 2, (int64_t[]){ m, k });
    case_add_input(c, "B", DFL_ROLE_WEIGHT, 2, (int64_t[]){ k, n });
    case_add_einsum(c, "Z[m,n] += A[m,k] * B[k,n]");
    case_set_roles(c);
}
