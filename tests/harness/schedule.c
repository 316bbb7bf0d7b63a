/* Event simulation of a small nest. */
#include "tests/harness/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 1500,
    MEMORY_PORTS = 2 * SCHEDULE_MEMORIES * SCHEDULE_INSTANCES, /* reads and writes of every instance of every memory */
    LINKS = 4 * SCHEDULE_INSTANCES,                            /* of a mesh of two axes */
    PORTS = MEMORY_PORTS + LINKS
};

/* Elements of a tile of one instance: which it holds, which of them have a value, which were filled, which were modified, and
   of which an update has reached the tile or a tile that it has filled. */
typedef struct {
    bool held[SCHEDULE_ELEMENTS], valued[SCHEDULE_ELEMENTS], filled[SCHEDULE_ELEMENTS], modified[SCHEDULE_ELEMENTS];
    bool touched[SCHEDULE_ELEMENTS];
} tile;

/* A transfer of one tensor into (or out of) all instances of a memory when a step begins. */
typedef struct {
    double load[PORTS];   /* seconds at each port and link */
    double latency;       /* seconds until the first element has arrived at the farthest instance of the transfer */
    bool moves;
} transfer;

/* The work of all instances on a step: the points of the busiest instance, and the operands that cross ports and links. */
typedef struct { double points, load[PORTS]; } work;

typedef struct run {
    const schedule_nest *nest;
    uint32_t n_instances;
    uint32_t above, inner;                               /* in a branch: loops above it, and its first memory; else 0 */
    uint32_t turn[STEPS + 1], n_turns;                   /* [turn]: its first step; turn[n_turns]: the end */
    uint32_t from, to;                                   /* first step of the turn at hand, and of the next one */
    struct run *child[SCHEDULE_CHILDREN];                /* the children of a branch, whose steps are the turns */
    uint32_t n_children;
    int64_t parts[SCHEDULE_AXES];                        /* coordinates in use */
    int64_t trips[SCHEDULE_LOOPS], at[SCHEDULE_LOOPS];
    tile tiles[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_INSTANCES];
    transfer (*moves)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][2]; /* [step]...[in]: after the last step: at the end */
    work *works;                                         /* [step] */
    uint32_t n_steps;
    bool (*entering)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_ELEMENTS]; /* [step]: elements with a value */
    bool (*leaving)[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_ELEMENTS];
    double busy[PORTS];
    double seconds;                                      /* of a child of a branch: all turns */
    bool alone;
} run;

/* ---- instances and links ----------------------------------------------------------------------------------------- */

static int64_t coordinate(const run *r, uint32_t instance, uint32_t axis)
{
    return axis == 0 ? instance / r->parts[1] : instance % r->parts[1];
}

static uint32_t instance_at(const run *r, int64_t x, int64_t y) { return (uint32_t)(x * r->parts[1] + y); }

/* Number of instances of a memory; n_memories = those of the unit. */
static uint32_t count_instances(const run *r, uint32_t m) { return m >= r->nest->array.inside ? r->n_instances : 1; }

/* Whether a transfer between two memories crosses the network. */
static bool crosses(const run *r, uint32_t outer, uint32_t inner)
{
    return outer < r->nest->array.inside && inner >= r->nest->array.inside && r->nest->array.kind != SCHEDULE_NO_NETWORK;
}

/* Port of an instance of a memory. */
static uint32_t port_of(const run *r, uint32_t m, uint32_t instance, bool writes)
{
    bool second = writes && !r->nest->memory[m].one_port;

    return 2 * (m * SCHEDULE_INSTANCES + (count_instances(r, m) == 1 ? 0 : instance)) + (uint32_t)second;
}

/* Marks the links of one instance's route. */
static void mark_route(const run *r, uint32_t instance, bool up, bool *used)
{
    const uint32_t first = up ? 2 * SCHEDULE_INSTANCES : 0;
    int64_t x = coordinate(r, instance, 0), y = coordinate(r, instance, 1);

    switch (r->nest->array.kind) {
    case SCHEDULE_BUS: used[0] = true; break;
    case SCHEDULE_CROSSBAR:
        used[up] = true;
        used[2 + (up ? SCHEDULE_INSTANCES : 0u) + instance] = true;
        break;
    case SCHEDULE_MESH: /* along the first axis, then along the second */
        for (int64_t q = 0; q < x; q++)
            used[first + instance_at(r, q, up ? y : 0)] = true;
        for (int64_t q = 0; q < y; q++)
            used[first + SCHEDULE_INSTANCES + instance_at(r, up ? 0 : x, q)] = true;
        break;
    case SCHEDULE_NO_NETWORK: break;
    }
}

