/* Smallest sets of limits that conflict. */
#include "mapper/conflict/conflict_internal.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/unit_text.h"
#include "mapper/problem/einsum_problem.h"
#include "mapper/skeleton/fixed_lines.h"
#include "support/vec.h"

enum { MOST_STEPS = 1 << 23 }; /* of a fitting, some seconds */

typedef enum { LIMIT_REQUIRED, LIMIT_KEEP, LIMIT_HOME, LIMIT_LINE, LIMIT_HOLDS, LIMIT_SIZE, LIMIT_AMOUNT } limit_kind;

typedef struct {
    limit_kind kind;
    uint32_t at;              /* requirement, memory, or body ... */
    uint32_t line;            /* ... and its line */
    dfl_span span;
    bool lifted;
    bool gone;                /* lifted whatever is asked: it is to be changed in any case */
} limit;

/* What would do; `text` is NULL if nothing is known. */
typedef struct {
    const char *text;
    const char *of;           /* what it is a change of */
    double by, ratio;         /* bits more, or the ratio; to what is there now */
    bool rough;               /* it, or another one of its kind, may be more than is needed */
} change;

typedef struct {
    dfl_arena *arena, *scratch;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *m;
    const dfl_question *q;
    DFL_VEC(limit) limits;
    bool *waived;
    bool unknown;             /* some question had no answer */
    bool more;                /* labels are of a set behind another */
    change room, rule;        /* the smallest that do, of a memory and of what is required */
} analyst;

/* ---- the limits ---- */

static void add(analyst *k, limit_kind kind, uint32_t at, uint32_t line, dfl_span span)
{
    DFL_PUSH(k->arena, &k->limits, ((limit){ .kind = kind, .at = at, .line = line, .span = span }));
}

/* Amounts of loops, but for those that go element by element, and what others may be chosen from. */
static void add_amounts(analyst *k)
{
    for (uint32_t b = 0; b < k->m->n_bodies; b++)
        for (uint32_t i = 0; i < k->m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &k->m->bodies[b]->lines[i];
            bool open = line->by == DFL_BY_HOLE;
            if (line->kind != DFL_LINE_KEEP && (open ? line->hole->choices != NULL : line->amount > 1))
                add(k, LIMIT_AMOUNT, b, i, line->amount_span);
        }
}

/* Whether the keep is the first one of its tensor. */
static bool is_home(const dfl_body *b, uint32_t line)
{
    for (uint32_t i = 0; i < line; i++)
        if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == b->lines[line].tensor)
            return false;
    return dfl_body_home(b->parent, b->lines[line].tensor) == DFL_NONE;
}

/* Keeps between written lines, or homes that are not in the outermost memory. */
static void add_keeps(analyst *k, bool homes)
{
    for (uint32_t b = 0; b < k->m->n_bodies; b++)
        for (uint32_t i = 0; i < k->m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &k->m->bodies[b]->lines[i];
            if (line->kind != DFL_LINE_KEEP || is_home(k->m->bodies[b], i) != homes)
                continue;
            if (!homes || line->memory != dfl_space_outermost(k->m, line->tensor))
                add(k, homes ? LIMIT_HOME : LIMIT_KEEP, b, i, line->span);
        }
}

/* What is required of the room in a memory, NULL = nothing. */
static const dfl_required_room *room_of(const analyst *k, uint32_t memory)
{
    const dfl_required_room *room = k->q->rooms != NULL ? &k->q->rooms[memory] : NULL;

    return room != NULL && room->at.end > 0 ? room : NULL;
}

/* Whether a memory has room for everything that all einsums touch, even where each has a keep of its own at the same time. */
static bool holds_all(const analyst *k, uint32_t memory)
{
    const dfl_memory *m = &k->m->system->memories[memory];

    return (double)m->size_bits >= dfl_feasibility_bits(k->m->workload) * (double)m->buffers * (double)k->m->workload->n_einsums;
}

