/* Stalls of a level, and the overlap of its transfers with the work below it. */
#include "model/cost/time_level.h"

#include <string.h>

/* Stalls of a level that a walk remembers. Most levels have fewer different ones. */
enum { KNOWN_STALLS = 4 };

/* No loop: the beginning or the end of a run. */
enum { NO_LOOP = DFL_MAX_STEPS };

static inline double longer(double a, double b) { return a > b ? a : b; }
static inline double shorter(double a, double b) { return a < b ? a : b; }

/* ---- stalls ------------------------------------------------------------------------------------------------------ */

static inline double *row_at(const dfl_time_plan *plan, uint32_t row) { return plan->rows + row * (size_t)plan->width; }

/* Seconds for which elements that enter, leave, or both keep the resources of a level busy. */
static const double *find_loads(const dfl_keep_level *level, const dfl_transfer *t, const dfl_moves *moves, bool enters,
                                bool leaves)
{
    memset(t->now, 0, level->n_locals * sizeof *t->now);
    for (uint32_t u = 0; u < t->n_uses; u++) {
        const dfl_use *use = &t->uses[u];
        double in = enters ? dfl_use_seconds(use, moves, DFL_IN) : 0, out = leaves ? dfl_use_seconds(use, moves, DFL_OUT) : 0;
        t->now[level->local ? use->local : use->resource] += in + out;
    }
    return t->now;
}

/* Seconds of one transfer. */
static double find_longest(const dfl_keep_level *level, const double *seconds)
{
    double longest = 0;

    for (uint32_t r = 0; r < level->n_locals; r++)
        longest = longer(longest, seconds[r]);
    return longest;
}

/* Seconds of `n` transfers side by side: transfers of one tensor follow one another. */
static double find_longest_chain(const dfl_time_plan *plan, const dfl_keep_level *level, uint32_t n)
{
    double *row = row_at(plan, DFL_ROW_SUMS), longest = 0;

    memset(row, 0, level->n * sizeof *row);
    for (uint32_t k = 0; k < n; k++) {
        double *chain = &row[level->chains[plan->sides[k].position]];
        *chain += find_longest(level, plan->sides[k].seconds);
        longest = longer(longest, *chain);
    }
    return longest;
}

/* Seconds of `n` transfers without latencies. Different tensors move side by side, but each resource serves one transfer at a
   time. */
static inline double side_seconds(const dfl_time_plan *plan, const dfl_keep_level *level, uint32_t n)
{
    const dfl_moving_transfer *sides = plan->sides;
    double busiest = 0;

    for (uint32_t r = 0; r < level->n_locals; r += 2) {
        double one = 0, two = 0;
        for (uint32_t k = 0; k < n; k++) {
            one += sides[k].seconds[r];
            two += sides[k].seconds[r + 1];
        }
        busiest = longer(longer(busiest, one), two);
    }
    return level->chained ? longer(busiest, find_longest_chain(plan, level, n)) : busiest;
}

/* Seconds of both ends of a transfer, one after the other. */
static double sum_ends(const dfl_transfer *t, const dfl_moves *moves, bool enters, bool leaves)
{
    double end[2] = { 0, 0 };

    for (uint32_t u = 0; u < t->n_uses; u++) {
        const dfl_use *use = &t->uses[u];
        double busy = (enters ? dfl_use_seconds(use, moves, DFL_IN) : 0) + (leaves ? dfl_use_seconds(use, moves, DFL_OUT) : 0);
        end[use->end] = longer(end[use->end], busy);
    }
    return end[DFL_INNER] + end[DFL_OUTER];
}

/* Whether a tile that leaves at an advance of loop `j` does so before the advance: a tile ahead, and every tile of a child of
   `fuse` if other children work between two iterations of the loop. */
static inline bool leaves_before(const dfl_body_time *body, const dfl_transfer *t, uint32_t j)
{
    return t->ahead || j < body->apart;
}

/* Seconds for which one advance of loop `j` stops the work: before the advance (DFL_OUT) and after it (DFL_IN). Tiles that do
   not leave before the advance leave and enter side by side. `serial`: seconds of all transfers one after another; of
   one with a changing number of instances, those of both ends, which are out of proportion. */
static double stall_once(const dfl_time_plan *plan, const dfl_body_time *body, const dfl_keep_level *level, uint32_t j,
                         uint32_t way, dfl_again again, double *serial)
{
    double latency_out = 0, latency_in = 0;
    uint32_t n = 0;

    *serial = 0;
    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        bool before = leaves_before(body, t, j);
        if (!(t->stops >> j & 1) || (way == DFL_OUT && !before))
            continue;
        dfl_moves moves = dfl_transfer_amounts(t, j, body->advances[j], again);
        bool enters = way == DFL_IN && moves.in[DFL_INNER] + moves.in[DFL_OUTER] > 0;
        bool leaves = (way == DFL_OUT || !before) && t->written && moves.out[DFL_INNER] + moves.out[DFL_OUTER] > 0;
        if (!enters && !leaves)
            continue;
        plan->sides[n++] = (dfl_moving_transfer){ i, find_loads(level, t, &moves, enters, leaves) };
        *serial += t->spread ? sum_ends(t, &moves, enters, leaves) : find_longest(level, t->now);
        latency_in = longer(latency_in, enters && t->fetches ? t->latency[DFL_IN] : 0);
        latency_out = longer(latency_out, leaves ? t->latency[DFL_OUT] : 0);
    }
    *serial += latency_out + latency_in;
    return side_seconds(plan, level, n) + (latency_out + latency_in);
}