static double count_hops(const run *r, uint32_t instance)
{
    if (r->nest->array.kind == SCHEDULE_MESH)
        return (double)(coordinate(r, instance, 0) + coordinate(r, instance, 1));
    return r->nest->array.kind == SCHEDULE_NO_NETWORK ? 0 : 1;
}

/* The instances of a set that share a transfer with one of them: those that differ only on the axes in `shared`. */
static uint32_t find_group(const run *r, uint32_t set, uint32_t instance, uint32_t shared)
{
    uint32_t group = 0;

    for (uint32_t i = 0; i < r->n_instances; i++) {
        bool same = set >> i & 1;
        for (uint32_t a = 0; a < SCHEDULE_AXES; a++)
            same &= shared >> a & 1 || coordinate(r, i, a) == coordinate(r, instance, a);
        group |= (uint32_t)same << i;
    }
    return group;
}

/* The axes along which the instances share the transfers of a tensor. */
static uint32_t find_shared(const run *r, uint32_t t, bool up)
{
    uint32_t shared = 0;

    for (uint32_t a = 0; a < SCHEDULE_AXES; a++)
        shared |= ((up ? r->nest->array.reduce : r->nest->array.multicast)[a] >> t & 1) << a;
    return shared;
}

/* Adds the passage of one element to or from a group of instances to the loads of the links. Returns the latency. */
static double cross(const run *r, uint32_t t, uint32_t group, bool up, double *load)
{
    bool used[LINKS] = { false };
    double latency = 0;

    for (uint32_t i = 0; i < r->n_instances; i++)
        if (group >> i & 1) {
            mark_route(r, i, up, used);
            latency = fmax(latency, r->nest->array.latency * count_hops(r, i));
        }
    for (uint32_t k = 0; k < LINKS; k++)
        load[MEMORY_PORTS + k] += used[k] ? r->nest->tensor[t].bits / r->nest->array.bandwidth : 0;
    return latency;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The indices of a rank below the first `n` loops in one instance. */
static void find_piece(const run *r, uint32_t instance, uint32_t rank, uint32_t n, int64_t *from, int64_t *to)
{
    *from = 0;
    *to = r->nest->extent[rank];
    for (uint32_t i = 0; i < n; i++)
        if (r->nest->loop[i].rank == rank) {
            uint32_t axis = r->nest->loop[i].axis;
            int64_t part = r->nest->loop[i].tile, end;
            *from += (axis == SCHEDULE_TEMPORAL ? r->at[i] : coordinate(r, instance, axis)) * part;
            end = *from + part;
            *to = end < *to ? end : *to;
        }
}

static bool is_idle(const run *r, uint32_t instance, uint32_t n)
{
    for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++) {
        int64_t from, to;
        find_piece(r, instance, rank, n, &from, &to);
        if (from >= to)
            return true;
    }
    return false;
}

/* Marks the elements of a tensor that the loops below the first `n` touch in one instance. */
static void find_touched(const run *r, uint32_t instance, uint32_t t, uint32_t n, bool *held)
{
    const schedule_tensor *tensor = &r->nest->tensor[t];
    bool touched[SCHEDULE_DIMS][SCHEDULE_ELEMENTS] = { { false } };

    memset(held, 0, SCHEDULE_ELEMENTS);
    if (is_idle(r, instance, n))
        return;
    for (uint32_t d = 0; d < SCHEDULE_DIMS; d++) {
        int64_t a = 0, b = 1, c = 0, e = 1;
        if (d < tensor->n_dims)
            find_piece(r, instance, tensor->rank[d], n, &a, &b);
        if (d < tensor->n_dims && tensor->other[d] != UINT32_MAX)
            find_piece(r, instance, tensor->other[d], n, &c, &e);
        for (int64_t i = a; i < b; i++)
            for (int64_t k = c; k < e; k++)
                touched[d][i + k] = true;
    }
    int64_t columns = tensor->n_dims > 1 ? tensor->extent[1] : 1;
    for (int64_t i = 0; i < tensor->extent[0]; i++)
        for (int64_t k = 0; k < columns; k++)
            held[i * columns + k] = touched[0][i] && touched[1][k];
}

