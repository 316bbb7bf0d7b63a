/* Random problems of the rival, and their choices. */
#include "tests/mapper/rival.h"

#include <string.h>

rival_choices rival_seeded(uint64_t seed, uint64_t index)
{
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + index + 1;

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (rival_choices){ .state = x ? x : 1 };
}

uint32_t rival_random(uint64_t *state, uint32_t n)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint32_t)((x >> 16) % n);
}

uint32_t rival_choose(rival_choices *c, uint32_t n)
{
    uint32_t value = 0;

    if (c->at < c->n)
        value = c->value[c->at] % n;
    else if (c->state != 0)
        value = rival_random(&c->state, n);
    if (c->at < RIVAL_CHOICES) {
        c->value[c->at++] = (uint16_t)value;
        c->n = c->at > c->n ? c->at : c->n;
    }
    return value;
}

void rival_shrink(rival_choices *c, bool (*fails)(void *context, const rival_choices *), void *context)
{
    bool smaller = true;

    c->state = 0;
    for (uint32_t round = 0; smaller && round < 6; round++) {
        smaller = false;
        for (uint32_t size = 8; size > 0; size /= 2)
            for (uint32_t i = c->n; i-- > 0;) {
                rival_choices less = *c;
                if (i + size > c->n)
                    continue;
                memmove(less.value + i, less.value + i + size, (c->n - i - size) * sizeof *less.value);
                less.n -= size;
                less.at = 0;
                if (fails(context, &less)) {
                    *c = less;
                    smaller = true;
                }
            }
        for (uint32_t i = 0; i < c->n; i++)
            for (uint16_t to = 0; to < c->value[i]; to = (uint16_t)(to + 1 + to)) {
                rival_choices less = *c;
                less.value[i] = to;
                less.at = 0;
                if (fails(context, &less)) {
                    *c = less;
                    smaller = true;
                }
            }
    }
}

/* ---- workloads --------------------------------------------------------------------------------------------------- */

enum { RANKS = 6, TENSORS = 12, DIMS = 4 };

/* A dimension: index step * rank + apart * second. */
typedef struct { uint32_t rank, second, step, apart; bool slides; } dim;

typedef struct {
    rival_choices *c;
    const rival_kinds *kinds;
    FILE *out;
    uint32_t n_ranks, n_tensors, extent[RANKS];
    uint32_t most;              /* the largest extent of tiny problems */
    struct { uint32_t n, bits, mask; dim dim[DIMS]; bool made, read; } tensor[TENSORS];
    uint32_t n_einsums;
    /* input 0, and those that an einsum before reads (a mask), are indexed by `after` in place of `before` */
    struct { uint32_t out, in[3], n_in, common, before, after; bool sum, largest; } einsum[4];
} drawer;

static uint32_t choose(drawer *d, uint32_t n) { return rival_choose(d->c, n); }

static uint32_t add_rank(drawer *d)
{
    static const uint32_t large[] = { 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 20, 23, 25, 31, 40 };
    uint32_t extent = d->kinds->tiny ? 2 + choose(d, d->most - 1) : 1 + choose(d, 6);

    if (d->kinds->large && choose(d, 4) == 3)
        extent = large[choose(d, sizeof large / sizeof *large)];
    d->extent[d->n_ranks] = extent;
    return d->n_ranks++;
}

/* A tensor indexed by the ranks of a mask, perhaps with a window. */
static uint32_t add_tensor(drawer *d, uint32_t mask, bool window)
{
    static const uint32_t bits[] = { 8, 8, 16, 32, 4 };
    uint32_t t = d->n_tensors++;

    d->tensor[t].mask = mask;
    d->tensor[t].bits = bits[choose(d, 5)];
    for (uint32_t r = 0; r < d->n_ranks && d->tensor[t].n < DIMS; r++) {
        dim *last = d->tensor[t].n > 0 ? &d->tensor[t].dim[d->tensor[t].n - 1] : NULL;
        if (!(mask >> r & 1))
            continue;
        if (window && last != NULL && !last->slides) {
            *last = (dim){ last->rank, r, 1 + choose(d, 3), 1 + choose(d, 2), true };
            window = false;
        } else {
            d->tensor[t].dim[d->tensor[t].n++] = (dim){ .rank = r };
        }
    }
    return t;
}

