/* The run: bodies, loops, operations, and the room that live tiles take. */
#include "oracle/machine.h"

enum { WORK_LIMIT = 1 << 30 };

bool oracle_work(oracle *o, uint64_t n)
{
    if (o->failed)
        return false;
    o->work += n;
    if (!dfl_budget_spend(dfl_arena_budget(o->arena), n)) {
        o->failed = true;
        return dfl_report_stop(o->sink, dfl_arena_budget(o->arena));
    }
    if (o->work <= WORK_LIMIT)
        return true;
    dfl_report(o->sink, DFL_LIMIT_STEPS, o->m->span, "too large to be executed step by step");
    o->failed = true;
    return false;
}

void oracle_unsupported(oracle *o, dfl_span span, const char *what)
{
    if (!o->failed)
        dfl_report(o->sink, DFL_EVAL_UNSUPPORTED, span, "%s is checked, but not executed", what);
    o->failed = true;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Whether a loop above both einsums is `online`. */
static bool is_online(const oracle *o, uint32_t producer, uint32_t reader)
{
    const dfl_path *p = o->ein[producer].path;
    const dfl_body *common = dfl_body_common(p->leaf, o->ein[reader].path->leaf);

    for (uint32_t i = 0; i < o->paths->step[common->id][common->n_lines]; i++)
        if (p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].line->online)
            return true;
    return false;
}

void oracle_released(oracle *o, uint32_t tensor, dfl_span at, const oracle_keep *keep)
{
    const char *name = dfl_sym_text(o->names, o->w->tensors[tensor].name);

    if (o->failed)
        return;
    dfl_diag *d = dfl_report(o->sink, DFL_MAP_NEEDED_AFTER_RELEASE, at, "elements of `%s` are needed after their release",
                             name);
    dfl_diag_here(o->sink, d, "they were computed, released and not kept elsewhere");
    dfl_diag_label(o->sink, d, keep->line->span, "kept here");
    dfl_diag_help(o->sink, d, "keep `%s` further out, or allow `recompute %s`", name, name);
    o->failed = true;
}

/* The value of an operand; a report when it is not there, or not complete (rule 12). */
static uint64_t operand(oracle *o, uint32_t id, const oracle_access *a, uint32_t inst, uint32_t elem)
{
    const dfl_tensor *t = &o->w->tensors[a->tensor];
    const oracle_tensor *ten = &o->ten[a->tensor];
    const oracle_cell *c = &a->keep->cells[(size_t)inst * a->keep->n_elem + elem];
    const char *tensor = dfl_sym_text(o->names, t->name);
    dfl_span span = o->ein[id].path->leaf->span;
    int64_t wanted = 0;
    bool online = false, given = t->n_producers == 0;

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (t->producers[p] < id) {
            wanted += ten->total[p][elem];
            online |= is_online(o, t->producers[p], id);
        }
    if (!c->present) {
        dfl_report(o->sink, DFL_INTERNAL_ERROR, span, "an operand outside the tile of `%s`", tensor);
        o->failed = true;
        return 0;
    }
    if (c->has_value ? given || online || c->parts >= wanted : wanted == 0)
        return c->value;
    if (ten->released[elem]) {
        oracle_released(o, a->tensor, span, a->keep);
    } else {
        dfl_diag *d = dfl_report(o->sink, DFL_MAP_CONSUMED_EARLY, span,
                                 "`%s` is read by einsum `%s` before it is complete", tensor,
                                 dfl_sym_text(o->names, o->ein[id].e->name));
        dfl_diag_here(o->sink, d, "%lld of %lld updates of the element were made",
                      (long long)(c->has_value ? c->parts : 0), (long long)wanted);
        dfl_diag_help(o->sink, d, "finish the loops of the producers of `%s` in a branch before this one", tensor);
    }
    o->failed = true;
    return 0;
}

/* One operand of one instance at one step. */
static uint64_t read_operand(oracle *o, uint32_t id, oracle_access *a, uint32_t unit, uint32_t elem)
{
    uint32_t *seen = &a->seen[(size_t)a->link.read_group[unit] * a->keep->n_elem + elem];
    uint64_t value = operand(o, id, a, a->link.outer_of[unit], elem);

    a->fresh_latch[unit] = elem;
    if (a->latched && a->latch[unit] == elem)
        return value;
    if (*seen != o->tick) {
        a->keep->traffic->serve++;
        a->keep->traffic->first.serve += a->link.outer_of[unit] == 0;
    }
    *seen = o->tick;
    return value;
}