/* Those that a user would rather keep come last: they are lifted only if nothing before them is to blame. */
static void find_limits(analyst *k)
{
    const dfl_system *s = k->m->system;
    const dfl_body *root = k->m->root;

    for (uint32_t i = 0; i < k->q->n_required; i++)
        add(k, LIMIT_REQUIRED, i, 0, k->q->required[i]);
    for (uint32_t homes = 0; homes < 2 && k->q->kind == DFL_QUESTION_BETWEEN; homes++)
        add_keeps(k, homes);
    for (uint32_t i = 0; i < root->n_lines && k->q->kind == DFL_QUESTION_LINES; i++)
        add(k, LIMIT_LINE, 0, i, root->lines[i].span);
    for (uint32_t i = 0; i < s->n_memories && k->q->kind != DFL_QUESTION_AMOUNTS; i++)
        if (s->memories[i].holds.on)
            add(k, LIMIT_HOLDS, i, 0, s->memories[i].span);
    for (uint32_t i = 0; i < s->n_memories; i++)
        if (s->memories[i].size_bits >= 0 && !holds_all(k, i))
            add(k, LIMIT_SIZE, i, 0, room_of(k, i) != NULL ? room_of(k, i)->at : s->memories[i].size_span);
    if (k->q->kind != DFL_QUESTION_LINES)
        add_amounts(k);
    k->waived = DFL_NEW_ARRAY(k->arena, bool, (size_t)k->q->n_required + 1);
}

static void lift_amount(dfl_arena *arena, dfl_line *line)
{
    dfl_hole *any = DFL_NEW(arena, dfl_hole);

    any->by = line->by == DFL_BY_HOLE ? line->hole->by : line->by;
    line->by = DFL_BY_HOLE;
    line->hole = any;
}

static void remove_line(dfl_arena *arena, dfl_body *b, uint32_t line)
{
    dfl_open *opens = DFL_NEW_ARRAY(arena, dfl_open, (size_t)b->n_opens + 1);

    memmove(&b->lines[line], &b->lines[line + 1], (b->n_lines - line - 1) * sizeof(dfl_line));
    b->n_lines--;
    for (uint32_t i = 0; i < b->n_opens; i++)
        opens[i] = (dfl_open){ b->opens[i].at - (b->opens[i].at > line), b->opens[i].span };
    b->opens = opens;
}

/* The mapping without the limits that are lifted, in `scratch`: last lines first, since they are removed. */
static const dfl_mapping *without_lifted(analyst *k)
{
    dfl_mapping *m;
    dfl_system *s;
    dfl_memory *memories;

    dfl_arena_reset(k->scratch);
    m = dfl_mapping_copy(k->scratch, k->m);
    s = DFL_NEW(k->scratch, dfl_system);
    memories = DFL_NEW_ARRAY(k->scratch, dfl_memory, (size_t)k->m->system->n_memories + 1);
    *s = *m->system;
    memcpy(memories, s->memories, s->n_memories * sizeof *memories);
    s->memories = memories;
    m->system = s;
    for (size_t i = k->limits.n; i-- > 0;) {
        const limit *l = &k->limits.at[i];
        if (l->kind == LIMIT_REQUIRED)
            k->waived[l->at] = l->lifted || l->gone;
        if (!l->lifted && !l->gone)
            continue;
        switch (l->kind) {
        case LIMIT_REQUIRED:
            break;
        case LIMIT_KEEP:
        case LIMIT_LINE:
            remove_line(k->scratch, m->bodies[l->at], l->line);
            break;
        case LIMIT_HOME:
            m->bodies[l->at]->lines[l->line].memory = dfl_space_outermost(m, m->bodies[l->at]->lines[l->line].tensor);
            break;
        case LIMIT_HOLDS:
            memories[l->at].holds.on = false;
            break;
        case LIMIT_SIZE:
            memories[l->at].size_bits = -1;
            break;
        case LIMIT_AMOUNT:
            lift_amount(k->scratch, &m->bodies[l->at]->lines[l->line]);
            break;
        }
    }
    return m;
}

/* ---- the set ---- */

static dfl_answer ask(analyst *k)
{
    dfl_answer answer = k->q->answer(k->q->context, without_lifted(k), k->waived, DFL_NONE, NULL, NULL);

    k->unknown |= answer == DFL_ANSWER_UNKNOWN;
    return answer;
}

static void set_lifted(analyst *k, size_t first, size_t n, bool lifted)
{
    for (size_t i = first; i < first + n; i++)
        k->limits.at[i].lifted = lifted;
}