static uint32_t add_ranks(drawer *d, uint32_t n)
{
    uint32_t first = d->n_ranks;

    for (uint32_t i = 0; i < n && d->n_ranks < RANKS; i++)
        add_rank(d);
    return ((1u << d->n_ranks) - 1) & ~((1u << first) - 1);
}

/* Whether input i of an einsum has another rank in place of one of its own. */
static bool is_renamed(const drawer *d, uint32_t e, uint32_t i)
{
    return (i == 0 || (d->einsum[e].common >> i & 1)) && d->einsum[e].before != d->einsum[e].after;
}

/* Ranks that index input i of an einsum there. */
static uint32_t mask_of(const drawer *d, uint32_t e, uint32_t i)
{
    uint32_t mask = d->tensor[d->einsum[e].in[i]].mask, before = d->einsum[e].before, after = d->einsum[e].after;

    return is_renamed(d, e, i) && (mask >> before & 1) ? (mask & ~(1u << before)) | 1u << after : mask;
}

/* Reads input 0 of an einsum with another rank of equal extent in place of its first one. */
static void rename_rank(drawer *d, uint32_t e)
{
    uint32_t mask = d->tensor[d->einsum[e].in[0]].mask, r = 0;

    if (!d->kinds->general || choose(d, 3) != 2 || mask == 0 || d->n_ranks == RANKS)
        return;
    while (!(mask >> r & 1))
        r++;
    d->extent[d->n_ranks] = d->extent[r];
    d->einsum[e].before = r;
    d->einsum[e].after = d->n_ranks++;
}

/* Adds an input of an einsum before to the inputs of the last one; false if this has it, or if there is none. */
static bool add_common(drawer *d)
{
    const uint32_t e = d->n_einsums - 1, from = choose(d, e), i = choose(d, d->einsum[from].n_in), t = d->einsum[from].in[i];
    bool is_new = !d->tensor[t].made;

    for (uint32_t k = 0; k < d->einsum[e].n_in; k++)
        is_new &= d->einsum[e].in[k] != t;
    if (is_new) {
        d->einsum[e].common |= 1u << d->einsum[e].n_in;
        d->einsum[e].in[d->einsum[e].n_in++] = t;
    }
    return is_new;
}

/* The number of ranks of the first einsum. */
static uint32_t count_ranks(drawer *d)
{
    static const uint32_t few[] = { 1, 2, 2, 3 }, most[] = { 9, 6, 3 };
    uint32_t n = 1 + choose(d, 4);

    if (!d->kinds->tiny)
        return n;
    n = few[n - 1];
    d->most = most[n - 1];
    return n;
}

/* An einsum with one to three inputs, of which the first is a result of the einsum before, or of the one before that. */
static void draw_einsum(drawer *d)
{
    uint32_t e = d->n_einsums++, n = 1 + (choose(d, 4) + 1) % 3, used = 0, wanted, any;
    uint32_t fresh = add_ranks(d, e == 0 ? count_ranks(d) : choose(d, 2));

    if (e > 0) {
        uint32_t from = d->einsum[e - (choose(d, 4) == 3 && e > 1 ? 2 : 1)].out;
        d->einsum[e].in[d->einsum[e].n_in++] = from;
        d->tensor[from].read = true;
        rename_rank(d, e);
        used = mask_of(d, e, 0);
        n = (n == 1 && (fresh & ~used) == 0) ? 1 : 2;
    }
    wanted = used | fresh;
    any = e == 0 || choose(d, 3) == 2 ? (1u << d->n_ranks) - 1 : wanted;
    while (d->einsum[e].n_in < n && d->n_tensors + 1 < TENSORS) {
        if (d->kinds->common && e > 0 && d->einsum[e].common == 0 && choose(d, 4) > 0 && add_common(d)) {
            used |= mask_of(d, e, d->einsum[e].n_in - 1);
            continue;
        }
        uint32_t mask = any & choose(d, 1u << d->n_ranks);
        if (d->einsum[e].n_in + 1 == n)
            mask |= wanted & ~used;
        if (mask == 0)
            mask = any & (~any + 1);
        d->einsum[e].in[d->einsum[e].n_in++] = add_tensor(d, mask, d->kinds->windows && choose(d, 4) == 3);
        used |= mask;
    }
    d->einsum[e].out = add_tensor(d, used & ~choose(d, 1u << d->n_ranks), false);
    d->tensor[d->einsum[e].out].made = true;
    d->einsum[e].sum = choose(d, 6) == 5;
    d->einsum[e].largest = choose(d, 10) == 9;
}

