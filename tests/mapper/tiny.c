/* Drawing, printing and shrinking tiny problems. */
#include "tests/mapper/tiny.h"

#include <string.h>

tiny_random tiny_seeded(uint64_t seed, uint64_t index)
{
    return (tiny_random){ .state = seed * UINT64_C(0x632be59bd9b4e019) + index * UINT64_C(0xd1342543de82ef95) + 1 };
}

tiny_random tiny_of_bytes(const uint8_t *bytes, size_t n) { return (tiny_random){ .bytes = bytes, .n = n }; }

/* One byte, or two for more than 256 choices. */
static uint32_t from_bytes(tiny_random *r, uint32_t n)
{
    uint32_t value = 0;

    for (uint32_t most = 1; most < n && r->n > 0; most *= 256) {
        value = value * 256 + *r->bytes++;
        r->n--;
    }
    return value % n;
}

uint32_t tiny_below(tiny_random *r, uint32_t n)
{
    uint64_t z;

    if (r->bytes)
        return from_bytes(r, n);
    z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % n);
}

static bool chance(tiny_random *r, uint32_t percent) { return tiny_below(r, 100) < percent; }

/* An access by text: a letter for every rank, `+` between the ranks of a sliding window. */
static void access_of(tiny *t, tiny_access *a, uint32_t tensor, const char *ranks)
{
    *a = (tiny_access){ .tensor = tensor };
    if (tensor >= t->n_tensors)
        t->n_tensors = tensor + 1;
    for (const char *c = ranks; *c; c++) {
        uint32_t rank = (uint32_t)(*c == '+' ? c[1] - 'a' : *c - 'a');

        if (rank >= t->n_ranks)
            t->n_ranks = rank + 1;
        if (*c == '+') {
            a->second[a->n - 1] = (int32_t)rank;
            c++;
        } else {
            a->second[a->n] = -1;
            a->rank[a->n++] = rank;
        }
    }
}

/* "0ab=1ac*2cb": tensor 0 from tensors 1 and 2; `=` or `#` for `+=`, `*` or `$` for a sum. */
static void add_einsum(tiny *t, const char *text)
{
    tiny_einsum *e = &t->einsum[t->n_einsums++];
    char part[16];
    size_t n = strcspn(text, "=#");

    snprintf(part, sizeof part, "%.*s", (int)n - 1, text + 1);
    access_of(t, &e->out, (uint32_t)(text[0] - '0'), part);
    e->reduces = text[n] == '#';
    for (text += n + 1;; text += n + 1) {
        n = strcspn(text, "*$");
        snprintf(part, sizeof part, "%.*s", (int)n - 1, text + 1);
        access_of(t, &e->in[e->n_in++], (uint32_t)(text[0] - '0'), part);
        if (text[n] == '\0')
            return;
        e->sum = text[n] == '$';
    }
}

