#include "mapper/nests/keep_costs.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/evaluate.h"
#include "support/hash.h"

/* The iterations above each keep, and above the reads of a unit that holds the operand; if tiles need not divide, the loops
   themselves. All zero behind the last one. */
typedef struct {
    uint32_t operand, n, n_loops;
    struct { uint32_t place, at; } keep[DFL_PROBLEM_PLACES];
    union {
        struct { int64_t reads[DFL_PROBLEM_RANKS], above[DFL_PROBLEM_PLACES][DFL_PROBLEM_RANKS]; };
        struct { int64_t rank, tile; } loop[DFL_NEST_LOOPS];
    };
} keep_key;

typedef struct dfl_keep_entry {
    keep_key key;
    dfl_keep_costs costs;
} dfl_keep_entry;

dfl_keep_book *dfl_keep_book_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *given,
                                  const dfl_problem *problem, bool is_ragged)
{
    dfl_keep_book *book = DFL_NEW(arena, dfl_keep_book);

    *book = (dfl_keep_book){ .names = names, .given = given, .problem = problem, .is_ragged = is_ragged,
                             .work = dfl_arena_new(dfl_arena_budget(arena)),
                             .scratch = dfl_arena_new(dfl_arena_budget(arena)) };
    for (uint32_t o = 0; o < problem->n_operands; o++)
        book->is_held |= problem->operand[o].again;
    for (uint32_t p = 0; p < problem->n_places; p++)
        book->has_streams |= problem->place[p].memory != DFL_NONE && given->system->memories[problem->place[p].memory].stream;
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
static void read_costs(const dfl_keep_book *book, const dfl_result *r, dfl_keep_costs *out)
{
    const dfl_problem *problem = book->problem;
    uint32_t link = 0;

    out->joules = r->joules - r->leakage_joules;
    for (uint32_t p = 0; p < problem->n_places; p++) {
        const dfl_problem_place *place = &problem->place[p];
        if (place->memory == DFL_NONE)
            continue;
        out->busy[2 * p] = r->memories[place->memory].read_seconds;
        out->busy[2 * p + !place->one_port] += r->memories[place->memory].write_seconds;
    }
    for (uint32_t n = 0; n < r->mapping->system->n_networks && !book->is_ragged; n++)
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

/* Adds what the memories do for an operand: their energy, and the times of their ports at coordinate 0. */
static void add_own(const dfl_problem *problem, const dfl_result *r, uint32_t operand, dfl_keep_costs *out)
{
    const double bits = problem->operand[operand].bits;

    for (uint32_t i = 0; i < r->n_traffic; i++) {
        const dfl_counts *first = &r->traffic[i].first;
        uint32_t p = 0;
        if (r->traffic[i].tensor != problem->operand[operand].tensor)
            continue;
        out->own += r->traffic[i].joules;
        while (p < problem->n_places && problem->place[p].memory != r->traffic[i].memory)
            p++;
        if (p == problem->n_places || r->traffic[i].rough)
            continue;
        out->served[2 * p] += bits * ((double)(first->serve + first->accumulate) * problem->place[p].read_seconds +
                                      (double)first->drain * problem->place[p].drain_seconds);
        out->served[2 * p + !problem->place[p].one_port] += bits * (double)(first->fill + first->update) *
                                                            problem->place[p].write_seconds;
    }
}

/* Elements of a rank in the largest tile of a keep: of a piece of `left` elements below the loops from `loop` and the axes from
   `axis` on. Coordinates of axes that are not around the keep add up. */
static int64_t join_pieces(const dfl_keep_book *book, const dfl_nest_keep *keep, uint32_t rank, uint32_t loop, uint32_t axis,
                           int64_t left)
{
    const dfl_bare_nest *nest = &book->nest;

    for (; loop <= keep->at; loop++) {
        for (; axis < nest->n_axes && nest->axis[axis].after <= loop; axis++) {
            const int64_t tile = nest->axis[axis].tile;
            if (nest->axis[axis].rank != rank || tile >= left)
                continue;
            if (!(book->problem->place[keep->place].axes >> nest->axis[axis].axis & 1))
                return left / tile * join_pieces(book, keep, rank, loop, axis + 1, tile) +
                       (left % tile > 0 ? join_pieces(book, keep, rank, loop, axis + 1, left % tile) : 0);
            left = tile;
        }
        if (loop < keep->at && nest->loop[loop].rank == rank && nest->loop[loop].tile < left)
            left = nest->loop[loop].tile;
    }
    return left;
}

/* Bits of the largest tile of a keep. */
static double tile_of(const dfl_keep_book *book, const dfl_nest_keep *keep)
{
    const dfl_problem *problem = book->problem;
    const dfl_problem_operand *o = &problem->operand[keep->operand];
    int64_t piece[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        piece[r] = join_pieces(book, keep, r, 0, 0, problem->extent[r]);
    return dfl_problem_tile(o, piece) * o->bits;
}

double dfl_keep_book_room(const dfl_keep_book *book, const dfl_nest_keep *keep)
{
    return tile_of(book, keep) * book->problem->place[keep->place].buffers;
}

static double latency_of(const dfl_keep_book *book, uint32_t place)
{
    const uint32_t memory = book->problem->place[place].memory;

    return book->has_streams || memory == DFL_NONE ? 0 : book->given->system->memories[memory].latency;
}

/* Adds what passes before the work begins or after it ends: latencies, first tiles of an input, last tiles of the result. Of a
   ragged loop the last tile may have one element. First tiles of keeps for which the work does not wait go to the waits at their
   ports, too. */
static void add_ends(const dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps, dfl_keep_costs *out)
{
    const dfl_problem *problem = book->problem;
    const dfl_problem_operand *o = &problem->operand[operand];
    double latency = o->output ? 0 : latency_of(book, keeps->n > 0 ? keeps->keep[keeps->n - 1].place : o->home), ramp = 0;
    uint32_t outer = o->home;

    for (uint32_t i = 0; i < keeps->n; i++) {
        const uint32_t inner = keeps->keep[i].place;
        const dfl_problem_place *in = &problem->place[inner], *from = &problem->place[outer];
        double bits = tile_of(book, &keeps->keep[i]);
        latency += latency_of(book, outer);
        if (o->output)
            bits = book->is_ragged && keeps->keep[i].at > 0 ? o->bits : bits;
        ramp += bits * (o->output ? fmax(in->drain_seconds, from->write_seconds) : fmax(from->read_seconds, in->write_seconds));
        if (!o->output && !in->waits && !book->has_streams) {
            out->waits[2 * outer] += bits * from->read_seconds;
            out->waits[2 * inner + !in->one_port] += bits * in->write_seconds;
        }
        outer = inner;
    }
    if (o->output) {
        out->result.latency = latency;
        out->result.ramp = latency + ramp;
    } else {
        out->input.latency = latency;
        out->input.ramp = latency + ramp;
    }
}

static void find_base(dfl_keep_book *book)
{
    static const dfl_nest_keeps none = { 0 };
    const dfl_result *r = run(book, &none);

    book->base = (dfl_keep_costs){ 0 };
    for (uint32_t o = 0; o < book->problem->n_operands; o++) {
        const dfl_problem_operand *x = &book->problem->operand[o];
        if (book->problem->place[x->home].axes == 0)
            book->base.room[x->home] += dfl_problem_tile(x, book->problem->extent) * x->bits;
    }
    book->is_known = r != NULL;
    if (book->is_known) {
        read_costs(book, r, &book->base);
        book->compute_seconds = r->einsums[0].compute_seconds;
    }
    dfl_arena_reset(book->scratch);
}

void dfl_keep_book_turn(dfl_keep_book *book, const dfl_bare_nest *nest)
{
    const bool is_same = book->nest.set == nest->set;

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

void dfl_keep_book_ends(const dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps, dfl_keep_costs *out)
{
    *out = (dfl_keep_costs){ 0 };
    for (uint32_t i = 0; i < keeps->n; i++)
        out->room[keeps->keep[i].place] += dfl_keep_book_room(book, &keeps->keep[i]);
    if (!book->given->options.overlap_perfect)
        add_ends(book, operand, keeps, out);
}

static void find_costs(dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps, dfl_keep_costs *out)
{
    const dfl_result *r = book->is_known ? run(book, keeps) : NULL;

    dfl_keep_book_ends(book, operand, keeps, out);
    if (r != NULL) {
        read_costs(book, r, out);
        out->joules -= book->base.joules;
        for (uint32_t p = 0; p < DFL_NEST_PORTS; p++)
            out->busy[p] -= book->base.busy[p];
        for (uint32_t l = 0; l < DFL_NEST_LINKS; l++)
            out->links[l] -= book->base.links[l];
        add_waits(book->problem, r, operand, keeps, out);
        add_own(book->problem, r, operand, out);
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

/* Number of loops above the reads of an operand that the unit holds. */
static uint32_t count_reads(const dfl_keep_book *book, uint32_t operand)
{
    uint32_t reads = book->nest.n;

    while (reads > 0 && !(book->problem->operand[operand].ranks >> book->nest.loop[reads - 1].rank & 1))
        reads--;
    return reads;
}

static void make_key(const dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps, keep_key *key)
{
    const uint32_t reads = book->problem->operand[operand].again ? count_reads(book, operand) : 0;
    uint32_t n_loops = reads;

    memset(key, 0, sizeof *key);
    key->operand = operand;
    key->n = keeps->n;
    for (uint32_t i = 0; i < keeps->n; i++) {
        key->keep[i].place = keeps->keep[i].place;
        n_loops = keeps->keep[i].at > n_loops ? keeps->keep[i].at : n_loops;
        if (book->is_ragged)
            key->keep[i].at = keeps->keep[i].at;
        else
            count_above(book, keeps->keep[i].at, key->above[i]);
    }
    if (!book->is_ragged && book->problem->operand[operand].again)
        count_above(book, reads, key->reads);
    if (!book->is_ragged)
        return;
    key->n_loops = reads;
    for (uint32_t l = 0; l < n_loops; l++) {
        key->loop[l].rank = book->nest.loop[l].rank;
        key->loop[l].tile = book->nest.loop[l].tile;
    }
}

const dfl_keep_costs *dfl_keep_book_find(dfl_keep_book *book, uint32_t operand, const dfl_nest_keeps *keeps)
{
    dfl_keep_entry *entry;
    keep_key key;
    uint64_t hash;
    uint32_t at, item;

    make_key(book, operand, keeps, &key);
    hash = dfl_hash(&key, sizeof key, 0);
    for (item = dfl_hashmap_first(&book->map, hash, &at); item != 0; item = dfl_hashmap_next(&book->map, hash, &at))
        if (memcmp(&book->entries.at[item - 1]->key, &key, sizeof key) == 0)
            return &book->entries.at[item - 1]->costs;
    entry = DFL_NEW(book->work, dfl_keep_entry);
    entry->key = key;
    find_costs(book, operand, keeps, &entry->costs);
    DFL_PUSH(book->work, &book->entries, entry);
    dfl_hashmap_add(book->work, &book->map, hash, (uint32_t)book->entries.n);
    return &entry->costs;
}