/* The element of a tensor that one point touches. */
static uint32_t find_element(const schedule_tensor *tensor, const int64_t *point)
{
    int64_t at = 0;

    for (uint32_t d = 0; d < tensor->n_dims; d++)
        at = at * tensor->extent[d] + point[tensor->rank[d]] + (tensor->other[d] != UINT32_MAX ? point[tensor->other[d]] : 0);
    return (uint32_t)at;
}

/* The next outer memory that keeps a tensor. */
static uint32_t outer_of(const schedule_nest *nest, uint32_t m, uint32_t t)
{
    do
        m--;
    while (!(nest->memory[m].keeps >> t & 1));
    return m;
}

static tile *tile_of(run *r, uint32_t m, uint32_t t, uint32_t instance)
{
    return &r->tiles[m][t][count_instances(r, m) == 1 ? 0 : instance];
}

/* An update reaches an element of a tile: the outer keep that has filled it has no value any more (rule 4). */
static void touch(run *r, uint32_t m, uint32_t t, uint32_t instance, uint32_t x)
{
    tile *own = tile_of(r, m, t, instance);

    own->valued[x] = own->modified[x] = true;
    while (!own->touched[x]) {
        own->touched[x] = true;
        if (!own->filled[x] || m == 0)
            return;
        m = outer_of(r->nest, m, t);
        own = tile_of(r, m, t, instance);
        own->valued[x] = false;
    }
}

/* Adds what updates of one element from a set of instances take: the groups that `reduce` makes meet on the way. The group of
   the filled instance comes first. `m`: memory at the outer end. Returns the latency. */
static double update(run *r, uint32_t m, uint32_t inner, uint32_t t, uint32_t set, uint32_t first, uint32_t x, double *load)
{
    bool far = crosses(r, m, inner);
    uint32_t shared = m < r->nest->array.inside && inner >= r->nest->array.inside ? find_shared(r, t, true) : 0;
    const schedule_memory *memory = &r->nest->memory[m];
    double latency = 0;

    while (set) {
        uint32_t i = set >> first & 1 ? first : (uint32_t)__builtin_ctz(set), group = find_group(r, set, i, shared);
        set &= ~group;
        if (far)
            latency = fmax(latency, cross(r, t, group, true, load));
        if (tile_of(r, m, t, i)->valued[x])
            load[port_of(r, m, i, false)] += r->nest->tensor[t].bits / memory->read_rate;
        load[port_of(r, m, i, true)] += r->nest->tensor[t].bits / memory->write_rate;
        touch(r, m, t, i, x);
    }
    return latency;
}

/* Adds what reads of one element by a set of instances take. Returns the latency. */
static double serve(const run *r, uint32_t m, uint32_t inner, uint32_t t, uint32_t set, double *load)
{
    bool far = crosses(r, m, inner);
    uint32_t shared = m < r->nest->array.inside && inner >= r->nest->array.inside ? find_shared(r, t, false) : 0;
    double latency = 0;

    while (set) {
        uint32_t i = (uint32_t)__builtin_ctz(set), group = find_group(r, set, i, shared);
        set &= ~group;
        if (far)
            latency = fmax(latency, cross(r, t, group, false, load));
        load[port_of(r, m, i, false)] += r->nest->tensor[t].bits / r->nest->memory[m].read_rate;
    }
    return latency;
}

/* One element leaves the tiles of a set of instances. */
static void drain(run *r, uint32_t step, uint32_t m, uint32_t t, uint32_t set, uint32_t x)
{
    uint32_t outer = outer_of(r->nest, m, t), modified = 0, first = 0;
    transfer *to = &r->moves[step][m][t][0];

    for (uint32_t left = set; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        tile *own = &r->tiles[m][t][i];
        own->held[x] = false;
        if (!own->modified[x])
            continue;
        modified |= 1u << i;
        first = own->filled[x] ? i : first;
        to->load[port_of(r, m, i, false)] += r->nest->tensor[t].bits / r->nest->memory[m].read_rate;
    }
    if (!modified)
        return;
    to->moves = r->leaving[step][m][t][x] = true;
    to->latency = fmax(to->latency, r->nest->memory[outer].latency + update(r, outer, m, t, modified, first, x, to->load));
}

/* One element enters the tiles of a set of instances. A result has at most one receiver of its value in each instance of the
   outer memory. */