static bool changed(const drawer *d, uint32_t change) { return (d->kinds->changes & change) != 0; }
static char rank_name(const drawer *d, uint32_t r) { return (char)(changed(d, RIVAL_NAMES) ? 'p' - (int)r : 'a' + (int)r); }
static uint32_t more(const drawer *d, uint32_t change, uint32_t value) { return changed(d, change) ? 2 * value : value; }

/* `instead`: the einsum whose input 0 this is; DFL_NONE: another access. */
static void print_tensor(const drawer *d, uint32_t t, bool shape, uint32_t instead)
{
    if (changed(d, RIVAL_NAMES))
        fprintf(d->out, "S%u[", TENSORS - t);
    else
        fprintf(d->out, "T%u[", t);
    for (uint32_t i = 0; i < d->tensor[t].n; i++) {
        const dim *x = &d->tensor[t].dim[i];
        fprintf(d->out, "%s", i > 0 ? ", " : "");
        if (!x->slides)
            fprintf(d->out, "%c", rank_name(d, instead != DFL_NONE && x->rank == d->einsum[instead].before
                                                   ? d->einsum[instead].after : x->rank));
        else if (shape)
            fprintf(d->out, "x%u: %u", i, (d->extent[x->rank] - 1) * x->step + (d->extent[x->second] - 1) * x->apart + 1);
        else
            fprintf(d->out, "%u * %c + %u * %c", x->step, rank_name(d, x->rank), x->apart, rank_name(d, x->second));
    }
    fprintf(d->out, "]");
}

/* A condition on two ranks of an einsum. */
static void print_condition(const drawer *d, uint32_t used)
{
    uint32_t pick = rival_choose(d->c, 8), first = RANKS, second = RANKS;

    for (uint32_t r = 0; r < d->n_ranks; r++)
        if (used >> r & 1) {
            second = first;
            first = r;
        }
    if (pick == 7 && second < RANKS)
        fprintf(d->out, " where %c <= %c", rank_name(d, first), rank_name(d, second));
    else if (pick == 6 && second < RANKS)
        fprintf(d->out, " where %c + %c <= %u", rank_name(d, first), rank_name(d, second),
                (d->extent[first] + d->extent[second]) / 2);
}

static void print_einsum(const drawer *d, uint32_t e)
{
    uint32_t out = d->einsum[e].out, used = 0, n = d->einsum[e].n_in;

    for (uint32_t i = 0; i < n; i++)
        used |= mask_of(d, e, i);
    fprintf(d->out, "    %s", d->tensor[out].read && d->kinds->alone == 0 ? "" : "output ");
    print_tensor(d, out, true, DFL_NONE);
    fprintf(d->out, " : bits(%u) %s ", d->tensor[out].bits,
            used == d->tensor[out].mask ? "=" : d->einsum[e].largest ? "max=" : "+=");
    for (uint32_t i = 0; i < n; i++) {
        fprintf(d->out, "%s", i == 0 ? "" : d->einsum[e].sum ? " + " : " * ");
        uint32_t at = changed(d, RIVAL_NAMES) ? n - 1 - i : i;
        print_tensor(d, d->einsum[e].in[at], false, is_renamed(d, e, at) ? e : DFL_NONE);
    }
    if (d->kinds->general)
        print_condition(d, used);
    fprintf(d->out, ";\n");
}

static bool is_printed(const drawer *d, uint32_t e) { return d->kinds->alone == 0 || d->kinds->alone == e + 1; }