/* Lifts those of the limits without which there is still nothing. */
static void drop(analyst *k, size_t first, size_t n)
{
    if (n == 0 || (k->unknown && !k->q->doubtful))
        return;
    set_lifted(k, first, n, true);
    if (ask(k) == DFL_ANSWER_NO)
        return;
    set_lifted(k, first, n, false);
    if (n == 1)
        return;
    drop(k, first, n / 2);
    drop(k, first + n / 2, n - n / 2);
}

/* Goes through the limits of one kind after another. */
static void drop_kinds(analyst *k)
{
    set_lifted(k, 0, k->limits.n, false);
    for (size_t i = 0, end; i < k->limits.n; i = end) {
        for (end = i; end < k->limits.n && k->limits.at[end].kind == k->limits.at[i].kind; end++)
            ;
        drop(k, i, end - i);
    }
}

/* False if the limits are not the cause. */
static bool find_set(analyst *k)
{
    set_lifted(k, 0, k->limits.n, true);
    if (ask(k) != DFL_ANSWER_YES)
        return false;
    drop_kinds(k);
    return true;
}

/* ---- what would do ---- */

/* "100 bytes", "64 KiB", "2.834 TiB (3116623910400 bytes)": exact, and easy to read. */
static const char *size_text(dfl_arena *arena, int64_t bits)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    const int64_t bytes = bits / 8;
    uint32_t unit = 0;
    int64_t size = 1024;

    while (unit + 1 < sizeof units / sizeof *units && bytes / size >= 1024) {
        size *= 1024;
        unit++;
    }
    if (bits % 8 == 0 && bytes >= 1024 && bytes % size == 0)
        return dfl_arena_printf(arena, "%lld %s", (long long)(bytes / size), units[unit]);
    if (bits % 8 == 0 && bytes >= 1024)
        return dfl_arena_printf(arena, "%.4g %s (%lld bytes)", (double)bytes / (double)size, units[unit], (long long)bytes);
    if (bits % 8 == 0)
        return dfl_arena_printf(arena, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s");
    return dfl_arena_printf(arena, "%lld bit%s", (long long)bits, bits == 1 ? "" : "s");
}

static bool is_in(const limit *l) { return !l->lifted && !l->gone; }

static bool is_in_set(const analyst *k, limit_kind kind)
{
    for (size_t i = 0; i < k->limits.n; i++)
        if (k->limits.at[i].kind == kind && is_in(&k->limits.at[i]))
            return true;
    return false;
}

/* The least size of a memory of the set, if that is more than it has; whole bytes where its size is. */
static dfl_answer least_size(analyst *k, uint32_t memory, int64_t *bits, dfl_span *at)
{
    const int64_t size = k->m->system->memories[memory].size_bits;
    const dfl_answer answer = k->q->answer(k->q->context, without_lifted(k), k->waived, memory, bits, at);

    if (answer != DFL_ANSWER_YES)
        return answer;
    if (size % 8 == 0)
        *bits = (*bits + 7) / 8 * 8;
    return *bits > size ? DFL_ANSWER_YES : DFL_ANSWER_NO;
}

static void propose(change *best, const change *one)
{
    const bool rough = best->rough || one->rough;

    if (best->text == NULL || one->by < best->by)
        *best = *one;
    best->rough = rough;
}

/* What all tensors take together, where no size can be told. */
static const char *total_text(const analyst *k)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, k->arena);
    dfl_quantity_print(&out, dfl_quantity_real(dfl_feasibility_bits(k->m->workload), dfl_dim_of(DFL_BASE_DATA)));
    return out.text;
}

/* The size that a memory of the set has to have. `enough`: with everything else as it is. `rough`: less may do. */
static void label_needed(analyst *k, dfl_diag *d, const limit *l, int64_t bits, dfl_span at, bool enough, bool rough)
{
    const dfl_memory *memory = &k->m->system->memories[l->at];
    const dfl_required_room *room = room_of(k, l->at);
    const char *text = size_text(k->arena, bits), *name = dfl_sym_text(k->names, memory->name), *least = rough ? "" : "at least ";

    if (room != NULL)
        dfl_diag_label(k->sink, d, l->span, rough ? "with everything else unchanged, %s was found" : "it is %s or more", text);
    if (room != NULL && room->declared >= 0 && bits > room->declared)
        dfl_diag_label(k->sink, d, memory->size_span, "and this `size` must be %s", text);
    if (room == NULL && (enough || rough))
        dfl_diag_label(k->sink, d, l->span, "a `size` of %s%s would suffice%s", least, text,
                       enough ? "" : " if the rest changes");
    else if (room == NULL)
        dfl_diag_label(k->sink, d, l->span, "a `size` of at least %s is needed", text);
    if (at.end > 0)
        dfl_diag_label(k->sink, d, at, "then %s are live here", text);
    if (enough)
        propose(&k->room, &(change){ .text = room != NULL ? dfl_arena_printf(k->arena, "allow %s of `%s`", text, name)
                                                          : dfl_arena_printf(k->arena, "give `%s` %s", name, text),
                                     .of = room != NULL ? "what is required" : "a memory", .rough = rough,
                                     .by = (double)(bits - memory->size_bits),
                                     .ratio = (double)bits / fmax((double)memory->size_bits, 1) });
}