static void fill(run *r, uint32_t step, uint32_t m, uint32_t t, uint32_t set, uint32_t x)
{
    uint32_t outer = outer_of(r->nest, m, t), filled = 0;
    transfer *to = &r->moves[step][m][t][1];
    bool seen = false;

    for (uint32_t left = set; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        tile *own = &r->tiles[m][t][i];
        bool value = tile_of(r, outer, t, i)->valued[x] && !(seen && r->nest->tensor[t].result);
        seen |= value && count_instances(r, outer) == 1;
        own->held[x] = true;
        own->modified[x] = own->touched[x] = false;
        own->valued[x] = own->filled[x] = value;
        if (!value)
            continue;
        filled |= 1u << i;
        to->load[port_of(r, m, i, true)] += r->nest->tensor[t].bits / r->nest->memory[m].write_rate;
    }
    if (!filled)
        return;
    to->moves = r->entering[step][m][t][x] = true;
    to->latency = fmax(to->latency, r->nest->memory[outer].latency + serve(r, outer, m, t, filled, to->load));
}

/* Everything leaves, innermost first; then everything enters, outermost first. `end`: nothing enters. At the first step of a
   turn, the memories below the branch have become empty. */
static void change_tiles(run *r, uint32_t step, bool end)
{
    const schedule_nest *nest = r->nest;
    const bool starts = r->n_turns > 0 && r->turn[r->n_turns - 1] == step && r->above > 0;
    static bool next[SCHEDULE_MEMORIES][SCHEDULE_TENSORS][SCHEDULE_INSTANCES][SCHEDULE_ELEMENTS];

    memset(r->moves[step], 0, sizeof r->moves[step]);
    memset(next, 0, sizeof next);
    for (uint32_t m = 1; m < nest->n_memories && !end; m++)
        for (uint32_t t = 0; t < nest->n_tensors; t++)
            for (uint32_t i = 0; nest->memory[m].keeps >> t & 1 && i < count_instances(r, m); i++)
                find_touched(r, i, t, nest->memory[m].above, next[m][t][i]);
    for (uint32_t way = 0; way < 2; way++)
        for (uint32_t k = 1; k < nest->n_memories; k++)
            for (uint32_t t = 0; t < nest->n_tensors; t++) {
                uint32_t m = way ? k : nest->n_memories - k, moving = 0;
                for (uint32_t x = 0; nest->memory[m].keeps >> t & 1 && x < SCHEDULE_ELEMENTS; x++) {
                    uint32_t set = 0;
                    for (uint32_t i = 0; i < count_instances(r, m); i++) {
                        bool held = r->tiles[m][t][i].held[x], wanted = next[m][t][i][x];
                        set |= (uint32_t)(way ? wanted && !held : held && (!wanted || (starts && m >= r->inner))) << i;
                    }
                    if (set)
                        (way ? fill : drain)(r, step, m, t, set, x);
                    moving |= set;
                }
                r->alone |= moving != 0 && !(moving & 1);
            }
}

/* The reads and updates of all instances at one point of their pieces. `piece`: [instance][rank]: from, to. */
static void work_on_point(run *r, uint32_t step, int64_t piece[][SCHEDULE_RANKS][2], const int64_t *offset)
{
    const schedule_nest *nest = r->nest;
    int64_t point[SCHEDULE_INSTANCES][SCHEDULE_RANKS];
    uint32_t busy = 0;

    for (uint32_t i = 0; i < r->n_instances; i++) {
        bool works = true;
        for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++) {
            point[i][rank] = piece[i][rank][0] + offset[rank];
            works &= point[i][rank] < piece[i][rank][1];
        }
        busy |= (uint32_t)works << i;
    }
    for (uint32_t t = 0; t < nest->n_tensors; t++) {
        uint32_t m = outer_of(nest, nest->n_memories, t);
        for (uint32_t left = busy; left;) {
            uint32_t first = (uint32_t)__builtin_ctz(left), x = find_element(&nest->tensor[t], point[first]), set = 0;
            for (uint32_t i = first; i < r->n_instances; i++)
                set |= (uint32_t)(left >> i & 1 && find_element(&nest->tensor[t], point[i]) == x) << i;
            left &= ~set;
            if (nest->tensor[t].result)
                update(r, m, nest->n_memories, t, set, first, x, r->works[step].load);
            else
                serve(r, m, nest->n_memories, t, set, r->works[step].load);
        }
    }
}