static const struct { uint32_t weight; const char *einsums[TINY_EINSUMS]; } families[] = {
    { 110, { "0ab#1ac*2cb" } },                                    /* matmul */
    { 20, { "0a#1ab*2b" } },
    { 20, { "0ab=1ab*2ab" } },
    { 20, { "0ab=1ab$2b" } },
    { 6, { "0abc#1abd*2dc" } },
    { 14, { "0ab#1ac*2cb", "3ad#0ab*4bd" } },                      /* chains */
    { 6, { "0ab#1ac*2cb", "3de#0df*4fe" } },                       /* with ranks of their own */
    { 5, { "0ab#1ac*2cb", "3ab=0ab*4ab" } },
    { 4, { "0ab=1ab$2b", "3ac#0ab*4bc" } },
    { 3, { "0a#1ab*2b", "3ac=0a*4ac" } },
    { 4, { "0ab#1ac*2cb", "3ad#0ab*4bd", "5ae#3ad*6de" } },        /* chain of three */
    { 3, { "0ab#1ac*2cb", "3ad#0ab*4bd", "5ae#0ab*6be" } },        /* two consumers */
    { 3, { "0ab=1ab*2b", "3ac#0ab*4bc", "5ab=0ab$3ab" } },         /* residual; c is b there */
    { 2, { "0ab=1ab*2b", "3ab=0ab*4ab", "5ab=0ab$3ab" } },
    { 2, { "0ab=1ab*2b", "3cb=4cb*2b", "5ac#0ab*3cb" } },          /* gate */
    { 2, { "0ab=1ab*2b", "3a=4a*5a", "6ab=0ab*3a" } },             /* one between two that need not see it */
    { 2, { "0ab=1ab*2b", "3b#4cb*5c", "6ab=0ab*3b" } },
    { 2, { "0ab#1ac*2cb", "3ad#4ac*5cd", "6ab#0ab*3ad" } },
    { 6, { "0ab#1ac*2cb", "3ad#1ac*4cd" } },                       /* one input of two */
    { 4, { "0ab=1ab*2b", "3ab=0ab*1ab" } },
    { 3, { "0ab#1ac*2cb", "3ad#0ab*4bd", "5ae#1ac*6ce" } },
    { 3, { "0ab#1ac*2cb", "3ab#1ac*4cb", "5ab=0ab*3ab" } },
    { 2, { "0a#1ab*2b", "3ac=0a*4ac", "5a#1ab*6b" } },
    /* with windows: */
    { 100, { "0ab#1a+c*2cb" } },
    { 40, { "0a#1a+b*2b" } },
    /* chains: */
    { 2, { "0ab=1ab*2b", "3ab=0ab*2b", "4ab=3ab*2b", "5ab=4ab$0ab" } },
    { 2, { "0ab=1ab*2b", "3a#0ab*2b", "4a=3a*5a", "6ab=0ab*4a" } },        /* tensors with a long life are larger */
    { 2, { "0a#1ab*2b", "3ab=1ab*0a", "4a#3ab*2b", "5a=4a*0a" } },         /* or smaller */
    { 1, { "0ab=1ab*2b", "3ab=0ab*2b", "4a=5a*6a", "7ab=3ab$0ab" } },      /* one einsum stands between two others */
    { 2, { "0ab=1ab*2b", "3ab=0ab*2b", "4ab=3ab$0ab", "5ab=4ab*2b", "6ab=5ab$4ab" } },
    { 1, { "0ab=1ab*2b", "3a#0ab*2b", "4a=3a*3a", "5ab=0ab*4a", "6ab=5ab$1ab" } },
};

enum { FAMILIES = sizeof families / sizeof *families, WINDOW_FAMILIES = 2, CHAIN_FAMILIES = 6 };

static void draw_memory(tiny_random *r, tiny_memory *m, uint32_t level, uint32_t total)
{
    static const uint32_t energies[3][4] = { { 100, 50, 20, 8 }, { 1, 2, 4, 7 }, { 0, 1, 1, 2 } };
    static const uint32_t rates[3][4] = { { 1, 2, 4, 16 }, { 2, 4, 8, 32 }, { 0, 0, 8, 64 } };

    *m = (tiny_memory){ .buffers = 1, .one_port = chance(r, 50) };
    m->read_energy = energies[level][tiny_below(r, 4)];
    m->write_energy = chance(r, 60) ? m->read_energy : energies[level][tiny_below(r, 4)];
    m->has_drain = m->write_energy != m->read_energy;
    m->drain_energy = m->write_energy / 2;
    m->free_drains = m->has_drain && m->write_energy % 2 == 0;
    m->read_rate = chance(r, 15) ? 0 : rates[level][tiny_below(r, 4)];
    m->write_rate = chance(r, 60) ? m->read_rate : rates[level][tiny_below(r, 4)];
    if (level > 0) {
        m->bits = 8 + tiny_below(r, level == 1 ? total : total / 4 + 8);
        m->buffers = chance(r, 10) ? 2 : 1;
    }
    if (chance(r, 5))
        m->leakage = 1 + tiny_below(r, 50);
}

