/* Copies and queries of mappings, and the time of one point. */
#include "ir/mapping.h"

#include <string.h>

const char *dfl_schedule_name(dfl_schedule schedule)
{
    switch (schedule) {
    case DFL_SCHEDULE_GPIPE: return "gpipe";
    case DFL_SCHEDULE_ONE_F_ONE_B: return "one_f_one_b";
    case DFL_SCHEDULE_ZERO_BUBBLE: return "zero_bubble";
    case DFL_SCHEDULE_JOINED: return "joined";
    }
    return "";
}

/* Whether an axis encloses the memory of a keep; all of those that a decision may choose. */
static bool encloses_home(const dfl_mapping *m, uint32_t axis, const dfl_line *keep)
{
    const dfl_decision *open = keep->memory_decision > 0 ? &m->decisions[keep->memory_decision - 1] : NULL;

    for (uint32_t i = 0; open != NULL && i < open->n; i++)
        if (!dfl_axis_encloses(m->system, axis, m->system->memories[open->values[i]].element))
            return false;
    return dfl_axis_encloses(m->system, axis, m->system->memories[keep->memory].element);
}

/* Whether the instances of an axis may be chips: several, over a network with a shape, with the memory of every keep inside;
   without keeps, with all memories inside. */
static bool may_join_chips(const dfl_mapping *m, uint32_t axis)
{
    const dfl_system *s = m->system;
    const dfl_axis *a = &s->axes[axis];
    bool has_keep = false;

    if (a->size == 1 || a->network == DFL_NONE || s->networks[a->network].topology.kind == DFL_TOPOLOGY_NONE)
        return false;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            if (line->kind == DFL_LINE_KEEP && !encloses_home(m, axis, line))
                return false;
            has_keep |= line->kind == DFL_LINE_KEEP;
        }
    for (uint32_t i = 0; !has_keep && i < s->n_memories; i++)
        if (!dfl_axis_encloses(s, axis, s->memories[i].element))
            return false;
    return s->n_memories > 0;
}

/* Whether an axis encloses a system that `use` inserts. */
static bool encloses_system(const dfl_system *s, uint32_t axis)
{
    for (uint32_t e = 1; e < s->n_elements; e++)
        if (s->elements[e].n_axes == 0 && !s->elements[e].side && dfl_axis_encloses(s, axis, e))
            return true;
    return false;
}

/* Whether a mapping has a word that only plans have, or maps a training step. */
static bool has_plan_words(const dfl_mapping *m)
{
    const dfl_options *o = &m->options;

    if (o->contention_none || o->chunks > 0 || o->bucket_bits > 0 || o->chip_search || o->groups > 0 || o->pieces > 0 ||
        o->exchanges_block || o->gradients_beside || o->gradients_behind)
        return true;
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++)
            if (m->bodies[b]->lines[i].stages != NULL || m->bodies[b]->lines[i].n_splits > 0)
                return true;
    for (uint32_t e = 0; e < m->workload->n_einsums; e++)
        if (m->workload->einsums[e].phase != DFL_PHASE_FORWARD)
            return true;
    return false;
}

bool dfl_mapping_is_plan(const dfl_mapping *m)
{
    const dfl_system *s = m->system;
    bool chips = false, words = has_plan_words(m), open = false, spread = false;

    for (uint32_t x = 0; x < s->n_axes && !chips; x++)
        chips = may_join_chips(m, x);
    if (!chips || words)
        return chips;
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        open |= m->bodies[b]->open || m->bodies[b]->open_children;
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &m->bodies[b]->lines[i];
            spread |= line->kind == DFL_LINE_SPATIAL && may_join_chips(m, line->axis) &&
                      (m->workload->n_einsums > 1 || encloses_system(s, line->axis));
        }
    }
    return open && spread;
}

bool dfl_line_is_first(const dfl_body *body, uint32_t i)
{
    return i == 0 || body->lines[i].loop == 0 || body->lines[i].loop != body->lines[i - 1].loop;
}

uint32_t dfl_line_end(const dfl_body *body, uint32_t i)
{
    do
        i++;
    while (i < body->n_lines && !dfl_line_is_first(body, i));
    return i;
}

dfl_sym dfl_line_rank_name(const dfl_workload *w, const dfl_line *line)
{
    return line->loop > 0 ? line->loop_name : w->ranks[line->rank].name;
}

