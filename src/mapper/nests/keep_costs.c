#include "mapper/nests/keep_costs.h"

#include <string.h>

#include "mapper/problem/evaluate.h"
#include "support/hash.h"

/* The iterations above each keep, and above the reads of a unit that holds the operand; all zero behind the last one. */
typedef struct {
    uint32_t operand, n;
    int64_t reads[DFL_PROBLEM_RANKS];
    struct { uint32_t place; int64_t above[DFL_PROBLEM_RANKS]; } keep[DFL_PROBLEM_PLACES];
} keep_key;

typedef struct dfl_keep_entry {
    keep_key key;
    dfl_keep_costs costs;
} dfl_keep_entry;

dfl_keep_book *dfl_keep_book_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                                  const dfl_problem *problem)
{
    dfl_keep_book *book = DFL_NEW(arena, dfl_keep_book);

    *book = (dfl_keep_book){ .names = names, .given = given, .problem = problem, .work = dfl_arena_new(dfl_arena_budget(arena)),
                             .scratch = dfl_arena_new(dfl_arena_budget(arena)) };
    for (uint32_t o = 0; o < problem->n_operands; o++)
        book->is_held |= problem->operand[o].again;
    return book;
}

void dfl_keep_book_free(dfl_keep_book *book)
{
    dfl_arena_free(book->scratch);
    dfl_arena_free(book->work);
}

/* Runs the model; its result is good until the scratch arena is reset. */
static const dfl_result *run(dfl_keep_book *book, const dfl_nest_keeps *keeps)
{
    book->evaluated++;
    return dfl_mapping_costs(book->scratch, book->names, dfl_nest_mapping(book->scratch, book->given, book->problem, &book->nest,
                                                                          keeps->keep, keeps->n));
}

/* Energy and times of a mapping. */
static void read_costs(const dfl_problem *problem, const dfl_result *r, dfl_keep_costs *out)
{
    uint32_t link = 0;

    out->joules = r->joules - r->leakage_joules;
    for (uint32_t p = 0; p < problem->n_places; p++) {
        const dfl_problem_place *place = &problem->place[p];
        if (place->memory == DFL_NONE)
            continue;
        out->busy[2 * p] = r->memories[place->memory].read_seconds;
        out->busy[2 * p + !place->one_port] += r->memories[place->memory].write_seconds;
    }
    for (uint32_t n = 0; n < r->mapping->system->n_networks; n++)
        for (uint32_t c = 0; c < r->networks[n].n_classes && link < DFL_NEST_LINKS; c++)
            out->links[link++] = r->networks[n].classes[c].seconds;
}

static const dfl_counts *counts_of(const dfl_problem *problem, const dfl_result *r, uint32_t operand, uint32_t place)
{
    for (uint32_t i = 0; i < r->n_traffic; i++)
        if (r->traffic[i].memory == problem->place[place].memory && r->traffic[i].tensor == problem->operand[operand].tensor)
            return &r->traffic[i].first;
    return NULL;
}

/* Adds the times at both ports of each transfer for which the work waits. */
static void add_waits(const dfl_problem *problem, const dfl_result *r, uint32_t operand, const dfl_nest_keeps *keeps,
                      dfl_keep_costs *out)
{
    const double bits = problem->operand[operand].bits;
    uint32_t outer = problem->operand[operand].home;

    for (uint32_t i = 0; i < keeps->n; i++) {
        const uint32_t inner = keeps->keep[i].place;
        const dfl_problem_place *in = &problem->place[inner], *from = &problem->place[outer];
        const dfl_counts *entered = counts_of(problem, r, operand, inner), *left = counts_of(problem, r, operand, outer);
        const uint32_t in_write = 2 * inner + !in->one_port, out_read = 2 * outer, out_write = out_read + !from->one_port;
        outer = inner;
        if (!in->waits || entered == NULL || left == NULL)
            continue;
        out->waits[2 * inner] += (double)entered->drain * bits * in->drain_seconds;
        out->waits[in_write] += (double)entered->fill * bits * in->write_seconds;
        out->waits[out_read] += (double)left->serve * bits * from->read_seconds;
        out->waits[out_write] += (double)left->update * bits * from->write_seconds;
    }
}