/* Which of two upper limits of ragged stalls to use: that of full tiles if the tiles are nearly full, or that of
   transfers one after another. The choice does not depend on rates, so that the time is a convex function of them. */
static bool prefers_full(const dfl_time_plan *plan, const dfl_body_time *body, const dfl_keep_level *level, uint32_t j)
{
    double least = 1;

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        if (!(t->stops >> j & 1))
            continue;
        dfl_moves mean = dfl_transfer_amounts(t, j, body->advances[j], DFL_AGAIN_MEAN);
        dfl_moves most = dfl_transfer_amounts(t, j, body->advances[j], DFL_AGAIN_MOST);
        least = most.in[DFL_INNER] > 0 ? shorter(least, mean.in[DFL_INNER] / most.in[DFL_INNER]) : least;
    }
    return least >= DFL_NEARLY_FULL;
}

/* Whether one port alone takes time at an advance of loop `j`: then the seconds of all advances add up. The elements that cross a
   link are known for all loops together only. */
static bool has_one_port(const dfl_time_plan *plan, const dfl_keep_level *level, uint32_t j)
{
    uint32_t only = DFL_NONE;

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        for (uint32_t u = 0; u < t->n_uses && (t->stops >> j & 1); u++) {
            if (!(t->uses[u].in + t->uses[u].out > 0))
                continue;
            if (u >= t->first_link)
                return false;
            if (only != DFL_NONE && t->uses[u].resource != only)
                return false;
            only = t->uses[u].resource;
        }
    }
    return true;
}

/* As above, for the mean advance; in `full`, an upper limit for full tiles. */
static double find_stall(const dfl_time_plan *plan, const dfl_body_time *body, const dfl_keep_level *level, uint32_t j,
                         uint32_t way, double *full)
{
    bool ragged = false, moves = false;
    double share = 1, seconds, serial, unused;

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        if (!(t->stops >> j & 1))
            continue;
        moves |= way == DFL_IN || leaves_before(body, t, j);
        ragged |= !t->uniform;
        share = way == DFL_IN ? shorter(share, dfl_transfer_share(t, j)) : share;
    }
    if (!moves) /* nothing leaves before the advance */
        return *full = 0;
    if (ragged) {
        seconds = stall_once(plan, body, level, j, way, DFL_AGAIN_MEAN, &serial);
        /* which resource is the slowest may change from one advance to the next */
        *full = longer(seconds, stall_once(plan, body, level, j, way, DFL_AGAIN_MOST, &unused));
        if (has_one_port(plan, level, j))
            return seconds;
        if (prefers_full(plan, body, level, j))
            return *full;
        if (share < 1) { /* which direction is the slowest may depend on whether results enter again */
            double without;
            stall_once(plan, body, level, j, way, DFL_AGAIN_ALL, &serial);
            stall_once(plan, body, level, j, way, DFL_AGAIN_NONE, &without);
            serial = share * serial + (1 - share) * without;
        }
        return longer(seconds, serial);
    }
    *full = seconds = stall_once(plan, body, level, j, way, DFL_AGAIN_ALL, &unused);
    if (share < 1)
        seconds = share * seconds + (1 - share) * stall_once(plan, body, level, j, way, DFL_AGAIN_NONE, &unused);
    return seconds;
}

double dfl_keep_level_ends(const dfl_time_plan *plan, const dfl_keep_level *level, uint32_t way)
{
    double latency = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        if (t->ends.in[DFL_INNER] == 0 && t->ends.out[DFL_INNER] == 0)
            continue;
        if (way == DFL_OUT ? !t->written : t->again || !t->fetches)
            continue; /* no value moves */
        if (way == DFL_OUT ? t->ends.out[DFL_INNER] > 0 : t->ends.in[DFL_INNER] > 0 && t->filled > 0)
            latency = longer(latency, t->latency[way]);
        const double *seconds = t->even && level->local ? t->load[way]
                                                        : find_loads(level, t, &t->ends, way == DFL_IN, way == DFL_OUT);
        plan->sides[n++] = (dfl_moving_transfer){ i, seconds };
    }
    return side_seconds(plan, level, n) + latency;
}

/* ---- stalls of even transfers ---- */