int64_t dfl_line_longest(const dfl_mapping *m, uint32_t i)
{
    const dfl_line *line = &m->root->lines[i];
    const dfl_decision *open = line->rank_decision > 0 ? &m->decisions[line->rank_decision - 1] : NULL;
    const uint32_t end = dfl_line_end(m->root, i);
    int64_t most = 0;

    for (uint32_t k = i; k < end; k++)
        if (m->workload->ranks[m->root->lines[k].rank].extent > most)
            most = m->workload->ranks[m->root->lines[k].rank].extent;
    for (uint32_t k = 0; open != NULL && k < open->n; k++)
        if (m->workload->ranks[open->values[k]].extent > most)
            most = m->workload->ranks[open->values[k]].extent;
    return most;
}

bool dfl_body_has_einsum(const dfl_body *body, uint32_t einsum)
{
    uint32_t low = 0, high = body->n_einsums;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (body->einsums[middle] < einsum)
            low = middle + 1;
        else
            high = middle;
    }
    return low < body->n_einsums && body->einsums[low] == einsum;
}

const dfl_body *dfl_mapping_leaf(const dfl_mapping *m, uint32_t einsum)
{
    const dfl_body *b = m->root;

    while (b && b->kind != DFL_BODY_LEAF) {
        const dfl_body *next = NULL;
        for (uint32_t c = 0; !next && c < b->n_children; c++)
            if (dfl_body_has_einsum(b->children[c], einsum))
                next = b->children[c];
        b = next;
    }
    return b && b->n_einsums == 1 && b->einsums[0] == einsum ? b : NULL;
}

static const uint32_t *copy_ids(dfl_arena *arena, const uint32_t *ids, uint32_t n)
{
    uint32_t *out = ids != NULL ? DFL_NEW_ARRAY(arena, uint32_t, n) : NULL;

    if (n > 0)
        memcpy(out, ids, n * sizeof *out);
    return out;
}

dfl_mapping *dfl_mapping_copy(dfl_arena *arena, const dfl_mapping *m)
{
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, m->n_bodies);

    *out = *m;
    out->bodies = bodies;
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        const dfl_body *from = m->bodies[b];
        dfl_body *to = bodies[b] = DFL_NEW(arena, dfl_body);
        *to = *from;
        to->lines = DFL_NEW_ARRAY(arena, dfl_line, from->n_lines);
        if (from->n_lines > 0)
            memcpy(to->lines, from->lines, from->n_lines * sizeof *to->lines);
        for (uint32_t i = 0; i < from->n_lines; i++)
            to->lines[i].only = copy_ids(arena, from->lines[i].only, from->lines[i].n_only);
        to->einsums = copy_ids(arena, from->einsums, from->n_einsums);
        to->recompute = copy_ids(arena, from->recompute, from->n_recompute);
        to->children = DFL_NEW_ARRAY(arena, dfl_body *, from->n_children);
        to->parent = from->parent != NULL ? bodies[from->parent->id] : NULL;
    }
    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t c = 0; c < m->bodies[b]->n_children; c++)
            bodies[b]->children[c] = bodies[m->bodies[b]->children[c]->id];
    out->root = bodies[0];
    return out;
}

static bool is_touched_below(const dfl_workload *w, const dfl_body *b, uint32_t tensor)
{
    for (uint32_t e = 0; e < b->n_einsums; e++)
        if (dfl_einsum_touches(&w->einsums[b->einsums[e]], tensor))
            return true;
    return false;
}

/* Whether a keep of the tensor in the memory stands among the keeps around line `at`. */
static bool has_beside(const dfl_body *b, uint32_t at, uint32_t tensor, uint32_t memory)
{
    uint32_t first = at, last = at;

    while (first > 0 && b->lines[first - 1].kind == DFL_LINE_KEEP)
        first--;
    while (last + 1 < b->n_lines && b->lines[last + 1].kind == DFL_LINE_KEEP)
        last++;
    for (uint32_t i = first; i <= last; i++)
        if (b->lines[i].tensor == tensor && b->lines[i].memory == memory)
            return true;
    return false;
}