/* Draws one of the families from `f` on. */
static void draw(tiny *t, tiny_random *r, uint32_t f, uint32_t last)
{
    static const int64_t extents[TINY_EINSUMS][6] = {
        { 2, 2, 3, 2, 3, 4 }, { 2, 2, 3, 2, 4, 3 }, { 2, 2, 2, 3, 2, 3 }, { 2, 2, 2, 2, 3, 3 }, { 2, 2, 2, 2, 2, 3 },
    };
    uint32_t sum = 0, pick, total = 0;

    *t = (tiny){ .n_memories = 2 };
    for (uint32_t i = f; i < last; i++)
        sum += families[i].weight;
    pick = tiny_below(r, sum);
    while (pick >= families[f].weight)
        pick -= families[f++].weight;
    for (uint32_t e = 0; e < TINY_EINSUMS && families[f].einsums[e]; e++)
        add_einsum(t, families[f].einsums[e]);
    if (chance(r, 25))
        t->n_axes = chance(r, 80) ? 1 : 2;
    if (chance(r, 15) && t->n_einsums < 3)
        t->n_memories = 3;
    for (uint32_t i = 0; i < t->n_ranks; i++)
        t->extent[i] = extents[t->n_axes > 0 || t->n_memories == 3 ? 2 : t->n_einsums - 1][tiny_below(r, 6)];
    if (strcmp(families[f].einsums[0], "0ab=1ab*2b") == 0)
        t->extent[2] = t->extent[1];
    if (t->n_ranks == 6) {
        t->extent[3] = t->extent[0];
        t->extent[5] = t->extent[1];
    }
    for (uint32_t i = 0; i < t->n_tensors; i++) {
        t->bits[i] = chance(r, 70) ? 8 : chance(r, 50) ? 4 : 16;
        total += t->bits[i] * 12;
    }
    if (t->einsum[0].in[0].second[0] >= 0)
        t->n_axes = 0;
    for (uint32_t a = 0; a < t->n_axes; a++) {
        t->size[a] = 2 + tiny_below(r, 3);
        t->multicast[a] = chance(r, 60);
        t->reduce[a] = chance(r, 60);
    }
    for (uint32_t m = 0; m < t->n_memories; m++)
        draw_memory(r, &t->memory[m], m, total);
    t->memory[2].inside = t->n_memories == 3 && t->n_axes > 0 && chance(r, 70);
    t->unit_energy = tiny_below(r, 3);
    t->unit_rate = 1 + tiny_below(r, 4);
    t->objective = (tiny_objective)tiny_below(r, 3);
}

void tiny_draw(tiny *t, tiny_random *r, bool windows)
{
    draw(t, r, 0, FAMILIES - CHAIN_FAMILIES - (windows ? 0 : WINDOW_FAMILIES));
}

void tiny_draw_chain(tiny *t, tiny_random *r)
{
    draw(t, r, FAMILIES - CHAIN_FAMILIES, FAMILIES);
    t->n_axes = 0;
}

/* Elements of a dimension along which windows slide. */
static int64_t length_of(const tiny *t, const tiny_access *a, uint32_t d)
{
    int64_t step = a->step[d] > 0 ? a->step[d] : 1, apart = a->apart[d] > 0 ? a->apart[d] : 1;
    int64_t all = step * (t->extent[a->rank[d]] - 1) + apart * (t->extent[a->second[d]] - 1) + 1 - a->before[d] - a->behind[d];

    return all > 1 ? all : 1;
}

bool tiny_draw_steps(tiny *t, tiny_random *r)
{
    static const uint32_t steps[8] = { 0, 0, 0, 2, 2, 2, 3, 4 }, aparts[8] = { 0, 0, 0, 0, 0, 2, 2, 3 };
    tiny_access *a = &t->einsum[0].in[0];

    if (a->second[0] < 0)
        return false;
    a->step[0] = steps[tiny_below(r, 8)];
    a->apart[0] = aparts[tiny_below(r, 8)];
    a->before[0] = chance(r, 30) ? 1 + tiny_below(r, 2) : 0;
    a->behind[0] = chance(r, 40) ? (int32_t)tiny_below(r, 4) - 1 : 0;
    return true;
}

void tiny_draw_homes(tiny *t, tiny_random *r)
{
    for (uint32_t i = 0; i < t->n_tensors; i++)
        if (chance(r, 30))
            t->home[i] = 1 + tiny_below(r, t->memory[2].inside || t->n_memories == 2 ? 2 : 3);
}

void tiny_draw_waits(tiny *t, tiny_random *r)
{
    t->waits = true;
    t->objective = chance(r, 60) ? TINY_LATENCY : TINY_PRODUCT;
    for (uint32_t m = 1; m < t->n_memories; m++) {
        t->memory[m].buffers = chance(r, 25) ? 2 : 1;
        t->memory[m].stream = chance(r, 15);
    }
    for (uint32_t a = 0; a < t->n_axes; a++) {
        t->link_rate[a] = chance(r, 50) ? 1 + tiny_below(r, 8) : 0;
        t->link_latency[a] = t->link_rate[a] / 3;
        t->link_kind[a] = t->link_rate[a] % 3;
    }
}