/* A level at the present sizes. */
typedef struct {
    const dfl_time_plan *plan;
    dfl_body_time *body;
    const dfl_keep_level *level;
    bool even;         /* each transfer moves one number of elements at every load */
    /* The following members are set if `even` is true. Bit sets are of positions in the level. */
    uint64_t again;    /* transfers with `again` */
    uint64_t enter, leave; /* transfers with elements that enter, and with elements that leave */
    uint64_t always;   /* bit set of loops that stop all transfers */
    uint64_t before;   /* transfers whose tiles leave before the advance at hand */
    /* Stalls of some advances. They depend on nothing but the transfers that the advance stops, and on those of them whose
       elements, if they enter, find a value. */
    struct { uint64_t stopped, finding; double seconds; } known[KNOWN_STALLS];
    uint32_t n_known;  /* number of stalls found so far */
} level_walk;

static void start_walk(level_walk *walk, const dfl_time_plan *plan, dfl_body_time *body, const dfl_keep_level *level)
{
    walk->plan = plan;
    walk->body = body;
    walk->level = level;
    walk->before = level->ahead;
    walk->even = level->steps != NULL;
    walk->again = walk->enter = walk->leave = 0;
    walk->always = UINT64_MAX;
    walk->n_known = 0;
    for (uint32_t i = 0; i < level->n && walk->even; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        walk->even = t->even;
        walk->always &= t->stops;
        walk->again |= (uint64_t)t->again << i;
        walk->enter |= (uint64_t)(t->each.in[DFL_INNER] > 0) << i;
        walk->leave |= (uint64_t)(t->written && t->each.out[DFL_INNER] > 0) << i;
    }
}

/* As stall_once, for an advance at which the transfers `stopped` move one load each, with a value in those of `finding`. */
static double even_stall_once(const level_walk *walk, uint64_t stopped, uint64_t finding, uint32_t way)
{
    const dfl_keep_level *level = walk->level;
    const uint64_t enter = way == DFL_IN ? stopped & finding & walk->enter : 0;
    const uint64_t leave = stopped & walk->leave & (way == DFL_OUT ? walk->before : ~walk->before);
    const dfl_transfer *transfers = walk->plan->transfers;
    dfl_moving_transfer *sides = walk->plan->sides;
    double latency_out = 0, latency_in = 0;
    uint32_t n = 0;

    for (uint64_t left = enter | leave; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        const dfl_transfer *t = &transfers[level->at[i]];
        const uint64_t in = enter >> i & 1, out = leave >> i & 1;
        sides[n++] = (dfl_moving_transfer){ i, t->load[in * DFL_IN + (in & out) * (DFL_BOTH - DFL_IN)] };
        latency_in = longer(latency_in, in && t->fetches ? t->latency[DFL_IN] : 0);
        latency_out = longer(latency_out, out ? t->latency[DFL_OUT] : 0);
    }
    return side_seconds(walk->plan, level, n) + (latency_out + latency_in);
}

/* As even_stall_once after an advance, found once. */
static double known_stall(level_walk *walk, uint64_t stopped, uint64_t finding)
{
    uint32_t at = 0;

    while (at < walk->n_known && (walk->known[at].stopped != stopped || walk->known[at].finding != finding))
        at++;
    if (at < walk->n_known)
        return walk->known[at].seconds;
    if (walk->n_known < KNOWN_STALLS)
        walk->n_known++;
    else
        at = KNOWN_STALLS - 1; /* inner loops stop fewer transfers: the first stalls do not return */
    walk->known[at].stopped = stopped;
    walk->known[at].finding = finding;
    return walk->known[at].seconds = even_stall_once(walk, stopped, finding, DFL_IN);
}

/* As find_stall after an advance, if each transfer that loop `j` stops moves whole loads. */
static double find_even_stall(level_walk *walk, uint32_t j, uint64_t stopped, double *full)
{
    uint64_t finding = stopped, always = stopped;
    double share = 1;

    for (uint64_t left = stopped & walk->again; left; left &= left - 1) {
        const dfl_transfer *t = &walk->plan->transfers[walk->level->at[__builtin_ctzll(left)]];
        double part = t->share[j] * t->filled;
        if (part >= 1)
            continue;
        always &= ~(left & (~left + 1));
        finding &= ~(part > 0 ? 0 : left & (~left + 1));
        share = part > 0 ? shorter(share, part) : share;
    }
    *full = known_stall(walk, stopped, finding);
    return share < 1 ? share * *full + (1 - share) * known_stall(walk, stopped, always) : *full;
}

/* Bit set: positions of the transfers that loop `j` stops. */
static inline uint64_t find_stopped(const level_walk *walk, uint32_t j)
{
    uint64_t stopped = 0;

    if (walk->always >> j & 1)
        return UINT64_MAX >> (64 - walk->level->n);
    for (uint32_t i = 0; i < walk->level->n; i++)
        stopped |= (walk->plan->transfers[walk->level->at[i]].stops >> j & 1) << i;
    return stopped;
}