/* In every iteration of an `online` loop but the first, what the result had before is rescaled once. */
static void rescale(oracle *o, uint32_t id, uint32_t elem)
{
    oracle_einsum *e = &o->ein[id];

    for (uint32_t i = 0; i < e->n_online; i++) {
        uint32_t *last = &e->last_online[i * o->ten[e->out.tensor].n_elem + elem];
        if (o->at[e->online[i]] > 0 && *last != o->iteration[e->online[i]])
            o->result->extra[id]++;
        *last = o->iteration[e->online[i]];
    }
}

/* What one instance does at one step: one point, or all points of the rank that an operation takes whole. */
static void operate(oracle *o, uint32_t id, const oracle_piece *piece, const uint32_t *coord, void *data)
{
    oracle_einsum *e = &o->ein[id];
    uint32_t unit = oracle_instance(o, e->unit_axes, e->n_unit_axes, coord);
    dfl_i128 points = 0;
    bool *works = data;

    for (bool more = oracle_first_point(o, id, piece); more && !o->failed; more = oracle_next_point(o, id, piece)) {
        uint64_t value = 1;
        if (!oracle_runs(o, id, e->path->n_steps))
            continue;
        points++;
        for (uint32_t i = 0; i < e->e->n_inputs; i++) {
            uint32_t elem = oracle_element(o, e, &e->in[i]);
            value = oracle_product(value, elem == DFL_NONE ? 0 : read_operand(o, id, &e->in[i], unit, elem));
        }
        uint32_t elem = oracle_element(o, e, &e->out);
        if (elem == DFL_NONE)
            continue;
        rescale(o, id, elem);
        oracle_result r = { .elem = elem, .inst = e->out.link.outer_of[unit], .group = e->out.link.write_group[unit],
                            .parts = 1, .value = value };
        DFL_PUSH(o->arena, &o->results, r);
    }
    if (e->e->over_rank != DFL_NONE && points > 0)
        points = 1;
    o->result->points[id] += points;
    *works |= points > 0;
}

static void clear_latches(oracle_einsum *e, bool fresh)
{
    for (uint32_t i = 0; i < e->e->n_inputs; i++)
        for (uint32_t u = 0; u < e->n_unit; u++)
            (fresh ? e->in[i].fresh_latch : e->in[i].latch)[u] = DFL_NONE;
}

