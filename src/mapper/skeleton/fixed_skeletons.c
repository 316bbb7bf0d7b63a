/* Templates of an einsum with written lines: through these lines, with further keeps where there is a place for lines. */
#include "mapper/skeleton/fixed_skeletons.h"

#include "mapper/skeleton/fixed_lines.h"

#include <string.h>

enum { EARLY = UINT8_MAX };

typedef struct {
    const dfl_problem *problem;
    const dfl_fixed_lines *given;
    dfl_deadline *halt;                    /* NULL = no limits */
    bool (*use)(void *context, const dfl_tiling_template *t);
    void *context;
    dfl_tiling_template t;
    dfl_fixed_skeleton form;
    bool filled[DFL_GIVEN_LINES];          /* further out than it is written */
    uint8_t keep_of[DFL_GIVEN_LINES];
    uint8_t any[DFL_TEMPLATE_KEEPS];       /* of a further keep: 1 + the place for lines it stands in, or EARLY; 0 = written */
    uint8_t waits[DFL_TEMPLATE_KEEPS];     /* further keeps that are filled, and to be written in a place further in */
    uint32_t n_waits;
    int64_t tile[DFL_PROBLEM_RANKS];       /* above the line, as far as nothing is open; 0 = not known */
    int32_t last[DFL_PROBLEM_OPERANDS];    /* innermost place so far */
    uint32_t sealed;                       /* mask: axes around a keep that is written above */
    bool stopped;
} walker;

static void lines_from(walker *k, uint32_t i);

static bool is_kind(const walker *k, uint32_t i, dfl_fixed_kind kind)
{
    return i < k->given->n && k->given->at[i].kind == kind;
}

static uint32_t ranks_of(const walker *k, uint32_t operand) { return k->problem->operand[operand].ranks; }

/* Ranks of keeps that are filled, and written at line `i` or further in. */
static uint32_t closed_at(const walker *k, uint32_t i)
{
    uint32_t closed = 0;

    for (; i < k->given->n; i++)
        closed |= k->filled[i] ? ranks_of(k, k->given->at[i].operand) : 0;
    for (uint32_t w = 0; w < k->n_waits; w++)
        closed |= ranks_of(k, k->t.keep[k->waits[w]].operand);
    return closed;
}

static bool waits(const walker *k, uint32_t operand)
{
    for (uint32_t w = 0; w < k->n_waits; w++)
        if (k->t.keep[k->waits[w]].operand == operand)
            return true;
    return false;
}

/* Whether a place for lines comes from line `i` on. */
static bool any_comes(const walker *k, uint32_t i)
{
    while (i < k->given->n && !is_kind(k, i, DFL_GIVEN_ANY))
        i++;
    return i < k->given->n;
}

/* Whether the axes may have to be entered below line `i`: a line from there on says so, or which tiles stand above them. */
static bool enters_later(const walker *k, uint32_t i, uint32_t axes)
{
    for (; i < k->given->n && axes != 0; i++) {
        const dfl_fixed_line *line = &k->given->at[i];
        if (line->kind == DFL_GIVEN_SPATIAL ? axes >> line->axis & 1
                                            : line->kind == DFL_GIVEN_TEMPORAL && line->line->by != DFL_BY_PARTS)
            return true;
    }
    return false;
}

/* The next written keep of the operand from line `i` on, or n; `filled`: of those that are not filled yet. */
static uint32_t next_keep(const walker *k, uint32_t i, uint32_t operand, bool filled)
{
    while (i < k->given->n && !(k->given->at[i].kind == DFL_GIVEN_KEEP && k->given->at[i].operand == operand &&
                                (filled || !k->filled[i])))
        i++;
    return i;
}

/* Whether written keep `i` is filled where it is written, between two places for lines. */
static bool is_between(const walker *k, uint32_t i)
{
    return i > 0 && is_kind(k, i, DFL_GIVEN_KEEP) && is_kind(k, i - 1, DFL_GIVEN_ANY) && is_kind(k, i + 1, DFL_GIVEN_ANY) &&
           !k->filled[i];
}

static bool may_fill(const walker *k, uint32_t operand, uint32_t place)
{
    return k->t.n_keeps < DFL_TEMPLATE_KEEPS && (int32_t)place > k->last[operand] &&
           (k->problem->operand[operand].places >> place & 1);
}

static void fill(walker *k, uint32_t operand, uint32_t place, uint32_t any)
{
    k->any[k->t.n_keeps] = (uint8_t)any;
    k->t.keep[k->t.n_keeps++] = (dfl_template_keep){ .operand = (uint8_t)operand, .place = (uint8_t)place };
    k->last[operand] = (int32_t)place;
}