/* Whether the size that was measured last may be more than is needed. */
static bool is_rough(const analyst *k) { return k->q->proven != NULL && !k->q->proven(k->q->context); }

/* Labels a memory of the set `in`; false if no size of it is enough. Leaves all limits in force. */
static bool label_size(analyst *k, dfl_diag *d, size_t i)
{
    const limit *l = &k->limits.at[i];
    const bool known = !k->unknown || k->q->doubtful;
    dfl_span at = { 0, 0 };
    int64_t bits = 0;
    dfl_answer enough;
    bool needed;

    set_lifted(k, 0, k->limits.n, false);
    enough = known ? least_size(k, l->at, &bits, &at) : DFL_ANSWER_NO;
    if (enough == DFL_ANSWER_YES) {
        label_needed(k, d, l, bits, at, !k->more, is_rough(k));
        return true;
    }
    if (enough == DFL_ANSWER_UNKNOWN && k->q->doubtful) {
        dfl_diag_label(k->sink, d, l->span, "whether a larger one would suffice is not known");
        return true;
    }
    for (size_t j = 0; j < k->limits.n; j++)
        k->limits.at[j].lifted = k->limits.at[j].kind == LIMIT_SIZE && j != i;
    needed = known && least_size(k, l->at, &bits, &at) == DFL_ANSWER_YES;
    if (known && !needed) {
        for (size_t j = 0; j < k->limits.n; j++)
            k->limits.at[j].lifted = j != i;
        needed = least_size(k, l->at, &bits, &at) == DFL_ANSWER_YES;
    }
    if (needed)
        label_needed(k, d, l, bits, at, false, is_rough(k));
    else
        dfl_diag_label(k->sink, d, l->span, "%s: all tensors together take %s", k->unknown ? "perhaps too small" : "too small",
                       total_text(k));
    set_lifted(k, 0, k->limits.n, false);
    return !needed;
}

/* Labels the memories of the set, and the number of the first one of which no size is enough. */
static size_t label_sizes(analyst *k, dfl_diag *d)
{
    bool *in = DFL_NEW_ARRAY(k->arena, bool, k->limits.n + 1);
    size_t other = k->limits.n;

    for (size_t i = 0; i < k->limits.n; i++)
        in[i] = is_in(&k->limits.at[i]);
    for (size_t i = 0; i < k->limits.n; i++)
        if (k->limits.at[i].kind == LIMIT_SIZE && in[i] && !label_size(k, d, i) && other == k->limits.n)
            other = i;
    for (size_t j = 0; j < k->limits.n; j++)
        k->limits.at[j].lifted = !in[j];
    return other;
}

/* Amounts of a loop go with the rest if all loops over its rank come to the extent together, and those on an axis to no more than
   its instances. */
static void label_amount(const analyst *k, dfl_diag *d, const limit *l)
{
    const dfl_line *line = &k->m->bodies[l->at]->lines[l->line];
    const dfl_rank *rank = &k->m->workload->ranks[line->rank];
    const char *name = dfl_sym_text(k->names, rank->name);

    if (line->by != DFL_BY_HOLE && line->kind == DFL_LINE_SPATIAL)
        dfl_diag_label(k->sink, d, l->span, "this loop over `%s` is fixed, on axis `%s` of %lld", name,
                       dfl_sym_text(k->names, k->m->system->axes[line->axis].name),
                       (long long)k->m->system->axes[line->axis].size);
    else if (line->by != DFL_BY_HOLE)
        dfl_diag_label(k->sink, d, l->span, "this loop over `%s` is fixed", name);
    else if (line->axis == DFL_NONE)
        dfl_diag_label(k->sink, d, l->span, "none of these fits the rest: the loops over `%s` have %lld iterations together",
                       name, (long long)rank->extent);
    else
        dfl_diag_label(k->sink, d, l->span, "none of these fits the rest: %lld of `%s` must be divided among %lld instances",
                       (long long)rank->extent, name, (long long)k->m->system->axes[line->axis].size);
}