void tiny_draw_charges(tiny *t, tiny_random *r)
{
    for (uint32_t m = 0; m < t->n_memories; m++)
        t->memory[m].latency = chance(r, 25) ? 1 + tiny_below(r, 4) : 0;
    for (uint32_t a = 0; a < t->n_axes; a++) {
        t->link_rate[a] = chance(r, 60) ? 1 + tiny_below(r, 8) : 0;
        t->link_latency[a] = chance(r, 40) ? 1 + tiny_below(r, 4) : 0;
        t->link_kind[a] = tiny_below(r, TINY_KINDS);
        t->links[a] = chance(r, 60) ? 1 + tiny_below(r, 30) : 0;
    }
    t->launch = chance(r, 30) ? 1 + tiny_below(r, 8) : 0;
}

void tiny_draw_rows(tiny *t, tiny_random *r)
{
    static const uint32_t rows[6] = { 12, 20, 24, 40, 64, 100 };

    for (uint32_t m = 0; m < t->n_memories; m++)
        t->memory[m].access = t->memory[m].inside || chance(r, 30) ? 0 : rows[tiny_below(r, 6)];
    t->objective = chance(r, 70) ? TINY_ENERGY : TINY_PRODUCT;
}

static bool is_made(const tiny *t, uint32_t tensor)
{
    for (uint32_t e = 0; e < t->n_einsums; e++)
        if (t->einsum[e].out.tensor == tensor)
            return true;
    return false;
}

static const tiny_access *first_read(const tiny *t, uint32_t tensor)
{
    for (uint32_t e = 0; e < t->n_einsums; e++)
        for (uint32_t i = 0; i < t->einsum[e].n_in; i++)
            if (t->einsum[e].in[i].tensor == tensor)
                return &t->einsum[e].in[i];
    return NULL;
}

/* Size of the whole tensor, bits. */
static uint32_t bits_of(const tiny *t, uint32_t tensor)
{
    const tiny_access *a = first_read(t, tensor);
    int64_t bits = t->bits[tensor];

    for (uint32_t e = 0; e < t->n_einsums && a == NULL; e++)
        a = t->einsum[e].out.tensor == tensor ? &t->einsum[e].out : NULL;
    for (uint32_t d = 0; d < a->n; d++)
        bits *= t->extent[a->rank[d]] + (a->second[d] >= 0 ? t->extent[a->second[d]] - 1 : 0);
    return (uint32_t)bits;
}

void tiny_draw_limits(tiny *t, tiny_random *r)
{
    uint32_t settled = 0, exchanged = 0;

    for (uint32_t i = 0; i < t->n_tensors; i++)
        if (is_made(t, i) && first_read(t, i))
            exchanged = bits_of(t, i) > exchanged ? bits_of(t, i) : exchanged;
        else
            settled += bits_of(t, i);
    t->memory[0].foreign = chance(r, 60);
    t->memory[1].foreign = t->memory[0].foreign && t->n_memories == 3 && !t->memory[2].inside && chance(r, 50);
    if (exchanged > 0 && (!t->memory[0].foreign || chance(r, 20)))
        t->memory[0].bits = settled + 1 + tiny_below(r, exchanged);
}

void tiny_draw_arrays(tiny *t, tiny_random *r)
{
    uint32_t total = 0, most = chance(r, 75) ? 2 : 3;

    for (uint32_t i = 0; i < t->n_tensors; i++)
        total += t->bits[i] * 12;
    for (uint32_t i = 0; i < t->n_ranks; i++)
        t->extent[i] = t->extent[i] > most ? 2 : t->extent[i];
    t->nested = chance(r, 40);
    t->n_axes = t->nested || chance(r, 20) ? 2 : 1;
    t->n_memories = t->nested ? 4 : 3;
    for (uint32_t a = 0; a < t->n_axes; a++) {
        t->size[a] = 2 + tiny_below(r, 3);
        t->multicast[a] = chance(r, 60);
        t->reduce[a] = chance(r, 60);
    }
    for (uint32_t m = 2; m < t->n_memories; m++) {
        draw_memory(r, &t->memory[m], 2, total);
        t->memory[m].inside = m == 3 || !t->nested || chance(r, 70);
    }
    if (chance(r, 70))
        t->memory[1].bits = 8 + tiny_below(r, total / 4);
    for (uint32_t a = 0; a < t->n_axes; a++)
        t->links[a] = chance(r, 50) ? 1 + tiny_below(r, 8) : 0;
}