bool dfl_mapping_keeps_rows_with_tables(const dfl_mapping *m)
{
    const dfl_workload *w = m->workload;

    for (uint32_t i = 0; i < m->n_bodies && w->has_gathered; i++) {
        const dfl_body *b = m->bodies[i];
        for (uint32_t l = 0; l < b->n_lines; l++) {
            const uint32_t tensor = b->lines[l].tensor;
            for (uint32_t t = 0; t < w->n_tensors && b->lines[l].kind == DFL_LINE_KEEP; t++) {
                const bool are_one = t != tensor && ((w->tensors[t].gathered && w->tensors[t].table == tensor) ||
                                                     (w->tensors[tensor].gathered && w->tensors[tensor].table == t));
                if (are_one && is_touched_below(w, b, t) && is_touched_below(w, b, tensor) &&
                    !has_beside(b, l, t, b->lines[l].memory))
                    return false;
            }
        }
    }
    return true;
}

static uint32_t count_bodies(const dfl_body *b)
{
    uint32_t n = 1;

    for (uint32_t c = 0; c < b->n_children; c++)
        n += count_bodies(b->children[c]);
    return n;
}

static void number(dfl_body **bodies, dfl_body *b, dfl_body *parent, uint32_t *n)
{
    b->id = *n;
    b->parent = parent;
    b->depth = parent != NULL ? parent->depth + 1 : 0;
    bodies[(*n)++] = b;
    for (uint32_t c = 0; c < b->n_children; c++)
        number(bodies, b->children[c], b, n);
}

void dfl_mapping_number(dfl_arena *arena, dfl_mapping *m)
{
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, count_bodies(m->root));
    uint32_t n = 0;

    number(bodies, m->root, NULL, &n);
    m->bodies = bodies;
    m->n_bodies = n;
}

void dfl_body_open_end(dfl_arena *arena, dfl_body *body)
{
    dfl_open *end = DFL_NEW(arena, dfl_open);

    *end = (dfl_open){ body->n_lines, body->open_span };
    body->open = true;
    body->opens = end;
    body->n_opens = 1;
}

const dfl_body *dfl_body_common(const dfl_body *a, const dfl_body *b)
{
    while (a->depth > b->depth)
        a = a->parent;
    while (b->depth > a->depth)
        b = b->parent;
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return a;
}

bool dfl_body_within(const dfl_body *inner, const dfl_body *outer)
{
    while (inner && inner != outer)
        inner = inner->parent;
    return inner == outer;
}

/* Whether an operand holds positions of rows: a tree does not compute with it. */
static bool holds_positions(const dfl_eop *tree, uint32_t operand)
{
    if (tree->kind == DFL_EOP_GATHER)
        return tree->args[1]->operand == operand;
    if (tree->kind == DFL_EOP_SCATTER && tree->args[1]->operand == operand)
        return true;
    for (uint32_t i = 0; i < tree->n_args; i++)
        if (holds_positions(tree->args[i], operand))
            return true;
    return false;
}

const dfl_dtype *dfl_einsum_type(const dfl_workload *w, const dfl_einsum *e)
{
    const dfl_dtype *widest = NULL;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (!holds_positions(e->body, i) && (widest == NULL || w->tensors[e->inputs[i].tensor].type.bits > widest->bits))
            widest = &w->tensors[e->inputs[i].tensor].type;
    return widest != NULL ? widest : &w->tensors[e->output.tensor].type;
}

typedef struct {
    const dfl_intern *names;
    const dfl_compute *unit;
    dfl_sym type;
    double seconds;
    bool lacks;      /* set if an operation has no rate */
    const dfl_work_size *size;   /* size of the work, for efficiencies; NULL = rates are reached in full */
    const dfl_efficiency *small; /* set to an efficiency whose first point is above the work */
} stopwatch;

/* How closely a rate or an efficiency for the operation `of` and the data type `type` (0 = any) describes the operation
   `op` of the kind `kind`; -1 = not at all. */
static int rank_match(const stopwatch *t, dfl_sym of, dfl_sym type, const char *op, const char *kind)
{
    const char *name = of != 0 ? dfl_sym_text(t->names, of) : "";
    bool named = of != 0 && strcmp(name, op) == 0;

    if ((of != 0 && !named && strcmp(name, kind) != 0) || (type != 0 && type != t->type))
        return -1;
    return (of != 0) + named + 4 * (type != 0);
}