/* The least share of the mean in the largest advance of loop `j`. */
static double find_least_part(const dfl_time_plan *plan, const dfl_body_time *body, const dfl_keep_level *level, uint32_t j)
{
    double least = 1;

    for (uint32_t i = 0; i < level->n && j != NO_LOOP; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        if (t->stream || !(t->lasting >> j & 1))
            continue;
        dfl_moves mean = dfl_transfer_amounts(t, j, body->advances[j], DFL_AGAIN_MEAN);
        dfl_moves most = dfl_transfer_amounts(t, j, body->advances[j], DFL_AGAIN_MOST);
        for (uint32_t end = 0; end < 2; end++) {
            least = most.in[end] > 0 && mean.in[end] > 0 ? shorter(least, mean.in[end] / most.in[end]) : least;
            least = most.out[end] > 0 && mean.out[end] > 0 ? shorter(least, mean.out[end] / most.out[end]) : least;
        }
    }
    return least;
}

/* Whether the advances of one loop move unequal numbers of elements. */
static bool is_ragged(const level_walk *walk)
{
    bool ragged = false;

    for (uint32_t i = 0; i < walk->level->n && !walk->even; i++)
        ragged |= !walk->plan->transfers[walk->level->at[i]].uniform;
    return ragged;
}

/* Adds the stalls of a level at some loops to those of its body. Returns the seconds of all advances. */
static double add_stalls(level_walk *walk, uint64_t wanted)
{
    const dfl_keep_level *level = walk->level;
    dfl_body_time *body = walk->body;
    dfl_stalls *stalls = &body->stalls;
    uint64_t loops = 0;
    const bool ragged = is_ragged(walk);
    double all = 0, seconds[2], full[2];

    for (uint32_t i = 0; i < level->n; i++)
        loops |= walk->plan->transfers[level->at[i]].stops & wanted;
    for (; loops; loops &= loops - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(loops);
        if (!(stalls->loops >> j & 1)) {
            stalls->seconds[DFL_OUT][j] = stalls->full[DFL_OUT][j] = stalls->seconds[DFL_IN][j] = stalls->full[DFL_IN][j] = 0;
            stalls->part[j] = 1;
        }
        stalls->part[j] = ragged ? shorter(stalls->part[j], find_least_part(walk->plan, body, level, j)) : stalls->part[j];
        stalls->loops |= UINT64_C(1) << j;
        if (walk->even && (double)(int64_t)(level->steps[j + 1] - level->steps[j]) >= body->advances[j]) {
            uint64_t stopped = find_stopped(walk, j), before = j < body->apart ? UINT64_MAX : level->ahead;
            walk->n_known = before == walk->before ? walk->n_known : 0; /* the stalls known so far are of other loops */
            walk->before = before;
            seconds[DFL_OUT] = full[DFL_OUT] = stopped & before & walk->leave ? even_stall_once(walk, stopped, 0, DFL_OUT) : 0;
            seconds[DFL_IN] = find_even_stall(walk, j, stopped, &full[DFL_IN]);
        } else {
            seconds[DFL_OUT] = find_stall(walk->plan, body, level, j, DFL_OUT, &full[DFL_OUT]);
            seconds[DFL_IN] = find_stall(walk->plan, body, level, j, DFL_IN, &full[DFL_IN]);
        }
        /* with one buffer, nothing leaves before the advance of a loop below the branches */
        for (uint32_t way = level->fetches_ahead || j < body->apart ? DFL_OUT : DFL_IN; way <= DFL_IN; way++) {
            stalls->seconds[way][j] += seconds[way];
            stalls->full[way][j] += full[way];
            all += seconds[way] * body->advances[j];
        }
    }
    return all;
}

void dfl_keep_level_fold(dfl_body_time *body, uint32_t from, dfl_work_time *work)
{
    uint64_t own = from < 64 ? body->stalls.loops >> from << from : 0;

    body->stalls.loops &= ~own;
    for (; own; own &= own - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(own);
        for (uint32_t way = 0; way < 2; way++) {
            work->seconds += body->advances[j] * body->stalls.seconds[way][j];
            work->full += body->advances[j] * body->stalls.full[way][j];
        }
        work->ratio = shorter(work->ratio, body->stalls.part[j]);
    }
}

/* ---- one tile ahead ---------------------------------------------------------------------------------------------- */

enum { MOST_LAYERS = 32 };

/* The steps of a level whose transfers run one tile ahead of the work. While the work is on a tile, the results of the
   tile before leave and the next tile enters. A run is one pass of the loops of the level. */
typedef struct {
    const dfl_time_plan *plan;
    const dfl_body_time *body;
    const dfl_keep_level *level;
    uint64_t loops;      /* bit set: own loops whose advance begins a step */
    uint32_t inner;      /* the innermost of them */
    double runs, steps;  /* number of runs and of steps */
    double mean, full;   /* seconds of the work of a step without stalls: the mean, and that of full tiles */
    double even;         /* the part of these seconds that is equal in all steps */
} ahead;

/* A kind of step: it begins with an advance of the loop `before` and ends with one of the loop `after`; NO_LOOP for the
   first and the last step of a run. */