void tiny_draw_spreads(tiny *t, tiny_random *r)
{
    t->n_axes = chance(r, 75) ? 2 : 1;
    t->nested = false;
    t->n_memories = t->n_einsums == 1 && chance(r, 15) ? 3 : 2;
    if (t->n_memories == 3)
        draw_memory(r, &t->memory[2], 2, 100);
    t->memory[2].inside = t->n_memories == 3;
    for (uint32_t i = 0; i < t->n_ranks && t->n_memories == 3; i++)
        t->extent[i] = t->extent[i] > 3 ? 2 : t->extent[i];
    for (uint32_t a = 0; a < t->n_axes; a++) {
        t->size[a] = 2 + tiny_below(r, 3);
        t->reduce[a] = chance(r, 50);
        t->multicast[a] = !t->reduce[a] || chance(r, 20);
    }
    t->objective = chance(r, 50) ? TINY_LATENCY : TINY_PRODUCT;
    t->links[0] = chance(r, 50) ? 1 + tiny_below(r, 8) : 0;
}

/* ---- text ---- */

static void print_step(uint32_t step, FILE *out)
{
    if (step > 0)
        fprintf(out, "%u * ", step);
}

static void print_access(const tiny_access *a, uint32_t shift, FILE *out)
{
    fprintf(out, "T%u[", (a->tensor + shift) % TINY_TENSORS);
    for (uint32_t d = 0; d < a->n; d++) {
        fprintf(out, "%s", d > 0 ? ", " : "");
        print_step(a->step[d], out);
        fprintf(out, "%c", 'a' + (a->rank[d] + shift) % TINY_RANKS);
        if (a->second[d] >= 0) {
            fprintf(out, " + ");
            print_step(a->apart[d], out);
            fprintf(out, "%c", 'a' + ((uint32_t)a->second[d] + shift) % TINY_RANKS);
        }
        if (a->before[d] > 0)
            fprintf(out, " - %u", a->before[d]);
    }
    fprintf(out, "]");
}

/* The tensor as it is declared: a dimension that windows slide along has a size. */
static void print_shape(const tiny *t, const tiny_access *a, uint32_t shift, FILE *out)
{
    fprintf(out, "T%u[", (a->tensor + shift) % TINY_TENSORS);
    for (uint32_t d = 0; d < a->n; d++) {
        fprintf(out, "%s", d > 0 ? ", " : "");
        if (a->second[d] >= 0)
            fprintf(out, "x%u: %lld", d, (long long)length_of(t, a, d));
        else
            fprintf(out, "%c", 'a' + (a->rank[d] + shift) % TINY_RANKS);
    }
    fprintf(out, "]");
}

static void print_workload(const tiny *t, uint32_t shift, FILE *out)
{
    bool back = shift % 2 == 1;

    fprintf(out, "workload tiny : bits(8) {\n    rank ");
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        uint32_t r = back ? t->n_ranks - 1 - i : i;
        fprintf(out, "%s%c = %lld", i > 0 ? ", " : "", 'a' + (r + shift) % TINY_RANKS, (long long)t->extent[r]);
    }
    fprintf(out, ";\n");
    for (uint32_t i = 0; i < t->n_tensors; i++) {
        uint32_t tensor = back ? t->n_tensors - 1 - i : i;
        if (is_made(t, tensor) || !first_read(t, tensor))
            continue;
        fprintf(out, "    input ");
        print_shape(t, first_read(t, tensor), shift, out);
        fprintf(out, " : bits(%u);\n", t->bits[tensor]);
    }
    for (uint32_t e = 0; e < t->n_einsums; e++) {
        const tiny_einsum *einsum = &t->einsum[e];
        fprintf(out, "    %s", first_read(t, einsum->out.tensor) ? "" : "output ");
        print_access(&einsum->out, shift, out);
        fprintf(out, " : bits(%u) %s ", t->bits[einsum->out.tensor], einsum->reduces ? "+=" : "=");
        for (uint32_t i = 0; i < einsum->n_in; i++) {
            fprintf(out, "%s", i == 0 ? "" : einsum->sum ? " + " : " * ");
            print_access(&einsum->in[i], shift, out);
        }
        fprintf(out, ";\n");
    }
    fprintf(out, "}\n\n");
}