/* The points of a step, in lock step. */
static void work_on_step(run *r, uint32_t step)
{
    int64_t piece[SCHEDULE_INSTANCES][SCHEDULE_RANKS][2], offset[SCHEDULE_RANKS], most[SCHEDULE_RANKS];

    memset(&r->works[step], 0, sizeof r->works[step]);
    for (uint32_t i = 0; i < r->n_instances; i++)
        for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++)
            find_piece(r, i, rank, r->nest->n_loops, &piece[i][rank][0], &piece[i][rank][1]);
    for (uint32_t rank = 0; rank < SCHEDULE_RANKS; rank++)
        most[rank] = piece[0][rank][1] - piece[0][rank][0];
    for (offset[0] = 0; offset[0] < most[0]; offset[0]++)
        for (offset[1] = 0; offset[1] < most[1]; offset[1]++)
            for (offset[2] = 0; offset[2] < most[2]; offset[2]++) {
                r->works[step].points++;
                work_on_point(r, step, piece, offset);
            }
}

static bool step_forward(run *r, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        if (r->nest->loop[i].axis != SCHEDULE_TEMPORAL)
            continue;
        if (++r->at[i] < r->trips[i])
            return true;
        r->at[i] = 0;
    }
    return false;
}

static bool count_moves(run *r)
{
    const schedule_nest *nest = r->nest;
    int64_t last[SCHEDULE_LOOPS] = { 0 };

    for (uint32_t i = 0; i < nest->n_loops; i++) {
        int64_t nominal = nest->extent[nest->loop[i].rank];
        for (uint32_t k = 0; k < i; k++)
            if (nest->loop[k].rank == nest->loop[i].rank)
                nominal = nest->loop[k].tile < nominal ? nest->loop[k].tile : nominal;
        r->trips[i] = (nominal + nest->loop[i].tile - 1) / nest->loop[i].tile;
        if (nest->loop[i].axis != SCHEDULE_TEMPORAL)
            r->parts[nest->loop[i].axis] = r->trips[i];
    }
    r->n_instances = (uint32_t)(r->parts[0] * r->parts[1]);
    for (uint32_t t = 0; t < nest->n_tensors; t++)
        for (uint32_t x = 0; x < SCHEDULE_ELEMENTS; x++)
            r->tiles[0][t][0].held[x] = true, r->tiles[0][t][0].valued[x] = !nest->tensor[t].result;
    do {
        if (r->n_steps == STEPS)
            return false;
        if (is_idle(r, 0, nest->n_loops)) /* a loop makes only as many iterations as its largest piece needs */
            continue;
        bool starts = r->n_turns == 0;
        for (uint32_t i = 0; i < r->above; i++) {
            starts |= r->at[i] != last[i];
            last[i] = r->at[i];
        }
        if (starts)
            r->turn[r->n_turns++] = r->n_steps;
        change_tiles(r, r->n_steps, false);
        work_on_step(r, r->n_steps);
        r->n_steps++;
    } while (step_forward(r, nest->n_loops));
    change_tiles(r, r->n_steps, true);
    r->turn[r->n_turns] = r->to = r->n_steps;
    return true;
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

/* A transfer at the beginning of a step; NULL if nothing moves. */
static const transfer *find_transfer(const run *r, uint32_t step, uint32_t m, uint32_t t, bool in)
{
    const transfer *found = &r->moves[step][m][t][in];

    return found->moves ? found : NULL;
}

/* The longest latency of the transfers of a memory at one step in one direction. */
static double find_latency(const run *r, uint32_t step, uint32_t m, bool in)
{
    double longest = 0;

    for (uint32_t t = 0; t < r->nest->n_tensors; t++)
        if (find_transfer(r, step, m, t, in))
            longest = fmax(longest, find_transfer(r, step, m, t, in)->latency);
    return longest;
}

/* Transfers of a memory at one step, all requested at once. */
static double serve_all(const run *r, uint32_t step, uint32_t m, bool out, bool in)
{
    double sum[PORTS] = { 0 }, longest = 0;

    for (uint32_t t = 0; t < r->nest->n_tensors; t++)
        for (uint32_t way = 0; way < 2; way++) {
            const transfer *one = (way ? in : out) ? find_transfer(r, step, m, t, way) : NULL;
            for (uint32_t p = 0; one && p < PORTS; p++)
                sum[p] += one->load[p];
        }
    for (uint32_t p = 0; p < PORTS; p++)
        longest = fmax(longest, sum[p]);
    return longest + (out ? find_latency(r, step, m, false) : 0) + (in ? find_latency(r, step, m, true) : 0);
}

/* Seconds of the work of one pass: the unit and the operands side by side. */
static double run_unit(const run *r, uint32_t from, uint32_t to)
{
    double sum[PORTS] = { 0 }, longest = 0, latency = 0;

    for (uint32_t s = from; s < to; s++) {
        longest += r->works[s].points * r->nest->point;
        for (uint32_t p = 0; p < PORTS; p++)
            sum[p] += r->works[s].load[p];
    }
    for (uint32_t p = 0; p < PORTS; p++)
        longest = fmax(longest, sum[p]);
    for (uint32_t t = 0; t < r->nest->n_tensors; t++) {
        uint32_t m = outer_of(r->nest, r->nest->n_memories, t);
        double hops = 0;
        for (uint32_t i = 0; i < r->n_instances && crosses(r, m, r->nest->n_memories); i++)
            hops = fmax(hops, count_hops(r, i));
        if (!r->nest->tensor[t].result)
            latency = fmax(latency, r->nest->memory[m].latency + hops * r->nest->array.latency);
    }
    return longest + latency;
}

static double run_memory(const run *r, uint32_t m, uint32_t from, uint32_t to);

typedef struct { double ready; uint32_t step, tensor; bool in; } request;

/* A memory with two buffers at work. Steps are numbered from 0. */
typedef struct {
    const run *r;
    uint32_t m, n, begin[STEPS + 1];                  /* [step]: first step of the nest; begin[n]: the end */
    double work[STEPS], ended[STEPS], filled[STEPS];  /* ended: of the work; filled: all transfers into the tiles */
    uint32_t missing[STEPS];                          /* transfers into the tiles of a step that are not served yet */
    double left[STEPS][SCHEDULE_TENSORS];             /* end of the transfer of a result after a step, or -1 */
    request waiting[8 * SCHEDULE_TENSORS];
    uint32_t n_waiting, worked;
    double port[PORTS], end;
} double_buffer;

static bool moves_in(const double_buffer *b, uint32_t i, uint32_t t)
{
    return i < b->n && find_transfer(b->r, b->begin[i], b->m, t, true);
}

static bool moves_out(const double_buffer *b, uint32_t i, uint32_t t)
{
    return find_transfer(b->r, b->begin[i + 1], b->m, t, false);
}

static void ask(double_buffer *b, double ready, uint32_t step, uint32_t tensor, bool in)
{
    b->waiting[b->n_waiting++] = (request){ ready, step, tensor, in };
}

/* The time at which the elements of a result that enter before a step have left. */
static double left_before(const double_buffer *b, uint32_t t, uint32_t step)
{
    const run *r = b->r;
    double latest = 0;

    for (uint32_t i = 0; i + 1 < step; i++)
        for (uint32_t x = 0; moves_out(b, i, t) && x < SCHEDULE_ELEMENTS; x++)
            if (r->entering[b->begin[step]][b->m][t][x] && r->leaving[b->begin[i + 1]][b->m][t][x])
                latest = fmax(latest, b->left[i][t]);
    return latest;
}

/* The buffer of a new tile of a result: that of the tile before the previous one. -1 = it has not left yet. */
static double buffers_free(const double_buffer *b, uint32_t i)
{
    double free = 0;

    for (uint32_t t = 0; t < b->r->nest->n_tensors; t++) {
        uint32_t seen = 0;
        for (uint32_t k = i; k-- > 0 && seen < 2;)
            if (moves_out(b, k, t) && ++seen == 2) {
                if (b->left[k][t] < 0)
                    return -1;
                free = fmax(free, b->left[k][t]);
            }
    }
    return free;
}

/* Work on all steps whose tiles are there. */
static void work_on(double_buffer *b)
{
    while (b->worked < b->n && b->missing[b->worked] == 0) {
        uint32_t i = b->worked;
        double free = buffers_free(b, i);
        if (free < 0)
            return;
        b->ended[i] = fmax(fmax(free, b->filled[i]), i ? b->ended[i - 1] : 0) + b->work[i];
        b->end = fmax(b->end, b->ended[i]);
        b->worked++;
        for (uint32_t t = 0; t < b->r->nest->n_tensors; t++) {
            if (moves_out(b, i, t))
                ask(b, b->ended[i], i, t, false);
            if (moves_in(b, i + 2, t))
                ask(b, b->ended[i], i + 2, t, true);
        }
    }
}

static void serve_next(double_buffer *b)
{
    uint32_t next = 0;
    double end;

    for (uint32_t i = 1; i < b->n_waiting; i++) {
        const request *a = &b->waiting[i], *c = &b->waiting[next];
        if (a->ready != c->ready ? a->ready < c->ready : a->in != c->in ? !a->in : a->step != c->step ? a->step < c->step
                                                                                                      : a->tensor < c->tensor)
            next = i;
    }
    request q = b->waiting[next];
    b->waiting[next] = b->waiting[--b->n_waiting];
    const transfer *one = find_transfer(b->r, b->begin[q.in ? q.step : q.step + 1], b->m, q.tensor, q.in);
    if (q.in && b->r->nest->tensor[q.tensor].result) /* it enters after it has left; those requests were served before */
        q.ready = fmax(q.ready, left_before(b, q.tensor, q.step));
    end = q.ready;
    for (uint32_t p = 0; p < PORTS; p++)
        if (one->load[p] > 0) {
            b->port[p] = fmax(b->port[p], q.ready) + one->load[p];
            end = fmax(end, b->port[p]);
        }
    if (!q.in && q.step + 1 == b->n) /* the last results are waited for */
        end += find_latency(b->r, b->begin[b->n], b->m, false);
    b->end = fmax(b->end, end);
    if (q.in) {
        b->missing[q.step]--;
        b->filled[q.step] = fmax(b->filled[q.step], end);
    } else {
        b->left[q.step][q.tensor] = end;
    }
}

/* Seconds of the children of a branch in the turns from `from` to `to`. */
static double run_children(const run *r, uint32_t from, uint32_t to)
{
    double seconds = 0;

    for (uint32_t turn = from; turn < to; turn++)
        for (uint32_t i = 0; i < r->n_children; i++) {
            run *child = r->child[i];
            child->from = child->turn[turn];
            child->to = child->turn[turn + 1];
            double own = run_memory(child, child->inner, child->from, child->to);
            child->seconds += own;
            seconds += own;
        }
    return seconds;
}

/* Seconds of the steps from `from` to `to` of the nest, with the transfers of memory `m` and of those inside. */
static double run_memory(const run *r, uint32_t m, uint32_t from, uint32_t to)
{
    double seconds = 0;

    if (m == r->nest->n_memories)
        return r->n_children > 0 ? run_children(r, from, to) : run_unit(r, from, to);
    double_buffer *b = calloc(1, sizeof *b);
    *b = (double_buffer){ .r = r, .m = m };
    for (uint32_t s = from; s < to; s++) {
        bool moves = s == from;
        moves |= serve_all(r, s, m, true, true) > 0;
        if (moves)
            b->begin[b->n++] = s;
    }
    b->begin[b->n] = to;
    for (uint32_t i = 0; i < b->n; i++) {
        b->work[i] = run_memory(r, m + 1, b->begin[i], b->begin[i + 1]);
        for (uint32_t t = 0; t < r->nest->n_tensors; t++) {
            b->missing[i] += moves_in(b, i, t);
            b->left[i][t] = -1;
        }
    }
    if (r->nest->memory[m].buffers < 2) {
        for (uint32_t i = 0; i < b->n; i++)
            seconds += serve_all(r, b->begin[i], m, b->begin[i] != r->from, true) + b->work[i];
        if (to == r->to)
            seconds += serve_all(r, to, m, true, false);
        free(b);
        return seconds;
    }
    double first = find_latency(r, b->begin[0], m, true); /* the first tiles are waited for */
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t t = 0; t < r->nest->n_tensors; t++)
            if (moves_in(b, i, t))
                ask(b, first, i, t, true);
    work_on(b);
    while (b->n_waiting > 0) {
        serve_next(b);
        work_on(b);
    }
    seconds = b->end;
    free(b);
    return seconds;
}

