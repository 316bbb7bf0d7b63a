/* Finishing a system: from parts with attributes to the flat tree of ir/system.h. */
#include "sema/system/system.h"

#include <math.h>
#include <string.h>

#include "lint/system.h"
#include "sema/expr/types.h"

typedef struct {
    dfl_sys *s;
    bool (*known_op)(void *context, dfl_sym op);
    void *context;
    dfl_element *elements;
    dfl_memory *memories;
    dfl_compute *computes;
    dfl_network *networks;
    dfl_axis *axes;
    bool any_energy;
    bool bad_clock;      /* a clock has no value, which was reported */
    uint32_t *first_axis;      /* by network: its first axis + 1, 0 = none */
    uint32_t *next_axis;       /* by axis: the next of the same network + 1 */
    uint32_t *same_name;       /* by axis: the next of the same network and name + 1 */
} finisher;

static const char *text(const finisher *f, dfl_sym sym)
{
    return dfl_sym_text(f->s->names, sym);
}

static const char *part_text(const finisher *f, const dfl_sys_part *p)
{
    return p->name != 0 ? text(f, p->name) : text(f, f->s->name);
}

/* The few attributes that a part has are looked through: their names are those that its kind may have. */
static const dfl_sys_attr *attr_of(const dfl_sys_part *p, const char *name)
{
    for (size_t i = 0; i < p->attrs.n; i++)
        if (p->attrs.at[i].n_values > 0 && p->attrs.at[i].name[0] == name[0] && strcmp(p->attrs.at[i].name, name) == 0)
            return &p->attrs.at[i];
    return NULL;
}

/* The value without cycles. `clock` in Hz, 0 = none in scope. */
static double in_seconds(finisher *f, const dfl_sys_value *v, double clock)
{
    int cycles = v->quantity.dim.power[DFL_BASE_CYCLE];
    double value;

    if (v->kind != DFL_SYS_QUANTITY)
        return 0;
    /* A frequency is a rate of cycles: nothing to convert. */
    if (cycles == 0 || (cycles == 1 && v->quantity.dim.power[DFL_BASE_TIME] == -1))
        return v->quantity.real;
    if (clock <= 0) {
        dfl_diag *d;

        if (f->bad_clock)
            return 0;
        d = dfl_report(f->s->sink, DFL_UNIT_NO_CLOCK, v->span, "cycles without a clock in scope");
        dfl_diag_help(f->s->sink, d, "give the system or an enclosing element a clock: `clock = 1GHz;`");
        f->s->broken = true;
        return 0;
    }
    value = cycles < 0 ? v->quantity.real * clock : v->quantity.real / clock;
    if (!isfinite(value) || (value == 0 && v->quantity.real != 0)) {
        dfl_report(f->s->sink, DFL_UNIT_OVERFLOW, v->span, "value is out of range at this clock");
        f->s->broken = true;
    }
    return value;
}

static double number(finisher *f, const dfl_sys_part *p, const char *name, double clock, double otherwise, bool *given)
{
    const dfl_sys_attr *a = attr_of(p, name);

    if (given != NULL)
        *given = *given || a != NULL;
    return a != NULL ? in_seconds(f, &a->values[0], clock) : otherwise;
}