/* Says what an unmet requirement can be; if the question does not tell, how to learn it. */
static void label_required(analyst *k, dfl_diag *d, const limit *l)
{
    dfl_instead instead = { .text = NULL };
    const char *least = NULL;

    if (k->q->least != NULL)
        least = k->q->least(k->q->context, k->arena, k->m, l->at, &instead);
    dfl_diag_label(k->sink, d, l->span, "%s", least != NULL ? least : "this is not met");
    if (least == NULL && k->q->kind == DFL_QUESTION_AMOUNTS)
        dfl_diag_help(k->sink, d, "to see what can be met, minimize the figure without this requirement");
    if (instead.text != NULL)
        propose(&k->rule, &(change){ .text = dfl_arena_printf(k->arena, "allow %s", instead.text), .of = "what is required",
                                     .by = instead.ratio, .ratio = instead.ratio, .rough = !instead.proven });
}

static void label_others(analyst *k, dfl_diag *d)
{
    for (size_t i = 0; i < k->limits.n; i++) {
        const limit *l = &k->limits.at[i];
        const dfl_line *line;
        if (!is_in(l) || l->kind == LIMIT_SIZE)
            continue;
        switch (l->kind) {
        case LIMIT_REQUIRED:
            label_required(k, d, l);
            break;
        case LIMIT_KEEP:
        case LIMIT_HOME:
        case LIMIT_LINE:
            line = &k->m->bodies[l->at]->lines[l->line];
            dfl_diag_label(k->sink, d, l->span, l->kind == LIMIT_KEEP ? "`%s` is kept in `%s`" : "`%s` must stay in `%s`",
                           dfl_sym_text(k->names, k->m->workload->tensors[line->tensor].name),
                           dfl_sym_text(k->names, k->m->system->memories[line->memory].name));
            break;
        case LIMIT_HOLDS:
            dfl_diag_label(k->sink, d, l->span, "its `holds` excludes the others");
            break;
        case LIMIT_AMOUNT:
            label_amount(k, d, l);
            break;
        case LIMIT_SIZE:
            break;
        }
    }
}

/* Whether something that is required is in the set. */
static bool is_required(const analyst *k)
{
    bool any = is_in_set(k, LIMIT_REQUIRED);

    for (size_t i = 0; i < k->limits.n; i++)
        any |= k->limits.at[i].kind == LIMIT_SIZE && is_in(&k->limits.at[i]) && room_of(k, k->limits.at[i].at) != NULL;
    return any;
}

static dfl_diag *report(const analyst *k)
{
    const char *name = dfl_sym_text(k->names, k->m->name), *workload = dfl_sym_text(k->names, k->m->workload->name),
               *system = dfl_sym_text(k->names, k->m->system->name);
    const bool between = k->q->kind == DFL_QUESTION_BETWEEN;
    dfl_diag *d;

    if (k->q->kind == DFL_QUESTION_AMOUNTS)
        d = dfl_report(k->sink, DFL_EVAL_INFEASIBLE, k->m->hole_span, "no tile sizes for the open loops of `%s` %s", name,
                       is_required(k) ? "meet its requirements"
                       : is_in_set(k, LIMIT_SIZE) ? "fit" : "fit the other loops");
    else if (is_required(k))
        d = dfl_report(k->sink, DFL_EVAL_INFEASIBLE, k->m->hole_span, "no mapping %s`%s` meets the requirements of `%s`",
                       between ? "with the lines of " : "of ", between ? name : workload, name);
    else
        d = dfl_report(k->sink, DFL_EVAL_INFEASIBLE, k->m->hole_span, "no mapping %s`%s` fits into `%s`",
                       between ? "with the lines of " : "of ", between ? name : workload, system);
    return d;
}