/* Share of the rate that operations `op` of the kind `kind` reach. */
static double find_share(stopwatch *t, const char *op, const char *kind)
{
    const dfl_efficiency *best = NULL;
    int most = -1;

    for (uint32_t i = 0; t->size != NULL && i < t->unit->n_efficiencies; i++) {
        const dfl_efficiency *e = &t->unit->efficiencies[i];
        int specific = rank_match(t, e->op, e->type, op, kind);
        if (specific > most) {
            most = specific;
            best = e;
        }
    }
    if (best == NULL)
        return 1;
    double share = dfl_efficiency_is_grid(best) ? dfl_efficiency_grid_share(best, t->size->shape)
                                                : dfl_efficiency_share(best, t->size->flop);
    t->small = share > 0 ? t->small : best;
    return share > 0 ? share : 1;
}

/* Adds the time of `n` operations `op`, of the kind `mac` or `flop`. */
static void run(stopwatch *t, double n, const char *op, const char *kind)
{
    const dfl_rate *best = NULL;
    int most = -1;

    if (n <= 0)
        return;
    for (uint32_t i = 0; i < t->unit->n_rates; i++) {
        const dfl_rate *r = &t->unit->rates[i];
        int specific = rank_match(t, r->op, r->type, op, kind);
        if (specific > most) {
            most = specific;
            best = r;
        }
    }
    t->lacks |= best == NULL;
    if (best != NULL) /* a rate for every operation counts FLOPs, and a MAC is two FLOPs */
        t->seconds += n * (best->op == 0 && strcmp(kind, "mac") == 0 ? 2 : 1) / (best->rate * find_share(t, op, kind));
}

static void run_tree(stopwatch *t, const dfl_eop *e)
{
    if (e->kind == DFL_EOP_CALL)
        run(t, dfl_i128_double(e->flops), dfl_sym_text(t->names, e->op), "flop");
    else if (e->kind != DFL_EOP_ACCESS && e->kind != DFL_EOP_CONST && e->kind != DFL_EOP_GATHER && e->kind != DFL_EOP_SCATTER)
        run(t, 1, "flop", "flop");
    for (uint32_t i = 0; i < e->n_args; i++)
        run_tree(t, e->args[i]);
}

/* The name of the operation that takes a whole rank. Its calls have no FLOP per point. */
static const char *find_over_op(const dfl_intern *names, const dfl_eop *e)
{
    const char *found = e->kind == DFL_EOP_CALL && e->flops == 0 ? dfl_sym_text(names, e->op) : NULL;

    for (uint32_t i = 0; i < e->n_args && found == NULL; i++)
        found = find_over_op(names, e->args[i]);
    return found;
}

double dfl_point_seconds_at(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit,
                            const dfl_work_size *size, const dfl_efficiency **small)
{
    static const char *const reductions[] = { NULL, "flop", "max", "min" };
    stopwatch t = { .names = names, .unit = unit, .type = dfl_einsum_type(w, e)->name, .size = size };

    if (e->is_mac) {
        run(&t, 1, "mac", "mac");
    } else if (e->over_rank != DFL_NONE) {
        const char *op = find_over_op(names, e->body);
        dfl_i128 flops;
        if (dfl_einsum_point_flops(w, e, &flops))
            return -1;
        run(&t, dfl_i128_double(flops), op != NULL ? op : "flop", "flop");
    } else {
        run_tree(&t, e->body);
        if (e->reduce != DFL_REDUCE_NONE)
            run(&t, 1, reductions[e->reduce], "flop");
    }
    *small = t.small;
    return t.lacks ? -1 : t.seconds;
}

double dfl_point_seconds(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit)
{
    const dfl_efficiency *small;

    return dfl_point_seconds_at(names, w, e, unit, NULL, &small);
}

double dfl_operation_joules(const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit)
{
    dfl_sym type = unit->n_type_energies > 0 ? dfl_einsum_type(w, e)->name : 0;

    for (uint32_t i = 0; i < unit->n_type_energies; i++)
        if (unit->type_energies[i].type == type)
            return unit->type_energies[i].joules * (e->is_mac ? 2 : 1);
    return e->is_mac ? unit->mac_energy : unit->flop_energy;
}

double dfl_point_joules(const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit)
{
    double each = dfl_operation_joules(w, e, unit);
    dfl_i128 flops;

    if (e->is_mac)
        return each;
    return dfl_einsum_point_flops(w, e, &flops) ? 0 : each * dfl_i128_double(flops);
}