static double clock_of(const finisher *f, const dfl_sys_part *p)
{
    return f->elements[f->s->parts.at[p->element].id].clock;
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

static void lower_element(finisher *f, const dfl_sys_part *p)
{
    bool root = p->id == 0;
    uint32_t parent = root ? DFL_NONE : f->s->parts.at[p->element].id;
    double inherited = root ? 0 : f->elements[parent].clock;

    f->elements[p->id] = (dfl_element){ .name = p->name, .span = p->span, .parent = parent, .side = p->side,
                                        .first_axis = p->first_axis, .n_axes = p->n_axes,
                                        .clock = number(f, p, "clock", 0, inherited, NULL) };
    f->bad_clock |= f->elements[p->id].clock <= 0 && (p->silent || attr_of(p, "clock") != NULL);
}

/* ---- selections ----------------------------------------------------------------------------------------------- */

static bool role_word(const char *word, unsigned *role)
{
    static const struct { const char *word; dfl_role role; } words[] = {
        { "input", DFL_ROLE_INPUT }, { "weight", DFL_ROLE_WEIGHT }, { "output", DFL_ROLE_OUTPUT },
        { "state", DFL_ROLE_STATE },
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0) {
            *role = words[i].role;
            return true;
        }
    return false;
}

/* `room` takes the names of a selection, one for each of its words at most. */
static void select_word(const finisher *f, dfl_selection *sel, dfl_sym *room, dfl_sym word)
{
    unsigned role;

    sel->on = true;
    sel->names = room;
    if (strcmp(text(f, word), "all") == 0)
        sel->all = true;
    else if (role_word(text(f, word), &role))
        sel->roles |= 1u << role;
    else
        room[sel->n_names++] = word;
}

static dfl_selection tensors_of(finisher *f, const dfl_sys_part *p, const char *name)
{
    const dfl_sys_attr *a = attr_of(p, name);
    dfl_sym *room = a != NULL ? DFL_NEW_ARRAY(f->s->arena, dfl_sym, a->n_values) : NULL;
    dfl_selection sel = { 0 };

    for (uint32_t i = 0; a != NULL && i < a->n_values; i++)
        if (a->values[i].kind == DFL_SYS_WORD)
            select_word(f, &sel, room, a->values[i].word);
    return sel;
}

/* ---- memories ------------------------------------------------------------------------------------------------- */

static int64_t size_of_memory(finisher *f, const dfl_sys_part *p, dfl_span *span)
{
    const dfl_sys_attr *a = attr_of(p, "size");
    const dfl_sys_value *v = a != NULL ? &a->values[0] : NULL;

    *span = p->span;
    f->s->broken |= v == NULL;
    if (v == NULL) {
        if (!p->silent && !f->s->lenient) {
            dfl_diag *d = dfl_report(f->s->sink, DFL_SYS_ATTRIBUTE_MISSING, p->span, "memory `%s` has no size",
                                     part_text(f, p));

            dfl_diag_help(f->s->sink, d, "write `size = 64KiB;`, or `size = unlimited;` if that is meant");
            f->s->broken = true;
        }
        return 0;
    }
    *span = v->span;
    if (p->silent)
        return 0;
    if (v->kind == DFL_SYS_WORD)
        return -1;
    if (v->kind != DFL_SYS_QUANTITY)
        return 0;
    if (!v->quantity.exact || v->quantity.integer > INT64_MAX) {
        dfl_diag *d = dfl_report(f->s->sink, DFL_UNIT_OVERFLOW, v->span,
                                 "size of `%s` is not a whole number of bits below 2^63", part_text(f, p));

        dfl_diag_help(f->s->sink, d, v->quantity.real < 0x1p62 ? "round it with `floor` or `ceil`"
                                                               : "write `size = unlimited;` if it never fills");
        f->s->broken = true;
        return 0;
    }
    return (int64_t)v->quantity.integer;
}

static void no_effect(finisher *f, const dfl_sys_attr *a, const dfl_sys_part *p, const char *why)
{
    if (a != NULL)
        dfl_sys_no_effect(f->s, a->span, dfl_attr_at(a->info)->name, p->name, why);
}

static void memory_rates(finisher *f, const dfl_sys_part *p, dfl_memory *m, double clock)
{
    bool read = false, write = false;
    double both = number(f, p, "bandwidth", clock, INFINITY, NULL);
    const dfl_sys_attr *plain = attr_of(p, "bandwidth"), *shared = attr_of(p, "ports");

    m->read_rate = number(f, p, "read.bandwidth", clock, both, &read);
    m->write_rate = number(f, p, "write.bandwidth", clock, both, &write);
    m->one_port = shared != NULL || !(read || write);
    if (read && write)
        no_effect(f, plain, p, "`read` and `write` have bandwidths of their own");
    if (!(read || write))
        no_effect(f, shared, p, "reads and writes share one port unless `read` and `write` have bandwidths");
}

static void lower_memory(finisher *f, const dfl_sys_part *p)
{
    dfl_memory *m = &f->memories[p->id];
    double clock = clock_of(f, p), both = number(f, p, "energy", clock, 0, NULL);
    bool plain = attr_of(p, "energy") != NULL;
    const dfl_sys_attr *buffers = attr_of(p, "buffers");

    m->name = p->name;
    m->span = p->span;
    m->element = f->s->parts.at[p->element].id;
    m->size_bits = size_of_memory(f, p, &m->size_span);
    memory_rates(f, p, m, clock);
    m->has_read_energy = m->has_write_energy = plain;
    m->read_energy = number(f, p, "read.energy", clock, both, &m->has_read_energy);
    m->write_energy = number(f, p, "write.energy", clock, both, &m->has_write_energy);
    m->latency = number(f, p, "latency", clock, 0, NULL);
    m->leakage = number(f, p, "leakage", clock, 0, NULL);
    m->area = number(f, p, "area", clock, 0, NULL);
    m->buffers = 1;
    if (buffers != NULL && buffers->values[0].kind == DFL_SYS_QUANTITY)
        m->buffers = (int64_t)buffers->values[0].quantity.integer;
    m->stream = attr_of(p, "overlap") != NULL;
    m->holds = tensors_of(f, p, "holds");
    f->any_energy |= m->has_read_energy || m->has_write_energy;
    if (plain && attr_of(p, "read.energy") != NULL && attr_of(p, "write.energy") != NULL)
        no_effect(f, attr_of(p, "energy"), p, "`read` and `write` have energies of their own");
}

/* ---- compute units -------------------------------------------------------------------------------------------- */

static bool is_op(finisher *f, dfl_sym word)
{
    const char *t = text(f, word);

    return strcmp(t, "mac") == 0 || strcmp(t, "flop") == 0 || f->known_op(f->context, word);
}

static void unknown_op(finisher *f, dfl_sym word, dfl_span span)
{
    dfl_diag *d = dfl_report(f->s->sink, DFL_OP_UNKNOWN, span, "no operation or data type `%s`", text(f, word));

    dfl_diag_help(f->s->sink, d, "`mac`, `flop`, a data type, or an operation of std.ops");
    f->s->broken = true;
}

/* `rate = R`, `rate { bf16 = R; }`, `rate { mac = R; }`, `rate { mac { bf16 = R; } }` */
static void lower_rates(finisher *f, const dfl_sys_part *p, dfl_compute *c, double clock)
{
    dfl_rate *rates = DFL_NEW_ARRAY(f->s->arena, dfl_rate, p->attrs.n + 1);

    for (size_t i = 0; i < p->attrs.n; i++) {
        const dfl_sys_attr *a = &p->attrs.at[i];
        dfl_rate *r = &rates[c->n_rates];

        if (strncmp(dfl_attr_at(a->info)->name, "rate", 4) != 0 || a->n_values == 0)
            continue;
        for (int k = 0; k < 2 && a->keys[k] != 0; k++) {
            if (dfl_type_bits(text(f, a->keys[k])) > 0)
                r->type = a->keys[k];
            else if (is_op(f, a->keys[k]))
                r->op = a->keys[k];
            else
                unknown_op(f, a->keys[k], a->span);
        }
        r->rate = in_seconds(f, &a->values[0], clock);
        if (r->op != 0 && strcmp(text(f, r->op), "mac") == 0)
            r->rate /= 2;
        c->n_rates++;
    }
    c->rates = rates;
}

static void lower_compute(finisher *f, const dfl_sys_part *p)
{
    dfl_compute *c = &f->computes[p->id];
    double clock = clock_of(f, p), per_op = number(f, p, "energy", clock, 0, &c->has_energy);
    const dfl_sys_attr *ops = attr_of(p, "ops");

    c->name = p->name;
    c->span = p->span;
    c->element = f->s->parts.at[p->element].id;
    c->after_memory = p->after_memory;
    lower_rates(f, p, c, clock);
    /* An energy is per operation, and a MAC is two. */
    c->mac_energy = 2 * number(f, p, "energy.mac", clock, per_op, &c->has_energy);
    c->flop_energy = number(f, p, "energy.flop", clock, per_op, &c->has_energy);
    c->area = number(f, p, "area", clock, 0, NULL);
    c->leakage = number(f, p, "leakage", clock, 0, NULL);
    c->operand_reuse = tensors_of(f, p, "operand_reuse");
    f->any_energy |= c->has_energy;
    if (c->n_rates == 0)
        f->s->broken = true;
    if (c->n_rates == 0 && !p->silent && !f->s->lenient) {
        dfl_diag *d = dfl_report(f->s->sink, DFL_SYS_ATTRIBUTE_MISSING, p->span, "compute unit `%s` has no rate",
                                 part_text(f, p));

        dfl_diag_help(f->s->sink, d, "write `rate = 1MAC/cycle;`");
        f->s->broken = true;
    }
    if (ops == NULL)
        return;
    dfl_sym *names = DFL_NEW_ARRAY(f->s->arena, dfl_sym, ops->n_values);
    for (uint32_t i = 0; i < ops->n_values; i++) {
        if (ops->values[i].kind != DFL_SYS_WORD)
            continue;
        if (!is_op(f, ops->values[i].word))
            unknown_op(f, ops->values[i].word, ops->values[i].span);
        names[c->n_ops++] = ops->values[i].word;
    }
    c->ops = names;
}

/* ---- networks and axes ---------------------------------------------------------------------------------------- */

/* Last component of a dotted name: `row` of `gpu.row`. */
static dfl_sym last_name(const finisher *f, dfl_sym name)
{
    const char *dot = strrchr(text(f, name), '.');

    return dot == NULL ? name : dfl_intern_z(f->s->new_names, dot + 1);
}

static void list_axes(finisher *f)
{
    f->first_axis = DFL_NEW_ARRAY(f->s->arena, uint32_t, f->s->count[DFL_PART_NETWORK]);
    f->next_axis = DFL_NEW_ARRAY(f->s->arena, uint32_t, f->s->count[DFL_PART_AXIS]);
    f->same_name = DFL_NEW_ARRAY(f->s->arena, uint32_t, f->s->count[DFL_PART_AXIS]);
    for (uint32_t x = f->s->count[DFL_PART_AXIS]; x-- > 0;)
        if (f->axes[x].network != DFL_NONE) {
            f->next_axis[x] = f->first_axis[f->axes[x].network];
            f->first_axis[f->axes[x].network] = x + 1;
        }
}

/* The axes over a network by the last component of their names, and by their full names where those are longer. */
static dfl_symmap axes_by_name(finisher *f, uint32_t network)
{
    dfl_symmap map = { 0 };

    for (uint32_t x = f->first_axis[network]; x != 0; x = f->next_axis[x - 1]) {
        dfl_axis *axis = &f->axes[x - 1];
        dfl_sym last = last_name(f, axis->name);
        const dfl_axis *same = dfl_symmap_get(&map, last);

        f->same_name[x - 1] = same != NULL ? (uint32_t)(same - f->axes) + 1 : 0;
        dfl_symmap_put(f->s->arena, &map, last, axis);
    }
    for (uint32_t x = f->first_axis[network]; x != 0; x = f->next_axis[x - 1])
        if (last_name(f, f->axes[x - 1].name) != f->axes[x - 1].name)
            dfl_symmap_put(f->s->arena, &map, f->axes[x - 1].name, &f->axes[x - 1]);
    return map;
}

static void report_no_axis(finisher *f, const dfl_sys_part *network, const dfl_sys_value *v)
{
    dfl_diag *d = dfl_report(f->s->sink, DFL_NAME_UNKNOWN, v->span, "no axis `%s` over network `%s`", text(f, v->word),
                             part_text(f, network));
    DFL_VEC(dfl_sym) names = { 0 };
    dfl_sym near;

    f->s->broken = true;
    if (dfl_sink_drops(f->s->sink))
        return;
    dfl_diag_label(f->s->sink, d, network->span, "axes use it by `array ... over %s`", part_text(f, network));
    for (uint32_t x = f->first_axis[network->id]; x != 0; x = f->next_axis[x - 1])
        DFL_PUSH(f->s->arena, &names, last_name(f, f->axes[x - 1].name));
    near = dfl_suggest(f->s->names, text(f, v->word), names.at, names.n);
    if (near != 0 && v->n_args == 0)
        dfl_diag_fix(f->s->sink, d, v->span, text(f, near), DFL_FIX_MAYBE);
    else if (near != 0)
        dfl_diag_help(f->s->sink, d, "did you mean `%s`?", text(f, near));
}

/* `multicast = row(weight), col`: to each axis over this network its selection. */
static void select_axes(finisher *f, const dfl_sys_part *network, const dfl_symmap *axes, const char *name)
{
    const dfl_sys_attr *a = attr_of(network, name);

    for (uint32_t i = 0; a != NULL && i < a->n_values; i++) {
        const dfl_sys_value *v = &a->values[i];
        dfl_axis *first = v->kind == DFL_SYS_WORD ? dfl_symmap_get(axes, v->word) : NULL, *axis = first;

        while (axis != NULL) {
            dfl_selection sel = { .on = true, .all = v->n_args == 0 };
            uint32_t same = axis->name == v->word && strchr(text(f, v->word), '.') != NULL ? 0
                                                                                         : f->same_name[axis - f->axes];
            dfl_sym *room = DFL_NEW_ARRAY(f->s->arena, dfl_sym, v->n_args);

            for (uint32_t k = 0; k < v->n_args; k++)
                select_word(f, &sel, room, v->args[k]);
            if (name[0] == 'm')
                axis->multicast = sel;
            else if (name[0] == 'r')
                axis->reduce = sel;
            else
                axis->forward = true;
            axis = same != 0 ? &f->axes[same - 1] : NULL;
        }
        if (first == NULL && v->kind == DFL_SYS_WORD)
            report_no_axis(f, network, v);
    }
}

static void lower_network(finisher *f, const dfl_sys_part *p)
{
    static const char *const unused[] = { "oversubscription", "price", "power" };
    dfl_network *n = &f->networks[p->id];
    double clock = clock_of(f, p);

    n->name = p->name;
    n->kind = p->network_kind;
    n->span = p->span;
    n->element = f->s->parts.at[p->element].id;
    n->bandwidth = number(f, p, "bandwidth", clock, INFINITY, NULL);
    n->latency = number(f, p, "latency", clock, 0, NULL);
    n->energy = number(f, p, "energy", clock, 0, &n->has_energy);
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        no_effect(f, attr_of(p, unused[i]), p,
                  "only collectives between chips would depend on it, and none is evaluated");
}

static void lower_axis(finisher *f, const dfl_sys_part *p)
{
    dfl_axis *a = &f->axes[p->id];

    a->name = p->name;
    a->span = p->span;
    a->size = p->size;
    a->element = f->s->parts.at[p->multiplies].id;
    a->network = p->network == DFL_NONE ? DFL_NONE : f->s->parts.at[p->network].id;
    if (p->network == DFL_NONE && !p->silent && p->size > 1 && dfl_sys_lints(f->s, p->span))
        dfl_lint_array_without_network(f->s->sink, f->s->lints, p->span, part_text(f, p));
}

/* ---- totals and lints ----------------------------------------------------------------------------------------- */

/* The root's own figure, else the sum over the systems it uses, each as often as it is there. */
static double total(finisher *f, const dfl_system *sys, const char *name)
{
    double sum = number(f, &f->s->parts.at[0], name, 0, 0, NULL);

    if (attr_of(&f->s->parts.at[0], name) != NULL)
        return sum;
    for (size_t i = 1; i < f->s->parts.n; i++) {
        const dfl_sys_part *p = &f->s->parts.at[i];
        const dfl_sys_part *up = p;
        dfl_i128 n;

        if (p->kind != DFL_PART_ELEMENT || attr_of(p, name) == NULL)
            continue;
        /* what an enclosing element states for itself includes this one */
        do
            up = &f->s->parts.at[up->element];
        while (up->id != 0 && attr_of(up, name) == NULL);
        if (up->id == 0 && !dfl_element_instances(sys, p->id, &n))
            sum += dfl_i128_double(n) * number(f, p, name, 0, 0, NULL);
    }
    return sum;
}

static dfl_sym string_of(const finisher *f, const char *name)
{
    const dfl_sys_attr *a = attr_of(&f->s->parts.at[0], name);

    return a != NULL && a->values[0].kind == DFL_SYS_STRING ? a->values[0].word : 0;
}

static void lint_energy(finisher *f)
{
    for (size_t i = 0; f->any_energy && i < f->s->parts.n; i++) {
        const dfl_sys_part *p = &f->s->parts.at[i];
        bool memory = p->kind == DFL_PART_MEMORY, compute = p->kind == DFL_PART_COMPUTE;

        if (!dfl_sys_lints(f->s, p->span))
            continue;
        if ((memory && !f->memories[p->id].has_read_energy && !f->memories[p->id].has_write_energy) ||
            (compute && !f->computes[p->id].has_energy))
            dfl_lint_no_energy(f->s->sink, f->s->lints, p->span, part_text(f, p), memory);
    }
}

/* Whether the part comes from a system that this one uses, and is told of there. */
static bool is_used(const finisher *f, const dfl_sys_part *p)
{
    while (p != &f->s->parts.at[0] && !p->used_system)
        p = &f->s->parts.at[p->element];
    return p->used_system;
}

static void lint_networks(finisher *f)
{
    bool one_chip = true;

    for (size_t i = 0; i < f->s->parts.n; i++)
        one_chip &= !f->s->parts.at[i].used_system;
    for (size_t i = 0; i < f->s->parts.n; i++) {
        const dfl_sys_part *p = &f->s->parts.at[i];

        if (p->kind == DFL_PART_NETWORK && f->first_axis[p->id] == 0 && !is_used(f, p))
            dfl_sys_no_effect(f->s, p->span, part_text(f, p), 0, "no array is `over` this network");
        if (p->argument != NULL && one_chip)
            dfl_sys_no_effect(f->s, p->argument_span, p->argument, p->name,
                              "the shape of a network matters between chips");
    }
}

const dfl_system *dfl_sys_finish(dfl_sys *s, bool (*known_op)(void *context, dfl_sym op), void *context)
{
    finisher f = { .s = s, .known_op = known_op, .context = context };
    dfl_system *out = DFL_NEW(s->arena, dfl_system);
    static void (*const lower[])(finisher *f, const dfl_sys_part *p) = {
        [DFL_PART_ELEMENT] = lower_element, [DFL_PART_MEMORY] = lower_memory, [DFL_PART_COMPUTE] = lower_compute,
        [DFL_PART_NETWORK] = lower_network, [DFL_PART_AXIS] = lower_axis,
    };

    f.elements = DFL_NEW_ARRAY(s->arena, dfl_element, s->count[DFL_PART_ELEMENT]);
    f.memories = DFL_NEW_ARRAY(s->arena, dfl_memory, s->count[DFL_PART_MEMORY]);
    f.computes = DFL_NEW_ARRAY(s->arena, dfl_compute, s->count[DFL_PART_COMPUTE]);
    f.networks = DFL_NEW_ARRAY(s->arena, dfl_network, s->count[DFL_PART_NETWORK]);
    f.axes = DFL_NEW_ARRAY(s->arena, dfl_axis, s->count[DFL_PART_AXIS]);
    for (size_t i = 0; i < s->parts.n; i++)
        lower[s->parts.at[i].kind](&f, &s->parts.at[i]);
    list_axes(&f);
    for (size_t i = 0; i < s->parts.n; i++) {
        dfl_symmap axes;

        if (s->parts.at[i].kind != DFL_PART_NETWORK)
            continue;
        axes = axes_by_name(&f, s->parts.at[i].id);
        select_axes(&f, &s->parts.at[i], &axes, "multicast");
        select_axes(&f, &s->parts.at[i], &axes, "reduce");
        select_axes(&f, &s->parts.at[i], &axes, "forward");
    }
    *out = (dfl_system){ .name = s->name, .span = s->span,
                         .elements = f.elements, .n_elements = s->count[DFL_PART_ELEMENT],
                         .memories = f.memories, .n_memories = s->count[DFL_PART_MEMORY],
                         .computes = f.computes, .n_computes = s->count[DFL_PART_COMPUTE],
                         .networks = f.networks, .n_networks = s->count[DFL_PART_NETWORK],
                         .axes = f.axes, .n_axes = s->count[DFL_PART_AXIS],
                         .source = string_of(&f, "source"), .confidence = string_of(&f, "confidence") };
    if (s->broken || s->unsized)
        return NULL;
    out->tdp = total(&f, out, "tdp");
    out->area = total(&f, out, "area");
    out->price = total(&f, out, "price");
    lint_energy(&f);
    lint_networks(&f);
    return s->broken ? NULL : out;
}