/* Elements of a tile of a keep, as the model holds them for tiles that divide. */
static double room_of(const dfl_keep_book *book, const dfl_nest_keep *keep, const int64_t *above)
{
    const dfl_problem *problem = book->problem;
    const dfl_problem_operand *o = &problem->operand[keep->operand];
    int64_t piece[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        piece[r] = problem->extent[r] / above[r];
        for (uint32_t a = 0; a < problem->n_axes; a++)
            if (problem->place[keep->place].axes >> a & 1)
                piece[r] /= book->nest.parts[r][a];
    }
    return dfl_problem_tile(o, piece) * o->bits * problem->place[keep->place].buffers;
}

static void find_base(dfl_keep_book *book)
{
    static const dfl_nest_keeps none = { 0 };
    const dfl_result *r = run(book, &none);

    book->base = (dfl_keep_costs){ 0 };
    book->is_known = r != NULL;
    if (book->is_known) {
        read_costs(book->problem, r, &book->base);
        book->compute_seconds = r->einsums[0].compute_seconds;
    }
    dfl_arena_reset(book->scratch);
}

void dfl_keep_book_turn(dfl_keep_book *book, const dfl_bare_nest *nest)
{
    const bool is_same = book->nest.n > 0 && memcmp(book->nest.parts, nest->parts, sizeof nest->parts) == 0;

    book->nest = *nest;
    if (!is_same) {
        dfl_arena_reset(book->work);
        book->map = (dfl_hashmap){ 0 };
        book->entries.at = NULL;
        book->entries.n = book->entries.cap = 0;
    }
    if (!is_same || book->is_held)
        find_base(book);
}

static void find_costs(dfl_keep_book *book, const keep_key *key, const dfl_nest_keeps *keeps, dfl_keep_costs *out)
{
    const dfl_result *r = book->is_known ? run(book, keeps) : NULL;

    *out = (dfl_keep_costs){ 0 };
    for (uint32_t i = 0; i < keeps->n; i++)
        out->room[keeps->keep[i].place] += room_of(book, &keeps->keep[i], key->keep[i].above);
    if (r != NULL) {
        read_costs(book->problem, r, out);
        out->joules -= book->base.joules;
        for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
            out->busy[p] -= book->base.busy[p];
        for (uint32_t l = 0; l < DFL_NEST_LINKS; l++)
            out->links[l] -= book->base.links[l];
        add_waits(book->problem, r, key->operand, keeps, out);
    }
    dfl_arena_reset(book->scratch);
}

/* Sets the iterations of the first `n` loops by rank. */
static void count_above(const dfl_keep_book *book, uint32_t n, int64_t *above)
{
    for (uint32_t r = 0; r < book->problem->n_ranks; r++)
        above[r] = 1;
    for (uint32_t l = 0; l < n; l++)
        above[book->nest.loop[l].rank] *= book->nest.loop[l].factor;
}

const dfl_keep_costs *dfl_keep_book_find(dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps)
{
    dfl_keep_entry *entry;
    keep_key key;
    uint64_t hash;
    uint32_t at, item;

    memset(&key, 0, sizeof key);
    key.operand = operand;
    key.n = keeps->n;
    for (uint32_t i = 0; i < keeps->n; i++) {
        key.keep[i].place = keeps->keep[i].place;
        count_above(book, keeps->keep[i].at, key.keep[i].above);
    }
    if (book->problem->operand[operand].again) {
        uint32_t reads = book->nest.n;
        while (reads > 0 && !(book->problem->operand[operand].ranks >> book->nest.loop[reads - 1].rank & 1))
            reads--;
        count_above(book, reads, key.reads);
    }
    hash = dfl_hash(&key, sizeof key, 0);
    for (item = dfl_hashmap_first(&book->map, hash, &at); item != 0; item = dfl_hashmap_next(&book->map, hash, &at))
        if (memcmp(&book->entries.at[item - 1]->key, &key, sizeof key) == 0)
            return &book->entries.at[item - 1]->costs;
    entry = DFL_NEW(book->work, dfl_keep_entry);
    entry->key = key;
    find_costs(book, &key, keeps, &entry->costs);
    DFL_PUSH(book->work, &book->entries, entry);
    dfl_hashmap_add(book->work, &book->map, hash, (uint32_t)book->entries.n);
    return &entry->costs;
}