/* Sums the seconds of all ports and links from memory `m` on. Returns those of the unit. */
static double sum_busy(const run *r, uint32_t m, double *busy)
{
    double unit = 0;

    for (uint32_t s = 0; s <= r->n_steps; s++)
        for (uint32_t k = m; k < r->nest->n_memories; k++)
            for (uint32_t t = 0; t < r->nest->n_tensors; t++)
                for (uint32_t in = 0; in < 2; in++)
                    for (uint32_t p = 0; p < PORTS && r->moves[s][k][t][in].moves; p++)
                        busy[p] += r->moves[s][k][t][in].load[p];
    for (uint32_t s = 0; s < r->n_steps; s++) {
        unit += r->works[s].points * r->nest->point;
        for (uint32_t p = 0; p < PORTS; p++)
            busy[p] += r->works[s].load[p];
    }
    return unit;
}

static double find_busiest(const double *busy, double least)
{
    for (uint32_t p = 0; p < PORTS; p++)
        least = fmax(least, busy[p]);
    return least;
}

static void limit_by_busiest(double busy, schedule_time *out)
{
    out->busy = busy;
    out->limited |= out->busy > out->seconds * (1 + 1e-9);
    out->seconds = fmax(out->seconds, out->busy);
}

static run *make_run(const schedule_nest *nest)
{
    run *r = calloc(1, sizeof *r);

    r->nest = nest;
    r->parts[0] = r->parts[1] = 1;
    r->moves = calloc(STEPS + 2, sizeof *r->moves);
    r->works = calloc(STEPS + 2, sizeof *r->works);
    r->entering = calloc(STEPS + 2, sizeof *r->entering);
    r->leaving = calloc(STEPS + 2, sizeof *r->leaving);
    return r;
}