static void print_side(const char *name, uint32_t rate, uint32_t energy, FILE *out)
{
    fprintf(out, "%s { ", name);
    if (rate > 0)
        fprintf(out, "bandwidth = %uB/s; ", rate);
    fprintf(out, "energy = %uJ/bit; } ", energy);
}

static void print_memory(const tiny *t, uint32_t i, FILE *out)
{
    const tiny_memory *m = &t->memory[i];

    fprintf(out, "    memory m%u { ", i);
    if (m->bits == 0)
        fprintf(out, "size = unlimited; ");
    else
        fprintf(out, "size = %.3fB; ", m->bits / 8.0);
    if (m->foreign)
        fprintf(out, "holds = input, output; ");
    if (m->one_port && m->read_rate > 0 && m->write_rate > 0)
        fprintf(out, "ports = shared; ");
    if (m->buffers > 1)
        fprintf(out, "buffers = %u; ", m->buffers);
    if (m->stream)
        fprintf(out, "overlap = stream; ");
    if (m->access > 0)
        fprintf(out, "access = %ubit; ", m->access);
    if (m->latency > 0)
        fprintf(out, "latency = %us; ", m->latency);
    if (m->leakage > 0)
        fprintf(out, "leakage = %uW; ", m->leakage);
    print_side("read", m->read_rate, m->read_energy, out);
    print_side("write", m->write_rate, m->write_energy, out);
    if (m->has_drain)
        print_side(m->free_drains ? "drain { bandwidth = unlimited; } drain" : "drain", 0, m->drain_energy, out);
    fprintf(out, "}\n");
}

static void print_axes(const char *name, const bool *on, uint32_t first, uint32_t end, FILE *out)
{
    const char *between = "";

    for (uint32_t a = first; a < end; a++) {
        if (!on[a])
            continue;
        fprintf(out, "%sx%u", between[0] ? between : name, a);
        between = ", ";
    }
    if (between[0])
        fprintf(out, "; ");
}

/* An array of some of the axes begins. */
static void open_array(const tiny *t, const char *links, uint32_t first, uint32_t end, FILE *out)
{
    static const char *const kinds[TINY_KINDS] = { "bus", "mesh", "crossbar", "torus", "switch", "fully_connected" };

    fprintf(out, "    network %s = %s { ", links, kinds[t->link_kind[first]]);
    if (t->link_rate[first] > 0)
        fprintf(out, "bandwidth = %uB/s; ", t->link_rate[first]);
    if (t->link_latency[first] > 0)
        fprintf(out, "latency = %us; ", t->link_latency[first]);
    print_axes("multicast = ", t->multicast, first, end, out);
    print_axes("reduce = ", t->reduce, first, end, out);
    if (t->links[first] > 0)
        fprintf(out, "energy = %uJ/bit; ", t->links[first]);
    fprintf(out, "}\n    array x%u[%u]", first, t->size[first]);
    for (uint32_t a = first + 1; a < end; a++)
        fprintf(out, ", x%u[%u]", a, t->size[a]);
    fprintf(out, " over %s {\n", links);
}

static void print_system(const tiny *t, FILE *out)
{
    fprintf(out, "system chip {\n");
    for (uint32_t m = 0; m < t->n_memories; m++)
        if (!t->memory[m].inside)
            print_memory(t, m, out);
    if (t->n_axes > 0)
        open_array(t, "links", 0, t->nested ? 1 : t->n_axes, out);
    for (uint32_t m = 0; m < t->n_memories; m++) {
        if (t->nested && m == 3)
            open_array(t, "inner", 1, 2, out);
        if (t->memory[m].inside)
            print_memory(t, m, out);
    }
    fprintf(out, "    compute unit { ");
    if (t->launch > 0)
        fprintf(out, "launch = %us; ", t->launch);
    fprintf(out, "rate { mac = %uMAC/s; flop = %uFLOP/s; } ", t->unit_rate, t->unit_rate);
    fprintf(out, "energy { mac = %uJ/MAC; flop = %uJ/FLOP; } }\n", t->unit_energy, t->unit_energy);
    fprintf(out, "%s%s}\n\n", t->nested ? "    }\n" : "", t->n_axes > 0 ? "    }\n" : "");
}

void tiny_print_problem(const tiny *t, uint32_t shift, FILE *out)
{
    print_workload(t, shift, out);
    print_system(t, out);
}

const char *tiny_objective_text(const tiny *t)
{
    static const char *const objectives[] = { "energy", "latency", "energy * latency" };

    return objectives[t->objective];
}