static dfl_fixed_slot *push(walker *k, dfl_fixed_kind kind, const dfl_line *line)
{
    dfl_fixed_slot *s = &k->form.slot[k->form.n++];

    *s = (dfl_fixed_slot){ .kind = kind, .line = line, .gap = (uint8_t)k->t.n_keeps };
    return s;
}

/* Writes keep `keep` behind what is there, and goes on with `next` at line `i`. */
static void write_keep(walker *k, const dfl_line *line, uint32_t keep, uint32_t i, void (*next)(walker *, uint32_t))
{
    uint32_t sealed = k->sealed;

    push(k, DFL_GIVEN_KEEP, line)->keep = (uint8_t)keep;
    k->sealed |= k->problem->place[k->t.keep[keep].place].axes;
    next(k, i);
    k->sealed = sealed;
    k->form.n--;
}

/* ---- a template ---- */

static void allow_ranks(walker *k)
{
    memset(k->t.allow, 0, sizeof k->t.allow);
    for (uint32_t i = 0; i < k->form.n; i++) {
        const dfl_fixed_slot *s = &k->form.slot[i];
        if (s->kind == DFL_GIVEN_ANY)
            k->t.allow[s->gap] |= ((1u << k->problem->n_ranks) - 1) & ~s->closed;
        else if (s->kind == DFL_GIVEN_TEMPORAL)
            k->t.allow[s->gap] |= 1u << s->rank & ~s->closed;
    }
}

/* Of two further keeps without a loop between only one order: false if there can be none. */
static bool find_needs(walker *k)
{
    dfl_tiling_template *t = &k->t;

    t->needs = 0;
    for (uint32_t i = 0; i + 1 < t->n_keeps; i++) {
        if (k->any[i] == 0 || k->any[i] == EARLY || k->any[i] != k->any[i + 1] || t->keep[i].operand <= t->keep[i + 1].operand)
            continue;
        if (t->allow[i + 1] == 0)
            return false;
        if ((t->allow[i + 1] & (t->allow[i + 1] - 1)) == 0)
            t->needs |= 1u << (i + 1);
    }
    return true;
}

/* Whether each further keep can give out more than it takes. */
static bool has_reuse(const walker *k)
{
    const dfl_problem *problem = k->problem;
    const dfl_tiling_template *t = &k->t;

    for (uint32_t i = 0; i < t->n_keeps; i++) {
        uint32_t o = t->keep[i].operand, inner = i + 1, axes;
        bool more = problem->operand[o].ranks != problem->operand[o].plain;
        while (inner < t->n_keeps && t->keep[inner].operand != o)
            inner++;
        axes = (inner < t->n_keeps ? problem->place[t->keep[inner].place].axes : (1u << problem->n_axes) - 1) &
               ~problem->place[t->keep[i].place].axes;
        for (uint32_t a = 0; a < problem->n_axes; a++)
            more |= (axes >> a & 1) && !(problem->axis[a].shared >> o & 1) &&
                (problem->axis[a].ranks & ~problem->operand[o].ranks) != 0;
        for (uint32_t g = i + 1; g <= inner; g++)
            more |= (t->allow[g] & ~problem->operand[o].ranks) != 0;
        if (k->any[i] != 0 && !more && !dfl_template_takes_ahead(problem, t, i, inner))
            return false;
    }
    return true;
}

static void finish(walker *k)
{
    dfl_tiling_template *t = &k->t;

    memset(t->innermost, -1, sizeof t->innermost);
    for (uint32_t i = 0; i < t->n_keeps; i++) {
        t->keep[i].parent = t->innermost[t->keep[i].operand];
        t->innermost[t->keep[i].operand] = (int8_t)i;
        t->written[i] = (uint8_t)i;
    }
    allow_ranks(k);
    k->form.n_keeps = t->n_keeps;
    if (find_needs(k) && has_reuse(k))
        k->stopped = !k->use(k->context, t);
}

/* ---- the walk ---- */

/* Fills each keep that is written further in, and may be filled here, and goes on with `next`. */
static void fill_early(walker *k, uint32_t i, dfl_fixed_slot *above, void (*next)(walker *, uint32_t))
{
    for (uint32_t j = i; j < k->given->n && !k->stopped; j++) {
        const dfl_fixed_line *line = &k->given->at[j];
        uint32_t closed = above ? above->closed : 0;
        int32_t last;
        if (line->kind != DFL_GIVEN_KEEP || k->filled[j] || (above && j == i + 1 && is_between(k, j)) ||
            next_keep(k, i, line->operand, false) != j || !may_fill(k, line->operand, line->place))
            continue;
        last = k->last[line->operand];
        if (above)
            above->closed |= ~ranks_of(k, line->operand);
        k->keep_of[j] = (uint8_t)k->t.n_keeps;
        fill(k, line->operand, line->place, 0);
        k->filled[j] = true;
        next(k, i);
        k->filled[j] = false;
        k->last[line->operand] = last;
        k->t.n_keeps--;
        if (above)
            above->closed = closed;
    }
}