static void print_workload(const drawer *d)
{
    uint32_t used = 0;
    const char *between = "";

    for (uint32_t e = 0; e < d->n_einsums; e++)
        for (uint32_t i = 0; is_printed(d, e) && i < d->einsum[e].n_in; i++)
            used |= d->tensor[d->einsum[e].in[i]].mask | mask_of(d, e, i);
    fprintf(d->out, "dfl 1;\nworkload w : bits(8) {\n");
    for (uint32_t i = 0; i < d->n_ranks; i++) {
        uint32_t r = changed(d, RIVAL_NAMES) ? d->n_ranks - 1 - i : i;
        if (!(used >> r & 1))
            continue;
        fprintf(d->out, "%s%c = %u", between[0] ? between : "    rank ", rank_name(d, r), d->extent[r]);
        between = ", ";
    }
    fprintf(d->out, "%s", between[0] ? ";\n" : "");
    for (uint32_t e = 0; e < d->n_einsums; e++)
        for (uint32_t i = 0; is_printed(d, e) && i < d->einsum[e].n_in; i++) {
            uint32_t t = d->einsum[e].in[i];
            if ((d->tensor[t].made || d->einsum[e].common >> i & 1) && d->kinds->alone == 0)
                continue;
            fprintf(d->out, "    %s ", i == 1 ? "weight" : "input");
            print_tensor(d, t, true, DFL_NONE);
            fprintf(d->out, " : bits(%u);\n", d->tensor[t].bits);
        }
    for (uint32_t e = 0; e < d->n_einsums; e++)
        if (is_printed(d, e))
            print_einsum(d, e);
    fprintf(d->out, "}\n");
}

/* ---- systems ----------------------------------------------------------------------------------------------------- */

/* One of two ports, or both in one. `deep`: 0 for the outermost memory; inner ones cost less. */
static void print_port(drawer *d, const char *name, uint32_t deep)
{
    static const uint32_t rates[] = { 0, 0, 1, 2, 3, 4, 5, 7, 10, 16 };
    uint32_t rate = rates[choose(d, 10)], energy = choose(d, 3) + (deep < 3 ? 3 - deep : 0) * choose(d, 3);

    if (name[0] != '\0')
        fprintf(d->out, " %s {", name);
    if (rate > 0)
        fprintf(d->out, " bandwidth = %uB/s;", more(d, RIVAL_RATES, rate));
    fprintf(d->out, " energy = %uJ/bit;%s", energy, name[0] != '\0' ? " }" : "");
}

static void print_memory(drawer *d, uint32_t number, bool limited)
{
    static const uint32_t sizes[] = { 4,  8,  12, 16,  20,  24,  32,  40,  48,  64,  72, /* bits */
                                      80, 96, 128, 160, 200, 256, 320, 400, 512, 1000 };

    fprintf(d->out, "    memory %c%u {", changed(d, RIVAL_NAMES) ? 'b' : 'm', number);
    if (limited)
        fprintf(d->out, " size = %.1fB;",
                more(d, RIVAL_ROOM, sizes[choose(d, sizeof sizes / sizeof *sizes)]) / 8.0 * (d->kinds->large ? 4 : 1));
    else
        fprintf(d->out, " size = unlimited;");
    switch (choose(d, 6)) {
    case 5: fprintf(d->out, " buffers = 2;"); break;
    case 4: fprintf(d->out, " buffers = 2; overlap = stream;"); break;
    default: break;
    }
    if (choose(d, 5) == 4)
        fprintf(d->out, " latency = %us;", 1 + choose(d, 4));
    if (choose(d, 12) == 11)
        fprintf(d->out, " leakage = %uW;", 1 + choose(d, 2));
    if ((number > 0 || d->kinds->general) && choose(d, number > 0 ? 10 : 3) >= (number > 0 ? 9u : 2u))
        fprintf(d->out, " holds = %s;", choose(d, 2) == 0 ? "input, weight" : "output, intermediate");
    switch (choose(d, 3)) {
    case 0:
        print_port(d, "", number);
        break;
    case 1:
        fprintf(d->out, " ports = shared;");
        print_port(d, "read", number);
        print_port(d, "write", number);
        break;
    default:
        print_port(d, "read", number);
        print_port(d, "write", number);
    }
    fprintf(d->out, " }\n");
}

static void print_sharing(drawer *d, const char *what, uint32_t first, uint32_t end)
{
    uint32_t mask = choose(d, 1u << (end - first));
    const char *between = "";

    if (mask == 0)
        return;
    fprintf(d->out, " %s = ", what);
    for (uint32_t a = first; a < end; a++)
        if (mask >> (a - first) & 1) {
            fprintf(d->out, "%sx%u", between, a);
            between = ", ";
        }
    fprintf(d->out, ";");
}