static void label_here(const analyst *k, dfl_diag *d)
{
    size_t n = 0;

    for (size_t i = 0; i < k->limits.n; i++)
        n += is_in(&k->limits.at[i]);
    if (n == 1)
        dfl_diag_here(k->sink, d, "every way to fill the holes violates a limit");
    else
        dfl_diag_here(k->sink, d, "every way to fill the holes violates one of %zu limits", n);
}

/* Labels the set, and those that are left when no size of a memory of it is enough. */
static void label_sets(analyst *k, dfl_diag *d)
{
    const change *best;

    for (size_t sets = 0; sets < k->limits.n; sets++) {
        size_t other = label_sizes(k, d);
        label_others(k, d);
        if (other == k->limits.n)
            break;
        k->limits.at[other].gone = true;
        k->more = true;
        set_lifted(k, 0, k->limits.n, false);
        if (ask(k) != DFL_ANSWER_NO)
            break;
        drop_kinds(k);
    }
    best = k->room.text == NULL || (k->rule.text != NULL && k->rule.ratio <= k->room.ratio) ? &k->rule : &k->room;
    if (k->more)
        dfl_diag_help(k->sink, d, "no single change suffices: all marked limits conflict");
    else if (best->text != NULL && best->rough)
        dfl_diag_help(k->sink, d, "%s, which suffices; whether less would suffice is not known", best->text);
    else if (best->text != NULL)
        dfl_diag_help(k->sink, d, "the smallest change of %s: %s", best->of, best->text);
    else if (is_in_set(k, LIMIT_AMOUNT))
        dfl_diag_help(k->sink, d, "write another tile size in a marked place, or leave it open: `?`");
    else if (is_in_set(k, LIMIT_KEEP))
        dfl_diag_help(k->sink, d, "remove a marked line, or keep its tensors in another memory");
}

bool dfl_conflict_set_report(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_question *question,
                             dfl_budget *budget)
{
    analyst k = { .sink = sink, .names = names, .m = m, .q = question, .arena = dfl_arena_new(budget),
                  .scratch = dfl_arena_new(budget) };
    bool found;

    find_limits(&k);
    found = find_set(&k);
    if (found) {
        dfl_diag *d = report(&k);
        label_here(&k, d);
        label_sets(&k, d);
        if (k.unknown)
            dfl_diag_note(sink, d, "the conflict was analysed %s: some marked limits may be unnecessary",
                          question->doubtful ? "by searches without a complete proof" : "for a limited time");
    }
    dfl_arena_free(k.scratch);
    dfl_arena_free(k.arena);
    return found;
}

/* ---- all lines open ---- */

static dfl_answer answer_lines(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits,
                               dfl_span *at)
{
    (void)waived;
    (void)at;
    return measured == DFL_NONE ? dfl_feasibility_any(context, m) : dfl_feasibility_least(context, m, measured, bits);
}

void dfl_conflict_set_find(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_search_request *request,
                           const dfl_budget *session)
{
    dfl_budget budget = { .steps_limit = MOST_STEPS };
    dfl_deadline halt = { .budget = &budget, .at = request->limits.deadline };
    dfl_feasibility fitting = { .names = names, .max_fused = request->space.max_shared_loops, .halt = &halt };
    const dfl_question question = { .answer = answer_lines, .context = &fitting, .kind = DFL_QUESTION_LINES,
                                    .rooms = request->objective->rooms };

    if (session != NULL) {
        budget.memory_limit = session->memory_limit;
        budget.cancel = session->cancel;
        budget.work = session->work;
    }
    if (!dfl_conflict_set_report(sink, names, m, &question, &budget))
        dfl_report(sink, DFL_EVAL_INFEASIBLE, m->hole_span, "no mapping of `%s` fits into `%s`",
                   dfl_sym_text(names, m->workload->name), dfl_sym_text(names, m->system->name));
}

void dfl_conflict_set_unknown(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    dfl_diag *d = dfl_report(sink, DFL_EVAL_HOLE_KIND, m->hole_span, "the search found no mapping of `%s` that fits",
                             dfl_sym_text(names, m->name));

    dfl_diag_here(sink, d, "the search counts all elements from the first to the last that windows touch, gaps and "
                           "padding included");
    dfl_diag_help(sink, d, "write the lines with `?` for tile sizes: then their room is counted exactly");
}