/* Fills further keeps that are to be written in a place for lines further in: from a line that is no such place, or with a
   spatial line before. */
static void wait_early(walker *k, uint32_t i, dfl_fixed_slot *above, void (*next)(walker *, uint32_t))
{
    for (uint32_t o = 0; o < k->problem->n_operands; o++) {
        uint32_t inner = next_keep(k, i, o, false), closed = above ? above->closed : 0;
        int32_t last = k->last[o];
        for (uint32_t p = 0; p < (inner < k->given->n ? k->given->at[inner].place : k->problem->n_places) && !k->stopped; p++) {
            uint32_t axes = k->problem->place[p].axes;
            if (!may_fill(k, o, p) || !any_comes(k, i + 1) ||
                (above && next_keep(k, i, o, true) == inner && !enters_later(k, i + 1, axes)))
                continue;
            if (above)
                above->closed |= ~ranks_of(k, o);
            k->waits[k->n_waits++] = (uint8_t)k->t.n_keeps;
            fill(k, o, p, EARLY);
            next(k, i);
            k->t.n_keeps--;
            k->n_waits--;
            k->last[o] = last;
            if (above)
                above->closed = closed;
        }
    }
}

static void any_from(walker *k, uint32_t i);

/* Further keeps in the place for lines number `i`, below the slot `above`. */
static void keep_further(walker *k, uint32_t i, dfl_fixed_slot *above)
{
    const uint32_t closed = above->closed;

    for (uint32_t o = 0; o < k->problem->n_operands; o++) {
        uint32_t next = next_keep(k, i, o, true);
        uint32_t inner = next == k->given->n ? k->problem->n_places : k->filled[next] ? 0 : k->given->at[next].place;
        int32_t last = k->last[o];
        for (uint32_t p = 0; p < inner && !k->stopped; p++) {
            if (!may_fill(k, o, p) || waits(k, o))
                continue;
            above->closed |= ~ranks_of(k, o);
            fill(k, o, p, i + 1);
            write_keep(k, NULL, k->t.n_keeps - 1, i, any_from);
            k->t.n_keeps--;
            k->last[o] = last;
            above->closed = closed;
        }
    }
}

/* A slot of the place for lines number `i`, and what may stand below it; tiles are not known from here on. */
static void any_from(walker *k, uint32_t i)
{
    int64_t tile[DFL_PROBLEM_RANKS];
    const dfl_fixed_slot *before = k->form.n > 0 ? &k->form.slot[k->form.n - 1] : NULL;
    dfl_fixed_slot *s = push(k, DFL_GIVEN_ANY, NULL);
    uint32_t closed;

    memcpy(tile, k->tile, sizeof tile);
    memset(k->tile, 0, sizeof k->tile);
    s->closed = closed_at(k, i);
    s->axes = ((1u << k->problem->n_axes) - 1) & ~k->sealed;
    if (before && before->kind == DFL_GIVEN_KEEP &&
        (before->line == NULL ? k->any[before->keep] != EARLY : i > 0 && is_between(k, i - 1)))
        s->closed |= k->problem->operand[k->t.keep[before->keep].operand].plain;
    closed = s->closed;
    if (is_between(k, i + 1))
        s->closed |= ~ranks_of(k, k->given->at[i + 1].operand);
    lines_from(k, i + 1);
    s->closed = closed;
    keep_further(k, i, s);
    fill_early(k, i, s, any_from);
    wait_early(k, i, s, any_from);
    memcpy(k->tile, tile, sizeof tile);
    k->form.n--;
}

/* Whether keep `keep` can be written at line `i`: those of its operand further out are. */
static bool may_write(const walker *k, uint32_t keep, uint32_t i)
{
    for (; i < k->given->n; i++)
        if (k->filled[i] && k->keep_of[i] < keep && k->given->at[i].operand == k->t.keep[keep].operand)
            return false;
    return true;
}

/* Comes to the place for lines number `i`, where keeps that wait may be written, below a slot for the axes around them. */
static void enter(walker *k, uint32_t i)
{
    uint32_t sealed = k->sealed, n = k->form.n, waiting = k->n_waits, axes = 0;
    uint8_t all[DFL_TEMPLATE_KEEPS];
    dfl_fixed_slot *s;

    for (uint32_t w = 0; w < waiting; w++)
        axes |= k->problem->place[k->t.keep[k->waits[w]].place].axes;
    if (waiting == 0 || (any_comes(k, i + 1) && enters_later(k, i + 1, axes)))
        any_from(k, i);
    for (uint32_t w = 0; w < waiting; w++)
        if (!may_write(k, k->waits[w], i))
            return;
    if (waiting == 0)
        return;
    s = push(k, DFL_GIVEN_ANY, NULL);
    s->closed = closed_at(k, i);
    s->axes = ((1u << k->problem->n_axes) - 1) & ~k->sealed;
    memcpy(all, k->waits, sizeof all);
    for (uint32_t w = 0; w < waiting; w++) {
        push(k, DFL_GIVEN_KEEP, NULL)->keep = all[w];
        k->sealed |= k->problem->place[k->t.keep[all[w]].place].axes;
    }
    k->n_waits = 0;
    any_from(k, i);
    k->n_waits = waiting;
    memcpy(k->waits, all, sizeof all);
    k->sealed = sealed;
    k->form.n = n;
}