static void open_array(drawer *d, uint32_t number, uint32_t first, uint32_t end)
{
    static const char *const kinds[] = { "bus", "bus", "bus", "mesh", "crossbar", "torus", "switch", "fully_connected", "ring" };
    bool network = choose(d, 5) != 4;

    if (network) {
        fprintf(d->out, "    network net%u = %s {", number, kinds[choose(d, end - first == 1 ? 9 : 8)]);
        if (choose(d, 3) == 2)
            fprintf(d->out, " bandwidth = %uB/s;", more(d, RIVAL_RATES, 1 + choose(d, 8)));
        if (choose(d, 4) == 3)
            fprintf(d->out, " latency = %us;", 1 + choose(d, 3));
        print_sharing(d, "multicast", first, end);
        print_sharing(d, "reduce", first, end);
        if (d->kinds->windows && choose(d, 4) == 3)
            print_sharing(d, "forward", first, end);
        fprintf(d->out, " energy = %uJ/bit; }\n", choose(d, 3));
    }
    fprintf(d->out, "    array ");
    for (uint32_t a = first; a < end; a++)
        fprintf(d->out, "%sx%u[%u]", a > first ? ", " : "", a, 2 + choose(d, 3) + changed(d, RIVAL_INSTANCES));
    if (network)
        fprintf(d->out, " over net%u", number);
    fprintf(d->out, " {\n");
}

static void print_system(drawer *d)
{
    uint32_t outside = d->kinds->general ? choose(d, 4) : 1 + choose(d, d->kinds->tiny ? 2 : 3);
    uint32_t arrays = d->kinds->arrays ? choose(d, 3) : 0, memories = 0, axes = 0;

    fprintf(d->out, "system chip {\n");
    for (; memories < outside; memories++)
        print_memory(d, memories, memories > 0 || choose(d, 8) == 7);
    for (uint32_t i = 0; i < arrays; i++) {
        uint32_t added = 1 + (arrays == 1 ? choose(d, 2) : 0);
        open_array(d, i, axes, axes + added);
        axes += added;
        uint32_t inside = choose(d, 2) + (i == 0 && arrays == 1 ? choose(d, 2) : 0);
        for (uint32_t m = 0; m < inside; m++, memories++)
            print_memory(d, memories, memories > 0 || choose(d, 3) == 2);
    }
    fprintf(d->out, "    compute unit {");
    if (choose(d, 8) == 7)
        fprintf(d->out, " launch = %us;", 1 + choose(d, 3));
    if (choose(d, 10) == 9)
        fprintf(d->out, " operand_reuse = %s;", choose(d, 2) == 0 ? "input" : "weight");
    uint32_t rate = more(d, RIVAL_RATES, 1 + choose(d, 4)), energy = choose(d, 4);
    fprintf(d->out, " rate { mac = %uMAC/s; flop = %uFLOP/s; }", rate, rate);
    fprintf(d->out, " energy { mac = %uJ/MAC; flop = %uJ/FLOP; } }\n", energy, energy);
    for (uint32_t i = 0; i < arrays; i++)
        fprintf(d->out, "    }\n");
    fprintf(d->out, "}\n");
}

const char *rival_draw(rival_choices *c, const rival_kinds *kinds, FILE *out, bool *perfect_overlap)
{
    static const char *const objectives[] = { "energy",           "latency",               "energy * latency",
                                              "energy * latency", "energy + 7W * latency", "latency" };
    drawer d = { .c = c, .kinds = kinds, .out = out };
    const char *objective = objectives[rival_choose(c, 6)];
    uint32_t n = kinds->einsums > 1 ? 2 + rival_choose(c, kinds->einsums - 1) : 1;

    *perfect_overlap = kinds->perfect || rival_choose(c, 4) == 3;
    for (uint32_t e = 0; e < n; e++)
        draw_einsum(&d);
    if (kinds->alone <= n) {
        print_workload(&d);
        print_system(&d);
    }
    return objective;
}

char *rival_text(const rival_choices *choices, const rival_kinds *kinds)
{
    rival_choices c = *choices;
    char *text = NULL;
    bool perfect;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    c.at = 0;
    const char *objective = rival_draw(&c, kinds, out, &perfect);

    fprintf(out, "mapping best for w on chip {\n    %s...;\n    minimize %s;\n}\n",
            perfect ? "option overlap = perfect;\n    " : "", objective);
    fclose(out);
    return text;
}