void tiny_print(const tiny *t, uint32_t shift, FILE *out)
{
    tiny_print_problem(t, shift, out);
    fprintf(out, "mapping best for tiny on chip {\n%s", t->waits ? "" : "    option overlap = perfect;\n");
    for (uint32_t i = 0; i < t->n_tensors; i++)
        if (t->home[i] > 0)
            fprintf(out, "    keep T%u in m%u;\n", (i + shift) % TINY_TENSORS, t->home[i] - 1);
    fprintf(out, "    ...;\n    minimize %s;\n}\n", tiny_objective_text(t));
}

/* ---- shrinking ---- */

static bool smaller(tiny *t, const tiny *changed, bool (*fails)(void *, const tiny *), void *context)
{
    if (memcmp(t, changed, sizeof *t) == 0 || !fails(context, changed))
        return false;
    *t = *changed;
    return true;
}

static bool shrink_memory(tiny *t, uint32_t m, bool (*fails)(void *, const tiny *), void *context)
{
    bool any = false;
    tiny c = *t;

    c.memory[m].leakage = 0;
    c.memory[m].latency = 0;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].buffers = 1;
    c.memory[m].stream = false;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].read_rate = c.memory[m].write_rate = 0;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].access = 0;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].has_drain = c.memory[m].free_drains = false;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].write_energy = c.memory[m].read_energy;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].read_energy = c.memory[m].write_energy = 0;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].bits = m > 0 ? 100000 : 0;
    any |= smaller(t, &c, fails, context);
    c = *t;
    c.memory[m].foreign = false;
    return smaller(t, &c, fails, context) || any;
}

void tiny_shrink(tiny *t, bool (*fails)(void *context, const tiny *t), void *context)
{
    bool any = true;

    while (any) {
        tiny c = *t;
        any = false;
        if (c.n_memories == 3) {
            c.n_memories = 2;
            memset(&c.memory[2], 0, sizeof c.memory[2]);
            any |= smaller(t, &c, fails, context);
        } else if (c.nested) {
            c.nested = false;
            memset(&c.memory[--c.n_memories], 0, sizeof c.memory[3]);
            any |= smaller(t, &c, fails, context);
        }
        for (uint32_t e = 0; e < t->n_einsums && t->n_einsums > 1; e += t->n_einsums - 1) {
            c = *t;
            memmove(&c.einsum[0], &c.einsum[e == 0], (size_t)(c.n_einsums - 1) * sizeof *c.einsum);
            c.n_einsums--;
            memset(&c.einsum[c.n_einsums], 0, sizeof *c.einsum);
            any |= smaller(t, &c, fails, context);
        }
        c = *t;
        if (c.n_axes > 0 && !c.nested) {
            c.size[--c.n_axes] = 0;
            c.memory[2].inside &= c.n_axes > 0;
            any |= smaller(t, &c, fails, context);
        }
        for (uint32_t r = 0; r < t->n_ranks; r++) {
            c = *t;
            c.extent[r] = 2;
            any |= smaller(t, &c, fails, context);
        }
        for (uint32_t i = 0; i < t->n_tensors; i++) {
            c = *t;
            c.bits[i] = 8;
            any |= smaller(t, &c, fails, context);
            c = *t;
            c.home[i] = 0;
            any |= smaller(t, &c, fails, context);
        }
        for (uint32_t m = 0; m < t->n_memories; m++)
            any |= shrink_memory(t, m, fails, context);
        for (uint32_t i = 0; i < 4; i++) {
            tiny_access *a = &c.einsum[0].in[0];
            c = *t;
            *(i == 0 ? &a->step[0] : i == 1 ? &a->apart[0] : &a->before[0]) = 0;
            a->behind[0] = i == 3 ? 0 : a->behind[0];
            any |= smaller(t, &c, fails, context);
        }
        c = *t;
        c.unit_energy = 0;
        any |= smaller(t, &c, fails, context);
        c = *t;
        c.launch = 0;
        any |= smaller(t, &c, fails, context);
        for (uint32_t a = 0; a < t->n_axes; a++) {
            c = *t;
            c.link_rate[a] = c.link_latency[a] = c.link_kind[a] = 0;
            any |= smaller(t, &c, fails, context);
            c = *t;
            c.links[a] = 0;
            any |= smaller(t, &c, fails, context);
        }
    }
}