typedef struct {
    uint32_t before, after;
    double times;           /* number of such steps */
    double work;            /* seconds of the work of such a step, stalls included */
    double load, bare;      /* seconds of the transfers beside such a step: if results enter again, and if not */
    double share;           /* fraction of the steps in which they do */
    double most;            /* an upper limit of `load` for full tiles */
} step_kind;

enum { ROW_OUT, ROW_IN, ROW_BARE, ROWS };

static double *row_of(const ahead *a, uint32_t j, uint32_t which)
{
    return row_at(a->plan, DFL_ROW_LOOPS + ROWS * j + which);
}

/* Adds the seconds of one advance of loop `j` to the rows of the loop: of each resource, and of results that enter
   again right after they have left: the fill follows the drain, so the sum of both is a load of its own. */
static void add_loads(const ahead *a, uint32_t j, bool most)
{
    const dfl_keep_level *level = a->level;
    double *out = row_of(a, j, ROW_OUT), *in = row_of(a, j, ROW_IN), *bare = row_of(a, j, ROW_BARE);

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &a->plan->transfers[level->at[i]];
        if (t->stream || !(t->lasting >> j & 1))
            continue;
        dfl_moves amounts = dfl_transfer_amounts(t, j, a->body->advances[j], most ? DFL_AGAIN_MOST : DFL_AGAIN_ALL);
        dfl_moves without = dfl_transfer_amounts(t, j, a->body->advances[j], DFL_AGAIN_NONE);
        for (uint32_t u = 0; u < t->n_uses; u++) {
            const dfl_use *use = &t->uses[u];
            const uint32_t at = use->local;
            out[at] += dfl_use_seconds(use, &amounts, DFL_OUT);
            if (t->ahead) {
                in[at] += dfl_use_seconds(use, &amounts, DFL_IN);
                bare[at] += dfl_use_seconds(use, &without, DFL_IN);
            } else { /* the tile enters in the stall with which the step begins */
                out[at] += dfl_use_seconds(use, &amounts, DFL_IN);
            }
        }
        if (!t->ahead || !t->close)
            continue;
        in[level->n_locals + i] = dfl_transfer_seconds(t, &amounts, DFL_IN);
        bare[level->n_locals + i] = dfl_transfer_seconds(t, &without, DFL_IN);
        out[level->n_locals + i] = dfl_transfer_seconds(t, &amounts, DFL_OUT);
    }
}

static void set_loads(const ahead *a, bool most)
{
    const uint32_t n = a->level->n_locals + a->level->n;
    double *shared = a->plan->rows;

    memset(shared, 0, n * sizeof *shared);
    for (uint64_t left = a->loops; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        for (uint32_t which = 0; which < ROWS; which++)
            memset(row_of(a, j, which), 0, n * sizeof *shared);
        add_loads(a, j, most);
        for (uint32_t i = 0; i < a->level->n_locals; i++)
            shared[i] += row_of(a, j, ROW_IN)[i];
    }
}

/* Seconds that results take to leave at an advance of loop `j` over resources over which nothing enters. */
static double leaving_alone(const ahead *a, uint32_t j)
{
    const double *out = row_of(a, j, ROW_OUT), *shared = a->plan->rows;
    double longest = 0;

    for (uint32_t i = 0; i < a->level->n_locals; i++)
        longest = longer(longest, shared[i] > 0 ? 0 : out[i]);
    return longest;
}

/* Seconds of the transfers beside a step. `which`: the row of what enters. */
static double find_load(const ahead *a, const step_kind *kind, uint32_t which)
{
    const double *out = kind->before == NO_LOOP ? NULL : row_of(a, kind->before, ROW_OUT);
    const double *in = kind->after == NO_LOOP ? NULL : row_of(a, kind->after, which), *shared = a->plan->rows;
    double longest = 0;

    for (uint32_t i = 0; i < a->level->n_locals + a->level->n; i++) {
        double entering = in ? in[i] : 0;
        bool counts = i < a->level->n_locals ? shared[i] > 0 : entering > 0;
        longest = longer(longest, counts ? entering + (out ? out[i] : 0) : 0);
    }
    return longest;
}

/* Fraction of the steps of a kind beside which a result enters that finds a value. `times`: number of steps that begin
   and end with the innermost loop. */
static double find_share(const ahead *a, const dfl_transfer *t, const step_kind *kind, double times)
{
    uint32_t k = a->inner;
    double found = 0;

    if (kind->after != k || dfl_transfer_share(t, k) == 1)
        return dfl_transfer_share(t, kind->after);
    if (kind->before != k && kind->before != NO_LOOP)
        return t->share[kind->before] * t->filled;
    for (uint32_t j = 0; j < a->level->from; j++)
        found += a->body->advances[j] > 0 ? a->body->advances[j] * t->share[j] * t->filled : 0;
    if (kind->before == NO_LOOP)
        return found / a->runs;
    found = a->body->advances[k] * t->share[k] * t->filled - found;
    for (uint64_t left = a->loops & ~(UINT64_C(1) << k); left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        found -= a->body->advances[j] * t->share[j] * t->filled;
    }
    return times > 0 ? longer(0, shorter(1, found / times)) : 1;
}