/* Elements of the tile below a written loop, as far as they are known; 0 = not. */
static int64_t tile_below(const dfl_line *line, int64_t tile)
{
    if (line->by == DFL_BY_SIZE)
        return line->amount;
    return line->by == DFL_BY_PARTS ? tile / line->amount : 0;
}

/* A written loop; of a rank that is closed it must have a single iteration, and one on an axis stands above what is kept
   inside. */
static void loop_at(walker *k, uint32_t i)
{
    const dfl_fixed_line *line = &k->given->at[i];
    dfl_fixed_slot *s = push(k, line->kind, line->line);
    int64_t above = k->tile[line->rank], below = tile_below(line->line, above);
    bool closed, cuts = line->line->by == DFL_BY_PARTS ? line->line->amount > 1 : above > 0 && below > 0 && below != above;

    s->rank = line->rank;
    s->axis = line->axis;
    s->closed = line->kind == DFL_GIVEN_TEMPORAL ? closed_at(k, i) : 0;
    closed = s->closed >> line->rank & 1;
    k->tile[line->rank] = below;
    if (!(closed && cuts) && !(line->kind == DFL_GIVEN_SPATIAL && (k->sealed >> line->axis & 1)) &&
        !(above > 0 && below > 0 && above % below != 0))
        lines_from(k, i + 1);
    k->tile[line->rank] = above;
    k->form.n--;
}

/* Whether no keep of the operand that waits is further out than written keep `i`, which is filled. */
static bool may_write_first(const walker *k, uint32_t i)
{
    for (uint32_t w = 0; w < k->n_waits; w++)
        if (k->t.keep[k->waits[w]].operand == k->given->at[i].operand && k->waits[w] < k->keep_of[i])
            return false;
    return true;
}

static void lines_from(walker *k, uint32_t i)
{
    const dfl_fixed_line *line = &k->given->at[i];
    int32_t last;

    k->stopped |= k->halt != NULL && dfl_deadline_passed(k->halt);
    if (k->stopped)
        return;
    if (i == k->given->n) {
        if (k->n_waits == 0)
            finish(k);
    } else if (line->kind == DFL_GIVEN_ANY) {
        enter(k, i);
    } else if (line->kind != DFL_GIVEN_KEEP) {
        if (line->kind == DFL_GIVEN_TEMPORAL && i >= k->given->inner && !(i > 0 && is_kind(k, i - 1, DFL_GIVEN_ANY))) {
            fill_early(k, i, NULL, lines_from);
            wait_early(k, i, NULL, lines_from);
        }
        loop_at(k, i);
    } else if (waits(k, line->operand) && !(k->filled[i] && may_write_first(k, i))) {
        return;
    } else if (k->filled[i]) {
        write_keep(k, line->line, k->keep_of[i], i + 1, lines_from);
    } else if (may_fill(k, line->operand, line->place)) {
        last = k->last[line->operand];
        fill(k, line->operand, line->place, 0);
        write_keep(k, line->line, k->t.n_keeps - 1, i + 1, lines_from);
        k->t.n_keeps--;
        k->last[line->operand] = last;
    }
}

void dfl_fixed_lines_each(const dfl_problem *problem, dfl_deadline *halt,
                          bool (*use)(void *context, const dfl_tiling_template *t),
                          void *context)
{
    walker k = { .problem = problem, .halt = halt, .given = problem->given, .use = use, .context = context };

    k.form.given = problem->given;
    k.t.form = &k.form;
    memcpy(k.tile, problem->extent, sizeof k.tile);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        k.t.exchange[o] = (uint8_t)problem->operand[o].home;
        k.last[o] = (int32_t)problem->operand[o].home;
    }
    lines_from(&k, 0);
}

const dfl_fixed_skeleton *dfl_fixed_skeleton_copy(dfl_arena *arena, const dfl_fixed_skeleton *f)
{
    size_t size = offsetof(dfl_fixed_skeleton, slot) + f->n * sizeof f->slot[0];
    dfl_fixed_skeleton *out = dfl_arena_alloc(arena, size, 1, _Alignof(dfl_fixed_skeleton));

    memcpy(out, f, size);
    return out;
}
