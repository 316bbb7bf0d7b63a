#include "mapper/nests/nest.h"

typedef struct {
    const dfl_problem *problem;
    bool (*use)(void *context, const dfl_bare_nest *nest);
    void *context;
    int64_t left[DFL_PROBLEM_RANKS]; /* elements of a full piece below the lines so far */
    dfl_bare_nest nest;
} lister;

/* Adds loops until all pieces are single elements. */
static bool add_loops(lister *k)
{
    const uint32_t n = k->nest.n;
    bool is_end = true;

    for (uint32_t r = 0; r < k->problem->n_ranks; r++) {
        const int64_t left = k->left[r];
        for (int64_t factor = 2; factor <= left; factor++) {
            if (left % factor != 0)
                continue;
            if (n == DFL_NEST_LOOPS)
                return false;
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

/* Adds parts of the ranks from `r` on, on the axes from `a` on; `room`: instances of axis `a` that are left. */
static bool add_parts(lister *k, uint32_t a, uint32_t r, int64_t room)
{
    const dfl_problem *problem = k->problem;
    const int64_t left = r < problem->n_ranks ? k->left[r] : 0;

    if (a == problem->n_axes)
        return add_loops(k);
    if (r == problem->n_ranks)
        return add_parts(k, a + 1, 0, a + 1 < problem->n_axes ? problem->axis[a + 1].size : 0);
    for (int64_t parts = 1; parts <= left && parts <= room; parts++) {
        if (left % parts != 0 || (parts > 1 && !(problem->axis[a].ranks >> r & 1)))
            continue;
        k->nest.parts[r][a] = parts;
        k->left[r] = left / parts;
        if (!add_parts(k, a, r + 1, room / parts))
            return false;
        k->left[r] = left;
    }
    return true;
}

void dfl_nests_each(const dfl_problem *problem, bool (*use)(void *context, const dfl_bare_nest *nest), void *context)
{
    lister k = { .problem = problem, .use = use, .context = context };

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        k.left[r] = problem->extent[r];
    (void)add_parts(&k, 0, 0, problem->n_axes > 0 ? problem->axis[0].size : 0);
}

typedef struct { uint64_t n, most; } counter;

static bool count(void *context, const dfl_bare_nest *nest)
{
    counter *k = context;

    (void)nest;
    return ++k->n < k->most;
}

uint64_t dfl_nests_count(const dfl_problem *problem, uint64_t most)
{
    counter k = { .most = most };

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        for (int64_t left = problem->extent[r]; left > 1; left /= 2)
            if (left > 1 << 16)
                return most;
    dfl_nests_each(problem, count, &k);
    return k.n;
}
