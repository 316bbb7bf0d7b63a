#include "mapper/nests/nest.h"

typedef struct {
    const dfl_problem *problem;
    dfl_nest_use *use;
    void *context;
    dfl_amounts divisors[DFL_PROBLEM_RANKS]; /* of the extents */
    int64_t left[DFL_PROBLEM_RANKS]; /* elements of a full piece below the lines so far */
    int64_t parts[DFL_PROBLEM_RANKS][DFL_PROBLEM_AXES];
    dfl_bare_nest nest;
} lister;

/* Adds loops until all pieces are single elements. */
static bool add_loops(lister *k)
{
    const uint32_t n = k->nest.n;
    bool is_end = true;

    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        const int64_t left = k->left[r];
        for (uint32_t d = 1; d < k->divisors[r].n && k->divisors[r].at[d] <= left; d++) {
            const int64_t factor = k->divisors[r].at[d];
            if (left % factor != 0)
                continue;
            is_end = false;
            k->left[r] = left / factor;
            k->nest.loop[n].rank = r;
            k->nest.loop[n].factor = factor;
            k->nest.loop[n].tile = left / factor;
            k->nest.n = n + 1;
            if (!add_loops(k))
                return false;
            k->nest.n = n;
            k->left[r] = left;
        }
    }
    return !is_end || k->use(k->context, &k->nest);
}

/* Whether the ranks on an axis may stand there: those that share no transfers only where more instances are at work with them. */
static bool may_stand(const lister *k, uint32_t axis)
{
    const dfl_problem *problem = k->problem;
    double outside[DFL_PROBLEM_RANKS], used = 1;
    bool has_others = false;

    for (uint32_t r = 0; r < problem->n_ranks; r++) {
        outside[r] = 1;
        for (uint32_t a = 0; a < axis; a++)
            outside[r] *= (double)k->parts[r][a];
        used *= (double)k->parts[r][axis];
        has_others |= k->parts[r][axis] > 1 && (problem->axis[axis].others >> r & 1);
    }
    return !has_others || used > dfl_problem_filled(problem, axis, outside);
}

/* Adds the axes that have more than one part: each has prime factors of its own. */
static void add_axes(lister *k)
{
    int64_t left[DFL_PROBLEM_RANKS];
    dfl_bare_nest *nest = &k->nest;

    nest->set++;
    nest->n_axes = 0;
    for (uint32_t r = 0; r < k->problem->n_ranks; r++)
        left[r] = k->problem->extent[r];
    for (uint32_t a = 0; a < k->problem->n_axes; a++)
        for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
            const uint32_t i = nest->n_axes;
            if (k->parts[r][a] == 1)
                continue;
            left[r] /= k->parts[r][a];
            nest->axis[i].rank = r;
            nest->axis[i].axis = a;
            nest->axis[i].after = 0;
            nest->axis[i].parts = k->parts[r][a];
            nest->axis[i].tile = left[r];
            nest->n_axes++;
        }
}

/* Adds parts of the ranks from `r` on, on the axes from `a` on; `room`: instances of axis `a` that are left. */
static bool add_parts(lister *k, uint32_t a, uint32_t r, int64_t room)
{
    const dfl_problem *problem = k->problem;
    const int64_t left = r < problem->n_ranks ? k->left[r] : 0;

    if (a == problem->n_axes) {
        add_axes(k);
        return add_loops(k);
    }
    if (r == problem->n_ranks && !may_stand(k, a))
        return true;
    if (r == problem->n_ranks)
        return add_parts(k, a + 1, 0, a + 1 < problem->n_axes ? problem->axis[a + 1].size : 0);
    for (uint32_t d = 0; d < k->divisors[r].n && k->divisors[r].at[d] <= (left < room ? left : room); d++) {
        const int64_t parts = k->divisors[r].at[d];
        if (left % parts != 0 || (parts > 1 && !(problem->axis[a].ranks >> r & 1)))
            continue;
        k->parts[r][a] = parts;
        k->left[r] = left / parts;
        if (!add_parts(k, a, r + 1, room / parts))
            return false;
        k->left[r] = left;
    }
    return true;
}

void dfl_nests_each(dfl_arena *arena, const dfl_problem *problem, dfl_nest_use *use, void *context)
{
    lister k = { .problem = problem, .use = use, .context = context };

    dfl_problem_divide(arena, problem, k.divisors);
    for (uint32_t r = 0; r < problem->n_ranks; r++)
        k.left[r] = problem->extent[r];
    (void)add_parts(&k, 0, 0, problem->n_axes > 0 ? problem->axis[0].size : 0);
}

/* Elements of a rank on coordinate 0, of a piece of `left` elements below the loops from `loop` and the axes from `axis` on. */
static int64_t count_first(const dfl_bare_nest *nest, uint32_t rank, uint32_t loop, uint32_t axis, int64_t left)
{
    for (; loop <= nest->n; loop++) {
        for (; axis < nest->n_axes && nest->axis[axis].after <= loop; axis++)
            if (nest->axis[axis].rank == rank && nest->axis[axis].tile < left)
                left = nest->axis[axis].tile;
        if (loop == nest->n || nest->loop[loop].rank != rank || nest->loop[loop].tile >= left)
            continue;
        const int64_t tile = nest->loop[loop].tile, rest = left % tile;
        return left / tile * count_first(nest, rank, loop + 1, axis, tile) +
               (rest > 0 ? count_first(nest, rank, loop + 1, axis, rest) : 0);
    }
    return left;
}

double dfl_nest_steps(const dfl_problem *problem, const dfl_bare_nest *nest)
{
    double steps = 1;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        steps *= (double)count_first(nest, r, 0, 0, problem->extent[r]);
    return steps;
}

/* Prime factors of the extents. */
static uint32_t count_primes(const dfl_problem *problem, const dfl_amounts *divisors)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (int64_t left = problem->extent[r]; left > 1; n++) {
            uint32_t least = 1;
            while (left % divisors[r].at[least] != 0)
                least++;
            left /= divisors[r].at[least];
        }
    return n;
}

typedef struct { uint64_t n, most; } counter;

static bool count(void *context, const dfl_bare_nest *nest)
{
    counter *k = context;

    (void)nest;
    return ++k->n < k->most;
}

uint64_t dfl_nests_count(dfl_arena *arena, const dfl_problem *problem, uint64_t most)
{
    counter k = { .most = most };
    dfl_amounts divisors[DFL_PROBLEM_RANKS];

    dfl_problem_divide(arena, problem, divisors);
    if (count_primes(problem, divisors) > DFL_NEST_LOOPS)
        return most;
    dfl_nests_each(arena, problem, count, &k);
    return k.n;
}