static void free_run(run *r)
{
    free(r->leaving);
    free(r->entering);
    free(r->works);
    free(r->moves);
    free(r);
}

bool schedule_run(const schedule_nest *nest, schedule_time *out)
{
    run *r = make_run(nest);
    bool ok = count_moves(r);

    if (ok) {
        *out = (schedule_time){ .seconds = run_memory(r, 1, 0, r->n_steps), .alone = r->alone };
        limit_by_busiest(find_busiest(r->busy, sum_busy(r, 1, r->busy)), out);
    }
    free_run(r);
    return ok;
}

/* Copies the transfers of a child into the memory above the branch, as those of the tensors from `first` on. */
static void copy_moves(run *to, const run *child, uint32_t first)
{
    for (uint32_t turn = 0; turn <= child->n_turns; turn++)
        for (uint32_t t = 0; t < child->nest->n_tensors; t++) {
            uint32_t step = child->turn[turn];
            memcpy(to->moves[turn][1][first + t], child->moves[step][1][t], sizeof to->moves[turn][1][first + t]);
            memcpy(to->entering[turn][1][first + t], child->entering[step][1][t], SCHEDULE_ELEMENTS);
            memcpy(to->leaving[turn][1][first + t], child->leaving[step][1][t], SCHEDULE_ELEMENTS);
        }
}