static void execute(oracle *o, uint32_t id)
{
    oracle_einsum *e = &o->ein[id];
    bool works = false;

    o->tick++;
    o->results.n = 0;
    clear_latches(e, true);
    oracle_blocks(o, id, e->path->n_steps, operate, &works);
    oracle_deliver(o, e->out.keep, o->results.at, o->results.n, e->e->reduce == DFL_REDUCE_NONE);
    o->result->steps[id] += works;
    for (uint32_t i = 0; i < e->e->n_inputs; i++) {
        uint32_t *was = e->in[i].latch;
        e->in[i].latch = e->in[i].fresh_latch;
        e->in[i].fresh_latch = was;
    }
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static bool is_live(const oracle *o, const oracle_keep *k)
{
    uint32_t child = o->child[k->body->id];

    return k->always_live || (k->first_child <= child && child <= k->last_child);
}

/* Adds up the live tiles of the bodies from `body` outwards to the stage of a pipeline that it is in, or to the root,
   without what is at home all the time. */
static void take_room(oracle *o, const dfl_body *body)
{
    dfl_i128 **peak = o->peak[body->id];

    for (uint32_t m = 0; m < o->s->n_memories; m++)
        for (uint32_t i = 0; i < o->mem_inst[m]; i++)
            o->room[m][i] = 0;
    for (const dfl_body *b = body; b; b = b->parent && b->parent->kind != DFL_BODY_PIPELINE ? b->parent : NULL)
        for (uint32_t i = 0; i < b->n_lines; i++) {
            const oracle_keep *k = o->keep_of[o->line_base[b->id] + i];
            if (!k || k->lasting || !is_live(o, k))
                continue;
            for (uint32_t inst = 0; inst < k->n_inst; inst++)
                o->room[k->memory][inst] += (dfl_i128)k->now[inst].n * k->factor;
        }
    for (uint32_t m = 0; m < o->s->n_memories; m++)
        for (uint32_t i = 0; i < o->mem_inst[m]; i++)
            if (o->room[m][i] > peak[m][i])
                peak[m][i] = o->room[m][i];
}

/* The largest room in one instance while a body runs; of the stages of a pipeline the largest rooms add up. */
static dfl_i128 room_of(const oracle *o, const dfl_body *body, uint32_t memory)
{
    dfl_i128 most = 0;

    for (uint32_t i = 0; i < o->mem_inst[memory]; i++)
        most = o->peak[body->id][memory][i] > most ? o->peak[body->id][memory][i] : most;
    for (uint32_t c = 0; c < body->n_children; c++) {
        dfl_i128 child = room_of(o, body->children[c], memory);
        if (body->kind == DFL_BODY_PIPELINE)
            most += child;
        else
            most = child > most ? child : most;
    }
    return most;
}

/* The room of each tensor, and what is at home all the time. */
static void measure_room(oracle *o)
{
    dfl_oracle_result *r = o->result;

    for (size_t i = 0; i < o->keeps.n; i++) {
        const oracle_keep *k = o->keeps.at[i];
        if (k->most > k->traffic->peak_elements)
            k->traffic->peak_elements = k->most;
        if (k->most * k->factor > k->traffic->peak_bits)
            k->traffic->peak_bits = k->most * k->factor;
    }
    for (uint32_t m = 0; m < o->s->n_memories; m++)
        r->peak_bits[m] = room_of(o, o->m->root, m);
    /* a tensor with homes in several branches is there once */
    for (uint32_t i = 0; i < r->n_traffic; i++)
        for (size_t k = 0; k < o->keeps.n; k++)
            if (o->keeps.at[k]->traffic == &r->traffic[i] && o->keeps.at[k]->lasting) {
                r->peak_bits[r->traffic[i].memory] += r->traffic[i].peak_bits;
                break;
            }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void run_body(oracle *o, const dfl_body *body);

static void run_children(oracle *o, const dfl_body *body)
{
    for (uint32_t i = 0; i < body->n_einsums; i++) {
        const dfl_path *p = o->ein[body->einsums[i]].path;
        if (p->has_exchange && p->exchange.branch == body && p->exchange.restricts && p->exchange.recompute)
            oracle_start_anew(o, body->einsums[i]);
    }
    if (body->kind != DFL_BODY_FUSE)
        take_room(o, body);
    if (body->kind == DFL_BODY_LEAF)
        execute(o, body->einsums[0]);
    /* the stages of a pipeline move what they would move one after another */
    for (uint32_t c = 0; c < body->n_children && !o->failed; c++) {
        o->child[body->id] = c;
        run_body(o, body->children[c]);
    }
}

/* Sets the loops from line `from` on to their first iteration. */
static void restart(oracle *o, const dfl_body *body, uint32_t from)
{
    for (uint32_t i = from; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_TEMPORAL)
            o->at[o->line_base[body->id] + i] = 0;
    for (uint32_t i = from; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_TEMPORAL) {
            o->trip[o->line_base[body->id] + i] = oracle_trip(o, body, i);
            o->iteration[o->line_base[body->id] + i] = ++o->n_iterations;
        }
}

static void run_body(oracle *o, const dfl_body *body)
{
    uint32_t line = 0;
    bool begins = true;

    if (body->kind == DFL_BODY_LEAF)
        clear_latches(&o->ein[body->einsums[0]], false);
    restart(o, body, 0);
    while (oracle_work(o, 1)) {
        oracle_advance(o, body, line, begins);
        begins = false;
        run_children(o, body);
        for (line = body->n_lines; line > 0; line--) {
            uint32_t id = o->line_base[body->id] + line - 1;
            if (body->lines[line - 1].kind == DFL_LINE_TEMPORAL && ++o->at[id] < o->trip[id])
                break;
        }
        if (line == 0)
            break;
        o->iteration[o->line_base[body->id] + line - 1] = ++o->n_iterations;
        restart(o, body, line);
    }
    for (uint32_t i = 0; i < body->n_lines; i++)
        o->at[o->line_base[body->id] + i] = 0;
    oracle_close(o, body);
}

/* Whether instances never share a transfer: each is a group of its own. */
static bool apart(oracle *o, const oracle_keep *k, const uint32_t *group)
{
    bool *used = DFL_NEW_ARRAY(o->arena, bool, k->n_inst + 1), alone = true;

    for (uint32_t i = 0; i < k->n_inst && alone; i++) {
        alone = group[i] < k->n_inst && !used[group[i]];
        used[alone ? group[i] : 0] = true;
    }
    return alone;
}

/* What holds on every run, whatever the mapping: elements that enter a keep leave it, and a transfer reaches at least one
   instance and at most all of them. Gives the number of laws that a keep breaks. */
static dfl_i128 broken_laws(oracle *o, const oracle_keep *k)
{
    const oracle_balance *b = &k->balance;
    dfl_i128 out = b->drained + b->flushed, broken = 0;
    bool alone = k->written || apart(o, k, k->link.read_group), singly = apart(o, k, k->link.write_group);

    broken += b->filled + b->passed + b->empty != b->drained + b->dropped;
    broken += b->served > b->filled || b->filled > b->served * k->n_inst || (alone && b->served != b->filled);
    broken += b->updates > out || out > b->updates * k->n_inst || (singly && b->updates != out);
    return broken;
}

static void finish(oracle *o)
{
    dfl_oracle_result *r = o->result;

    for (uint32_t e = 0; e < o->w->n_einsums; e++) {
        r->extra[e] += r->points[e] - o->ein[e].work;
        r->padding[e] = o->ein[e].padding;
    }
    measure_room(o);
    for (size_t i = 0; i < o->keeps.n; i++)
        r->broken += o->keeps.at[i]->outer ? broken_laws(o, o->keeps.at[i]) : 0;
    r->wrong = oracle_wrong(o);
}

/* Executes the mapping, the keeps on the lines `held` taking room throughout their brace. False after a report. */
static bool run(oracle *o, bool *held)
{
    dfl_arena *arena = o->arena;
    const dfl_paths *paths = o->paths;
    const dfl_mapping *m = paths->mapping;
    uint32_t n = m->workload->n_einsums;

    *o = (oracle){ .arena = arena, .sink = o->sink, .names = o->names, .paths = paths, .m = m, .w = m->workload,
                   .s = m->system, .held = held };
    o->result = DFL_NEW(arena, dfl_oracle_result);
    o->result->points = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    o->result->extra = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    o->result->padding = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    o->result->steps = DFL_NEW_ARRAY(arena, dfl_i128, n + 1);
    o->result->peak_bits = DFL_NEW_ARRAY(arena, dfl_i128, m->system->n_memories + 1);
    o->result->forwarded = DFL_NEW_ARRAY(arena, dfl_i128, m->system->n_axes + 1);
    if (!oracle_setup(o))
        return false;
    for (uint32_t e = n; e-- > 0;)
        if (!oracle_prepare(o, e))
            return false;
    run_body(o, m->root);
    return !o->failed;
}

/* The lines of the keeps that stayed; NULL if all of them were live throughout anyway. */
static bool *find_held(const oracle *o)
{
    bool *held = DFL_NEW_ARRAY(o->arena, bool, o->n_lines + 1), any = false;

    for (uint32_t i = 0; i < o->n_lines; i++) {
        held[i] = o->keep_of[i] && o->keep_of[i]->stays;
        any |= held[i] && !o->keep_of[i]->always_live;
    }
    return any ? held : NULL;
}

const dfl_oracle_result *dfl_oracle_run(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    oracle o = { .arena = arena, .sink = sink, .names = names, .paths = paths };
    bool *held;

    /* whether a keep ever stays is known at the end: then once more, with room for what it holds */
    if (!run(&o, NULL) || ((held = find_held(&o)) && !run(&o, held)))
        return NULL;
    finish(&o);
    return o.result;
}