static double stall_at(const ahead *a, uint32_t j, uint32_t way, bool full)
{
    const dfl_stalls *stalls = &a->body->stalls;

    return j != NO_LOOP && stalls->loops >> j & 1 ? (full ? stalls->full : stalls->seconds)[way][j] : 0;
}

/* Lists the kinds of steps. Between two advances of outer loops, the innermost loop advances at least once. */
static uint32_t list_kinds(const ahead *a, step_kind *kinds)
{
    uint32_t k = a->inner, n = 0;
    double others = 0;

    for (uint64_t left = a->loops & ~(UINT64_C(1) << k); left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        kinds[n++] = (step_kind){ .before = k, .after = j, .times = a->body->advances[j] };
        kinds[n++] = (step_kind){ .before = j, .after = k, .times = a->body->advances[j] };
        others += a->body->advances[j];
    }
    kinds[n++] = (step_kind){ .before = NO_LOOP, .after = k, .times = a->runs };
    kinds[n++] = (step_kind){ .before = k, .after = NO_LOOP, .times = a->runs };
    kinds[n++] = (step_kind){ .before = k, .after = k, .times = longer(0, a->body->advances[k] - others - a->runs) };
    return n;
}

static void set_kinds(const ahead *a, bool most, step_kind *kinds, uint32_t n)
{
    set_loads(a, most);
    for (uint32_t i = 0; i < n; i++) {
        step_kind *kind = &kinds[i];
        kind->work = most ? a->full : a->mean;
        kind->work += stall_at(a, kind->before, DFL_IN, most) + stall_at(a, kind->after, DFL_OUT, most);
        kind->most = find_load(a, kind, ROW_IN);
        if (most)
            continue;
        kind->load = kind->bare = kind->most;
        kind->share = 1;
        for (uint32_t t = 0; t < a->level->n && kind->after != NO_LOOP; t++) {
            const dfl_transfer *transfer = &a->plan->transfers[a->level->at[t]];
            if (transfer->again && !transfer->stream && transfer->lasting >> kind->after & 1)
                kind->share = shorter(kind->share, find_share(a, transfer, kind, kind->times));
        }
        if (kind->share < 1)
            kind->bare = find_load(a, kind, ROW_BARE);
    }
}

/* Mean seconds by which the transfers beside a step of a kind take longer than `work`. */
static double find_excess(const step_kind *kind, double work)
{
    return kind->share * longer(0, kind->load - work) + (1 - kind->share) * longer(0, kind->bare - work);
}

/* The least seconds by which the transfers beside a step of a kind take longer than its work. */
static double least_excess(const step_kind *kind)
{
    return longer(0, shorter(kind->load, kind->share < 1 ? kind->bare : kind->load) - kind->work);
}

/* The least work of a step that begins with an advance of the innermost loop. */
static double least_work(const ahead *a, const step_kind *kinds, uint32_t n)
{
    double least = -1;

    for (uint32_t i = 0; i < n; i++)
        if (kinds[i].before == a->inner && kinds[i].times > 0)
            least = least < 0 ? kinds[i].work : shorter(least, kinds[i].work);
    return least;
}

/* Seconds by which results that leave after every step over resources of their own take longer than the next step. */
static double find_late_at_steps(const ahead *a, const step_kind *kinds, uint32_t n)
{
    const step_kind *steady = &kinds[n - 1];
    double late = 0, each = leaving_alone(a, a->inner), next = least_work(a, kinds, n);

    for (uint32_t i = 0; i + 1 < n; i++) {
        const step_kind *kind = &kinds[i];
        bool begins = kind->after == a->inner && kind->before != a->inner;
        if (begins) /* the first advance of the innermost loop in one of its passes; the next step begins with it */
            late += kind->times * longer(0, each - least_excess(kind) - (steady->times > 0 ? steady->work : next));
        else if (steady->times > 0) /* the last one: the step ends with an outer loop */
            late += kind->times * longer(0, each - least_excess(steady) - kind->work);
        if (!begins && kind->after != NO_LOOP)
            late += kind->times * longer(0, leaving_alone(a, kind->after) - least_excess(kind) - kinds[i + 1].work);
    }
    double passes = steady->times, ends = 0;
    for (uint32_t i = 0; i + 1 < n; i++)
        ends += kinds[i].before != a->inner ? kinds[i].times : 0;
    return late + longer(0, passes - ends) * longer(0, each - least_excess(steady) - steady->work);
}

/* Seconds by which results that leave over resources of their own take longer than the steps of their next tile. A result
   has two buffers, so a tile leaves until the work on the next one ends. */