bool schedule_run_branch(const schedule_branch *branch, schedule_time *out)
{
    schedule_nest above = *branch->child[0];
    run *r = make_run(&above);
    double busy = 0;
    bool ok = true;

    above.n_memories = branch->inner;
    above.n_tensors = 0;
    r->n_children = branch->n_children;
    *out = (schedule_time){ .seconds = 0 };
    for (uint32_t i = 0; i < branch->n_children; i++) {
        run *child = r->child[i] = make_run(branch->child[i]);
        child->above = branch->n_loops;
        child->inner = branch->inner;
        ok = ok && count_moves(child);
        if (!ok)
            continue;
        if (branch->inner > 1)
            copy_moves(r, child, above.n_tensors);
        for (uint32_t t = 0; t < child->nest->n_tensors; t++)
            above.tensor[above.n_tensors++] = child->nest->tensor[t];
        r->n_steps = r->to = child->n_turns;
        out->alone |= child->alone;
        busy += sum_busy(child, 1, r->busy);
    }
    if (ok) {
        out->seconds = run_memory(r, 1, 0, r->n_steps);
        for (uint32_t i = 0; i < branch->n_children; i++) { /* each child takes at least as long as its ports are busy */
            double own = find_busiest(r->child[i]->busy, sum_busy(r->child[i], branch->inner, r->child[i]->busy));
            out->limited |= own > r->child[i]->seconds * (1 + 1e-9);
        }
        limit_by_busiest(find_busiest(r->busy, busy), out);
    }
    for (uint32_t i = 0; i < branch->n_children; i++)
        free_run(r->child[i]);
    free_run(r);
    return ok;
}