static double find_late_results(const ahead *a, const step_kind *kinds, uint32_t n)
{
    uint64_t leaving = 0;
    double late = 0, tiles = a->steps, inside = 0, others;

    for (uint64_t left = a->loops; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        leaving |= leaving_alone(a, j) > 0 ? UINT64_C(1) << j : 0;
    }
    if (leaving == 0)
        return 0;
    if (leaving >> a->inner & 1)
        return find_late_at_steps(a, kinds, n);
    for (uint64_t left = a->loops & ~leaving; left; left &= left - 1)
        tiles -= a->body->advances[__builtin_ctzll(left)];
    others = a->steps / tiles - 2; /* the steps of one tile other than its first and its last */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t loop = kinds[i].before == a->inner ? kinds[i].after : kinds[i].before;
        if (loop == a->inner || loop == NO_LOOP || leaving >> loop & 1)
            continue;
        inside += kinds[i].times / tiles * (kinds[i].work + least_excess(&kinds[i]));
        others -= kinds[i].times / tiles;
    }
    inside += others > 0 ? others * (kinds[n - 1].work + least_excess(&kinds[n - 1])) : 0;
    for (uint32_t i = 0; i + 1 < n; i += 2) { /* kinds[i] ends with the loop with which kinds[i + 1] begins */
        uint32_t j = kinds[i].after;
        if (j == NO_LOOP || j == a->inner || !(leaving >> j & 1))
            continue;
        double next = least_excess(&kinds[i]) + kinds[i + 1].work + least_excess(&kinds[i + 1]) + inside +
                      least_work(a, kinds, n);
        late += kinds[i].times * longer(0, leaving_alone(a, j) - next);
    }
    return late;
}

/* The largest transfers beside a step, by the fraction of the steps that would move all elements: `load` moves beside the
   steps up to `part`. */
typedef struct { double part, load; } layer;

/* Adds the transfer of one direction to `n` layers, which are sorted by their parts. */
static void add_layer(layer *layers, uint32_t n, double part, double load)
{
    uint32_t at = n;

    for (; at > 0 && layers[at - 1].part > part; at--)
        layers[at] = layers[at - 1];
    layers[at] = (layer){ part, load };
}

/* The part of the steps of a level beside which a transfer moves in one direction, if it always moves as many elements as in
   its largest load. Sets the seconds of this load. */
static double find_part(const ahead *a, const dfl_transfer *t, uint32_t way, double *load)
{
    dfl_moves largest = { { 0, 0 }, { 0, 0 } }, sum = { { 0, 0 }, { 0, 0 } };
    double part[2];

    for (uint64_t left = a->loops & t->lasting; left; left &= left - 1) {
        uint32_t j = (uint32_t)__builtin_ctzll(left);
        dfl_moves most = dfl_transfer_amounts(t, j, a->body->advances[j], DFL_AGAIN_MOST);
        dfl_moves mean = dfl_transfer_amounts(t, j, a->body->advances[j], DFL_AGAIN_MEAN);
        for (uint32_t end = 0; end < 2; end++) {
            largest.in[end] = longer(largest.in[end], longer(most.in[end], mean.in[end]));
            largest.out[end] = longer(largest.out[end], longer(most.out[end], mean.out[end]));
            sum.in[end] += mean.in[end] * a->body->advances[j];
            sum.out[end] += mean.out[end] * a->body->advances[j];
        }
    }
    *load = dfl_transfer_seconds(t, &largest, way);
    for (uint32_t end = 0; end < 2; end++) {
        double all = (way == DFL_IN ? largest.in : largest.out)[end];
        part[end] = all > 0 ? (way == DFL_IN ? sum.in : sum.out)[end] / all / a->steps : 0;
    }
    return shorter(1, t->spread ? part[0] + part[1] : longer(part[0], part[1]));
}

/* Seconds by which the loads of ragged steps exceed their work: an upper limit (MODEL.md, section 4.3). Let q be the fraction of
   full steps that is missing from the work. Loads are the longest beside each other, and beside the steps without work. */
static double ragged_excess(const ahead *a, double q)
{
    layer layers[MOST_LAYERS];
    double excess = 0, from = 0, load = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->level->n; i++) {
        const dfl_transfer *t = &a->plan->transfers[a->level->at[i]];
        for (uint32_t way = 0; way < 2 && !t->stream; way++) {
            double seconds, part = find_part(a, t, way, &seconds);
            if (part <= 0 || seconds <= 0)
                continue;
            load += seconds;
            if (n < MOST_LAYERS) {
                add_layer(layers, n++, part, seconds);
            } else { /* a larger part is an upper limit */
                layers[n - 1].load += seconds;
                layers[n - 1].part = longer(layers[n - 1].part, part);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        double idle = longer(0, shorter(q, layers[i].part) - from), all = layers[i].part - from;
        excess += idle * longer(0, load - a->even) + (all - idle) * longer(0, load - a->full);
        load -= layers[i].load;
        from = layers[i].part;
    }
    return a->steps * excess;
}

/* Whether results would be late if nothing entered beside the work. */
static bool may_be_late(const ahead *a, const step_kind *kinds, uint32_t n)
{
    step_kind bare[2 * DFL_MAX_STEPS + 3];

    for (uint32_t i = 0; i < n; i++) {
        bare[i] = kinds[i];
        bare[i].load = bare[i].bare = 0;
    }
    return find_late_results(a, bare, n) > 0;
}

/* Stalls of levels further in at the first and at the last step of each run pass beside the transfers of this level. Removes
   these seconds from the stalls at the loops around the level, and from the first and last tiles. */
static void absorb_stalls(const ahead *a, dfl_body_time *body, const step_kind *kinds, uint32_t n)
{
    uint64_t around = body->stalls.loops & ((UINT64_C(1) << a->level->from) - 1);

    for (uint32_t way = 0; way < 2; way++) {
        const step_kind *kind = &kinds[way == DFL_IN ? n - 3 : n - 2];
        for (uint64_t left = around; left; left &= left - 1) {
            uint32_t j = (uint32_t)__builtin_ctzll(left);
            double *stall = &body->stalls.seconds[way][j], *full = &body->stalls.full[way][j];
            *stall -= find_excess(kind, kind->work) - find_excess(kind, kind->work + *stall);
            *full -= find_excess(kind, kind->work) - find_excess(kind, kind->work + *full);
        }
        double less = find_excess(kind, kind->work) - find_excess(kind, kind->work + body->ends[way]);
        body->ends[way] -= less;
        body->absorbed += less;
    }
}

/* The least part of the stalls of a body. */
static double find_stalled_part(const dfl_body_time *body)
{
    double least = 1;

    for (uint64_t left = body->stalls.loops; left; left &= left - 1)
        least = shorter(least, body->stalls.part[__builtin_ctzll(left)]);
    return least;
}

/* Adds to the work the seconds by which transfers one tile ahead take longer. */
static void add_ahead(const dfl_time_plan *plan, dfl_body_time *body, const dfl_keep_level *level, dfl_work_time *work)
{
    step_kind kinds[2 * DFL_MAX_STEPS + 3];
    ahead a = { .plan = plan, .body = body, .level = level, .runs = body->positions[level->from] };
    bool uniform = true;

    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        uint64_t own = t->ahead && level->from < 64 ? t->lasting >> level->from << level->from : 0;
        a.loops |= own;
        uniform &= own == 0 || t->uniform;
    }
    if (a.loops == 0)
        return;
    a.inner = 63 - (uint32_t)__builtin_clzll(a.loops);
    a.steps = a.runs;
    for (uint64_t left = a.loops; left; left &= left - 1)
        a.steps += body->advances[__builtin_ctzll(left)];
    a.mean = work->seconds / a.steps;
    a.full = work->full / a.steps;
    a.even = work->even / a.steps;
    uint32_t n = list_kinds(&a, kinds);
    set_kinds(&a, false, kinds, n);
    if (uniform && work->ratio >= 1 && find_stalled_part(body) >= 1) {
        double late, more = 0;
        if (a.runs == 1) { /* the first and the last step of the only run: what levels further in need is beside them */
            kinds[n - 3].work += body->ends[DFL_IN];
            kinds[n - 2].work += body->ends[DFL_OUT];
        } else if (!may_be_late(&a, kinds, n)) {
            absorb_stalls(&a, body, kinds, n);
        }
        late = find_late_results(&a, kinds, n);
        for (uint32_t i = 0; i < n; i++)
            late += kinds[i].times * find_excess(&kinds[i], kinds[i].work);
        work->seconds += late;
        for (uint32_t i = 0; i < n; i++)
            more += kinds[i].times * (1 - kinds[i].share) * longer(0, kinds[i].load - kinds[i].work);
        work->full += late + more;
        return;
    }
    work->seconds += ragged_excess(&a, 1 - work->ratio);
    set_kinds(&a, true, kinds, n);
    for (uint32_t i = 0; i < n; i++) {
        double alone = kinds[i].before == NO_LOOP ? 0 : leaving_alone(&a, kinds[i].before);
        work->full += kinds[i].times * longer(0, longer(kinds[i].most, alone) - a.full);
        work->ratio = shorter(work->ratio, find_least_part(plan, body, level, kinds[i].before));
        work->ratio = shorter(work->ratio, find_least_part(plan, body, level, kinds[i].after));
    }
}

double dfl_keep_level_add(const dfl_time_plan *plan, dfl_body_time *body, const dfl_keep_level *level, dfl_work_time *work)
{
    uint64_t around = (UINT64_C(1) << level->from) - 1;
    level_walk walk;

    start_walk(&walk, plan, body, level);
    double stalled = add_stalls(&walk, ~around);
    if (level->fetches_ahead)
        add_ahead(plan, body, level, work);
    dfl_keep_level_fold(body, level->from, work);
    for (uint32_t i = 0; i < level->n; i++) { /* the first passes around the level move fewer results than the others */
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        for (uint64_t left = t->again && !t->stream ? t->repeats & around : 0; left; left &= left - 1)
            if (body->advances[__builtin_ctzll(left)] > 0)
                work->ratio = shorter(work->ratio, t->filled);
    }
    stalled += add_stalls(&walk, around);
    for (uint32_t way = 0; way < 2 && level->beside; way++)
        body->ends[way] += dfl_keep_level_ends(plan, level, way);
    return stalled;
}
