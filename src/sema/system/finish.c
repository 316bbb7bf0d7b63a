/* Lowering of a system: from parts with attributes to the tree of ir/system.h. */
#include "sema/system/system_internal.h"

#include <math.h>
#include <string.h>

#include "lint/system.h"
#include "sema/expr/data_type.h"
#include "support/limits.h"

typedef struct {
    dfl_system_draft *draft;
    bool (*is_op)(void *context, dfl_sym op); /* whether a symbol names an operation */
    void *context;                            /* first argument of `is_op` */
    dfl_element *elements;                    /* elements by id; the following arrays are by id, too */
    dfl_memory *memories;
    dfl_compute *computes;
    dfl_network *networks;
    dfl_axis *axes;
    bool any_energy;           /* some part has an energy */
    bool one_chip;             /* the system inserts no other system */
    bool bad_clock;            /* a clock has no value, which has been reported */
    uint32_t *first_axis;      /* [network]: index of its first axis, plus 1; 0 = no axis */
    uint32_t *next_axis;       /* [axis]: index of the next axis of its network, plus 1; 0 = none */
    uint32_t *same_name;       /* [axis]: index of the next axis of its network and name, plus 1; 0 = none */
} system_lowering;

/* The text of a symbol. */
static const char *text(const system_lowering *state, dfl_sym sym)
{
    return dfl_sym_text(state->draft->names, sym);
}

/* The name of a part in reports; for an element without a name, the name of the system. */
static const char *part_text(const system_lowering *state, const dfl_draft_part *part)
{
    return part->name != 0 ? text(state, part->name) : text(state, state->draft->name);
}

/* The quantity with cycles converted by `clock` (Hz; 0 = no clock in scope); 0 after reporting, and for values that are
   no quantity. */
static double convert_quantity(system_lowering *state, const dfl_attribute_value *value, double clock)
{
    int cycles = value->quantity.dim.power[DFL_BASE_CYCLE];
    double converted;

    if (value->kind != DFL_ATTRIBUTE_QUANTITY)
        return 0;
    /* The unit of a frequency is cycles per second, so no conversion applies to it. */
    if (cycles == 0 || (cycles == 1 && value->quantity.dim.power[DFL_BASE_TIME] == -1))
        return value->quantity.real;
    if (clock <= 0) {
        dfl_diag *d;

        if (state->bad_clock)
            return 0;
        d = dfl_report(state->draft->sink, DFL_UNIT_NO_CLOCK, value->span,
                "this is given in cycles, but no clock is in scope");
        dfl_diag_help(state->draft->sink, d, "give the system or an enclosing element a clock: `clock = 1GHz;`");
        state->draft->broken = true;
        return 0;
    }
    converted = cycles < 0 ? value->quantity.real * clock : value->quantity.real / clock;
    if (!isfinite(converted) || (converted == 0 && value->quantity.real != 0)) {
        dfl_report(state->draft->sink, DFL_UNIT_OVERFLOW, value->span, "value is out of range at this clock");
        state->draft->broken = true;
    }
    return converted;
}

/* The quantity of the attribute `name`; `otherwise` if the part does not state it. `given` may be NULL; else `*given`
   is set if the part states the attribute. */
static double lower_number(system_lowering *state, const dfl_draft_part *part, const char *name, double clock, double otherwise,
                           bool *given)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, name);

    if (given != NULL)
        *given = *given || attribute != NULL;
    return attribute != NULL ? convert_quantity(state, &attribute->values[0], clock) : otherwise;
}

/* The clock in the scope of a part, Hz; 0 = no clock. */
static double clock_of(const system_lowering *state, const dfl_draft_part *part)
{
    return state->elements[state->draft->parts.at[part->element].id].clock;
}

/* Lowers an element; the element inherits the clock of the enclosing element. */
static void lower_element(system_lowering *state, const dfl_draft_part *part)
{
    bool root = part->id == 0;
    uint32_t parent = root ? DFL_NONE : state->draft->parts.at[part->element].id;
    double inherited = root ? 0 : state->elements[parent].clock;

    state->elements[part->id] = (dfl_element){ .name = part->name, .span = part->span, .parent = parent, .side = part->side,
                                               .first_axis = part->first_axis, .n_axes = part->n_axes,
                                               .clock = lower_number(state, part, "clock", 0, inherited, NULL) };
    state->bad_clock |= state->elements[part->id].clock <= 0 && (part->silent || dfl_draft_find_attribute(part, "clock") != NULL);
}

/* Whether a word is the name of a role of tensors. */
static bool find_role(const char *word, unsigned *role)
{
    static const struct { const char *word; dfl_role role; } words[] = {
        { "input", DFL_ROLE_INPUT }, { "weight", DFL_ROLE_WEIGHT }, { "output", DFL_ROLE_OUTPUT },
        { "state", DFL_ROLE_STATE }, { "intermediate", DFL_ROLE_INTERMEDIATE },
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0) {
            *role = words[i].role;
            return true;
        }
    return false;
}

/* Adds a word to a selection of tensors: `all`, a role, or a name. A name is appended to the array `names`. */
static void add_word(const system_lowering *state, dfl_selection *sel, dfl_sym *names, dfl_sym word)
{
    unsigned role;

    sel->on = true;
    sel->names = names;
    if (strcmp(text(state, word), "all") == 0)
        sel->all = true;
    else if (find_role(text(state, word), &role))
        sel->roles |= 1u << role;
    else
        names[sel->n_names++] = word;
}

/* The tensors that the attribute `name` selects. */
static dfl_selection lower_selection(system_lowering *state, const dfl_draft_part *part, const char *name)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, name);
    uint32_t n = attribute != NULL ? attribute->n_values : 0;
    dfl_sym *names = attribute != NULL ? DFL_NEW_ARRAY(state->draft->arena, dfl_sym, n) : NULL;
    dfl_span *spans = attribute != NULL ? DFL_NEW_ARRAY(state->draft->arena, dfl_span, n) : NULL;
    dfl_selection sel = { .spans = spans };

    for (uint32_t i = 0; i < n; i++)
        if (attribute->values[i].kind == DFL_ATTRIBUTE_WORD) {
            spans[sel.n_names] = attribute->values[i].span; /* overwritten by the next word unless this one is a name */
            add_word(state, &sel, names, attribute->values[i].word);
        }
    return sel;
}

/* The size of a memory in bits; -1 = unlimited, 0 after reporting. `*span` is set to the place for reports. */
static int64_t lower_size(system_lowering *state, const dfl_draft_part *part, dfl_span *span)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, "size");
    const dfl_attribute_value *value = attribute != NULL ? &attribute->values[0] : NULL;

    *span = part->span;
    state->draft->broken |= value == NULL;
    if (value == NULL) {
        if (!part->silent && !state->draft->lenient) {
            dfl_diag *d = dfl_report(state->draft->sink, DFL_SYS_ATTRIBUTE_MISSING, part->span, "memory `%s` has no size",
                                     part_text(state, part));

            dfl_diag_help(state->draft->sink, d, "write `size = 64KiB;`, or `size = unlimited;` if that is meant");
            state->draft->broken = true;
        }
        return 0;
    }
    *span = value->span;
    if (part->silent)
        return 0;
    if (value->kind == DFL_ATTRIBUTE_WORD)
        return -1;
    if (value->kind != DFL_ATTRIBUTE_QUANTITY)
        return 0;
    if (!value->quantity.exact || value->quantity.integer > INT64_MAX) {
        dfl_diag *d = dfl_report(state->draft->sink, DFL_UNIT_OVERFLOW, value->span,
                                 "size of `%s` is not a whole number of bits below 2^63", part_text(state, part));

        dfl_diag_help(state->draft->sink, d, value->quantity.real < 0x1p62 ? "round it with `floor` or `ceil`"
                                                               : "write `size = unlimited;` if it never fills");
        state->draft->broken = true;
        return 0;
    }
    return (int64_t)value->quantity.integer;
}

/* Raises the lint attribute-no-effect about `what`, in a part or (0) in the system itself, with the reason `why`. */
static void lint_no_effect(dfl_system_draft *draft, dfl_span at, const char *what, dfl_sym part, const char *why)
{
    if (dfl_system_draft_lints(draft, at))
        dfl_lint_attribute_no_effect(draft->sink, draft->lints, at, what,
                                     dfl_sym_text(draft->names, part != 0 ? part : draft->name), why);
}

/* Raises the lint attribute-no-effect about an attribute; does nothing for NULL, an attribute that is not stated. */
static void lint_attribute(system_lowering *state, const dfl_draft_attribute *attribute, const dfl_draft_part *part,
                           const char *why)
{
    if (attribute != NULL)
        lint_no_effect(state->draft, attribute->span, dfl_attribute_at(attribute->row)->name, part->name, why);
}

/* The data rates of a memory, bit/s, and whether reads and writes share a port. */
static void lower_bandwidths(system_lowering *state, const dfl_draft_part *part, dfl_memory *memory, double clock)
{
    bool read = false, write = false;
    double both = lower_number(state, part, "bandwidth", clock, INFINITY, NULL);
    const dfl_draft_attribute *plain = dfl_draft_find_attribute(part, "bandwidth");
    const dfl_draft_attribute *shared = dfl_draft_find_attribute(part, "ports");

    memory->read_rate = lower_number(state, part, "read.bandwidth", clock, both, &read);
    memory->write_rate = lower_number(state, part, "write.bandwidth", clock, both, &write);
    memory->one_port = shared != NULL || !(read || write);
    if (read && write)
        lint_attribute(state, plain, part, "`read` and `write` have bandwidths of their own");
    if (!(read || write))
        lint_attribute(state, shared, part, "reads and writes share one port unless `read` and `write` have bandwidths");
}

/* Copies every number whose row in the vocabulary names a member of the IR part. `target`: the dfl_memory, dfl_compute
   or dfl_network. */
static void lower_members(system_lowering *state, const dfl_draft_part *part, void *target, double clock)
{
    const dfl_attribute_row *row;

    for (int i = 0; (row = dfl_attribute_at(i)) != NULL; i++) {
        double value;

        if (row->member[part->kind] == 0)
            continue;
        value = lower_number(state, part, row->name, clock, 0, NULL);
        memcpy((char *)target + row->member[part->kind] - 1, &value, sizeof value);
    }
}

/* The efficiency of a memory or network; NULL if the part states none. */
static const dfl_efficiency *lower_efficiency(const dfl_draft_part *part)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, "efficiency");

    return attribute != NULL ? attribute->values[0].efficiency : NULL;
}

/* The bits of an access; 0 if the memory states none. */
static int64_t lower_access(system_lowering *state, const dfl_draft_part *part)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, "access");
    const dfl_attribute_value *value = attribute != NULL ? &attribute->values[0] : NULL;

    if (value == NULL || value->kind != DFL_ATTRIBUTE_QUANTITY || part->silent)
        return 0;
    if (!value->quantity.exact || value->quantity.integer > DFL_SEMA_MAX_COUNT) {
        dfl_diag *d = dfl_report(state->draft->sink, DFL_UNIT_OVERFLOW, value->span,
                                 "access of `%s` is not a whole number of bits below 2^31", part_text(state, part));

        dfl_diag_help(state->draft->sink, d, "write the width of a row, as in `access = 64bit;`");
        state->draft->broken = true;
        return 0;
    }
    return (int64_t)value->quantity.integer;
}

/* Lowers a memory. */
static void lower_memory(system_lowering *state, const dfl_draft_part *part)
{
    dfl_memory *memory = &state->memories[part->id];
    double clock = clock_of(state, part), both = lower_number(state, part, "energy", clock, 0, NULL);
    bool plain = dfl_draft_find_attribute(part, "energy") != NULL;
    const dfl_draft_attribute *buffers = dfl_draft_find_attribute(part, "buffers");

    memory->name = part->name;
    memory->span = part->span;
    memory->element = state->draft->parts.at[part->element].id;
    memory->size_bits = lower_size(state, part, &memory->size_span);
    lower_bandwidths(state, part, memory, clock);
    memory->has_read_energy = memory->has_write_energy = plain;
    memory->read_energy = lower_number(state, part, "read.energy", clock, both, &memory->has_read_energy);
    memory->write_energy = lower_number(state, part, "write.energy", clock, both, &memory->has_write_energy);
    memory->drain_energy = lower_number(state, part, "drain.energy", clock, 0, &memory->has_drain_energy);
    lower_members(state, part, memory, clock);
    memory->buffers = 1;
    if (buffers != NULL && buffers->values[0].kind == DFL_ATTRIBUTE_QUANTITY)
        memory->buffers = (int64_t)buffers->values[0].quantity.integer;
    memory->access_bits = lower_access(state, part);
    memory->free_drains = dfl_draft_find_attribute(part, "drain.bandwidth") != NULL;
    memory->stream = dfl_draft_find_attribute(part, "overlap") != NULL;
    memory->efficiency = lower_efficiency(part);
    memory->holds = lower_selection(state, part, "holds");
    state->any_energy |= dfl_memory_has_energy(memory);
    if (plain && dfl_draft_find_attribute(part, "read.energy") != NULL && dfl_draft_find_attribute(part, "write.energy") != NULL)
        lint_attribute(state, dfl_draft_find_attribute(part, "energy"), part, "`read` and `write` have energies of their own");
}

/* Whether a word is `mac`, `flop` or an operation. */
static bool names_op(system_lowering *state, dfl_sym word)
{
    const char *t = text(state, word);

    return strcmp(t, "mac") == 0 || strcmp(t, "flop") == 0 || state->is_op(state->context, word);
}

/* Reports a name of an attribute, `i9` of `rate { i9 = ...; }`, that is neither an operation nor a data type; `types_only`: the
   attribute knows no operations. */
static void report_unknown_key(system_lowering *state, dfl_sym word, dfl_span span, bool types_only)
{
    const char *near = dfl_data_type_suggest(state->draft->new_names, text(state, word));
    dfl_diag *d = dfl_report(state->draft->sink, DFL_OP_UNKNOWN, span, types_only ? "no data type `%s`"
                                                                                  : "no operation or data type `%s`",
                             text(state, word));

    state->draft->broken = true;
    if (near != NULL && strchr(near, '(') == NULL)
        dfl_diag_help(state->draft->sink, d, "did you mean `%s`?", near);
    else
        dfl_diag_help(state->draft->sink, d, types_only ? "data types are i4 i8 i16 i32 u8 fp8 fp16 bf16 tf32 fp32 fp64 c64 c128"
                                                        : "`mac`, `flop`, a data type, or an operation of std.ops");
}

/* Reports a word of `ops` that is no operation. */
static void report_unknown_op(system_lowering *state, dfl_sym word, dfl_span span)
{
    dfl_diag *d = dfl_report(state->draft->sink, DFL_OP_UNKNOWN, span, "no operation `%s`", text(state, word));
    const char *type = dfl_data_type_suggest(state->draft->new_names, text(state, word));

    state->draft->broken = true;
    if (dfl_data_type_bits(text(state, word)) > 0)
        type = text(state, word);
    if (type != NULL && strchr(type, '(') == NULL)
        dfl_diag_help(state->draft->sink, d, "`ops` lists operations; a rate for a data type is `rate { %s = 1MAC/cycle; }`",
                      type);
    else
        dfl_diag_help(state->draft->sink, d, "`ops` lists `mac`, `flop` and operations of std.ops");
}

/* Sets the operation and the data type that the free names of an attribute like `rate.mac.bf16` state. */
static void lower_keys(system_lowering *state, const dfl_draft_attribute *attribute, dfl_sym *op, dfl_sym *type)
{
    for (int k = 0; k < 2 && attribute->keys[k] != 0; k++) {
        if (dfl_data_type_bits(text(state, attribute->keys[k])) > 0)
            *type = attribute->keys[k];
        else if (names_op(state, attribute->keys[k]))
            *op = attribute->keys[k];
        else
            report_unknown_key(state, attribute->keys[k], attribute->span, false);
    }
}

/* The efficiencies of a compute unit, which have the forms of its rates. */
static void lower_efficiencies(system_lowering *state, const dfl_draft_part *part, dfl_compute *compute)
{
    dfl_efficiency *out = DFL_NEW_ARRAY(state->draft->arena, dfl_efficiency, part->attrs.n + 1);

    for (size_t i = 0; i < part->attrs.n; i++) {
        const dfl_draft_attribute *attribute = &part->attrs.at[i];

        if (strncmp(attribute->name, "efficiency", 10) != 0 || attribute->n_values == 0 ||
            attribute->values[0].efficiency == NULL)
            continue;
        out[compute->n_efficiencies] = *attribute->values[0].efficiency;
        lower_keys(state, attribute, &out[compute->n_efficiencies].op, &out[compute->n_efficiencies].type);
        if (dfl_efficiency_is_grid(&out[compute->n_efficiencies]) && out[compute->n_efficiencies].op == 0)
            out[compute->n_efficiencies].op = dfl_intern_z(state->draft->new_names, "mac");
        compute->n_efficiencies++;
    }
    compute->efficiencies = out;
}

/* The rates of a compute unit: `rate = R`, `rate { bf16 = R; mac = R; mac { bf16 = R; } }`. A rate of `mac` is in
   MAC/s, half the FLOP/s; all other rates are in FLOP/s. */
static void lower_rates(system_lowering *state, const dfl_draft_part *part, dfl_compute *compute, double clock)
{
    dfl_rate *rates = DFL_NEW_ARRAY(state->draft->arena, dfl_rate, part->attrs.n + 1);

    for (size_t i = 0; i < part->attrs.n; i++) {
        const dfl_draft_attribute *attribute = &part->attrs.at[i];
        dfl_rate *r = &rates[compute->n_rates];

        if (strncmp(dfl_attribute_at(attribute->row)->name, "rate", 4) != 0 || attribute->n_values == 0)
            continue;
        lower_keys(state, attribute, &r->op, &r->type);
        r->rate = convert_quantity(state, &attribute->values[0], clock);
        if (r->op != 0 && strcmp(text(state, r->op), "mac") == 0)
            r->rate /= 2;
        compute->n_rates++;
    }
    compute->rates = rates;
}

/* The energies by data type of a compute unit: `energy { bf16 = 0.6pJ/MAC; }`. */
static void lower_type_energies(system_lowering *state, const dfl_draft_part *part, dfl_compute *compute, double clock)
{
    dfl_type_energy *energies = DFL_NEW_ARRAY(state->draft->arena, dfl_type_energy, part->attrs.n + 1);

    for (size_t i = 0; i < part->attrs.n; i++) {
        const dfl_draft_attribute *attribute = &part->attrs.at[i];

        if (strcmp(attribute->name, "energy.*") != 0 || attribute->n_values == 0)
            continue;
        if (dfl_data_type_bits(text(state, attribute->keys[0])) == 0) {
            report_unknown_key(state, attribute->keys[0], attribute->span, true);
            continue;
        }
        energies[compute->n_type_energies++] = (dfl_type_energy){
            .type = attribute->keys[0], .joules = convert_quantity(state, &attribute->values[0], clock)
        };
    }
    compute->type_energies = energies;
    compute->has_energy |= compute->n_type_energies > 0;
}

/* The value of an attribute that is a count; `usual` if it is absent. */
static int64_t lower_count(const dfl_draft_part *part, const char *name, int64_t usual)
{
    const dfl_draft_attribute *count = dfl_draft_find_attribute(part, name);

    return count != NULL && count->values[0].kind == DFL_ATTRIBUTE_QUANTITY ? (int64_t)count->values[0].quantity.integer : usual;
}

/* The equal units of a compute unit, and the lanes and rows of each. */
static void lower_units(system_lowering *state, const dfl_draft_part *part, dfl_compute *compute)
{
    static const char *const shape[] = { "lanes", "rows" };

    compute->units = lower_count(part, "units", 0);
    compute->lanes = lower_count(part, "lanes", 1);
    compute->rows = lower_count(part, "rows", 1);
    for (size_t i = 0; i < 2 && compute->units == 0; i++)
        if (dfl_draft_find_attribute(part, shape[i]) != NULL)
            lint_attribute(state, dfl_draft_find_attribute(part, shape[i]), part, "it describes each of several `units`");
}

/* Lowers a compute unit. */
static void lower_compute(system_lowering *state, const dfl_draft_part *part)
{
    dfl_compute *compute = &state->computes[part->id];
    double clock = clock_of(state, part), per_op = lower_number(state, part, "energy", clock, 0, &compute->has_energy);
    const dfl_draft_attribute *ops = dfl_draft_find_attribute(part, "ops");

    compute->name = part->name;
    compute->span = part->span;
    compute->element = state->draft->parts.at[part->element].id;
    compute->after_memory = part->after_memory;
    lower_rates(state, part, compute, clock);
    lower_efficiencies(state, part, compute);
    /* Energies are per FLOP; a MAC is two FLOPs. */
    compute->mac_energy = 2 * lower_number(state, part, "energy.mac", clock, per_op, &compute->has_energy);
    compute->flop_energy = lower_number(state, part, "energy.flop", clock, per_op, &compute->has_energy);
    lower_type_energies(state, part, compute, clock);
    lower_members(state, part, compute, clock);
    lower_units(state, part, compute);
    compute->operand_reuse = lower_selection(state, part, "operand_reuse");
    state->any_energy |= compute->has_energy;
    if (compute->n_rates == 0)
        state->draft->broken = true;
    if (compute->n_rates == 0 && !part->silent && !state->draft->lenient) {
        dfl_diag *d = dfl_report(state->draft->sink, DFL_SYS_ATTRIBUTE_MISSING, part->span, "compute unit `%s` has no rate",
                                 part_text(state, part));

        dfl_diag_help(state->draft->sink, d, "write `rate = 1MAC/cycle;`");
        state->draft->broken = true;
    }
    if (ops == NULL)
        return;
    dfl_sym *names = DFL_NEW_ARRAY(state->draft->arena, dfl_sym, ops->n_values);
    for (uint32_t i = 0; i < ops->n_values; i++) {
        if (ops->values[i].kind != DFL_ATTRIBUTE_WORD)
            continue;
        if (!names_op(state, ops->values[i].word))
            report_unknown_op(state, ops->values[i].word, ops->values[i].span);
        names[compute->n_ops++] = ops->values[i].word;
    }
    compute->ops = names;
}

/* The last component of a dotted name: `row` of `gpu.row`. */
static dfl_sym last_component(const system_lowering *state, dfl_sym name)
{
    const char *dot = strrchr(text(state, name), '.');

    return dot == NULL ? name : dfl_intern_z(state->draft->new_names, dot + 1);
}

/* Makes a list of the axes over each network. */
static void link_axes(system_lowering *state)
{
    state->first_axis = DFL_NEW_ARRAY(state->draft->arena, uint32_t, state->draft->count[DFL_PART_NETWORK]);
    state->next_axis = DFL_NEW_ARRAY(state->draft->arena, uint32_t, state->draft->count[DFL_PART_AXIS]);
    state->same_name = DFL_NEW_ARRAY(state->draft->arena, uint32_t, state->draft->count[DFL_PART_AXIS]);
    for (uint32_t x = state->draft->count[DFL_PART_AXIS]; x-- > 0;)
        if (state->axes[x].network != DFL_NONE) {
            state->next_axis[x] = state->first_axis[state->axes[x].network];
            state->first_axis[state->axes[x].network] = x + 1;
        }
}

/* Makes a table of the axes over a network, by the last component of the name and by the full name. Links axes with
   equal names. */
static dfl_symmap table_axes(system_lowering *state, uint32_t network)
{
    dfl_symmap map = { 0 };

    for (uint32_t x = state->first_axis[network]; x != 0; x = state->next_axis[x - 1]) {
        dfl_axis *axis = &state->axes[x - 1];
        dfl_sym last = last_component(state, axis->name);
        const dfl_axis *same = dfl_symmap_get(&map, last);

        state->same_name[x - 1] = same != NULL ? (uint32_t)(same - state->axes) + 1 : 0;
        dfl_symmap_put(state->draft->arena, &map, last, axis);
    }
    for (uint32_t x = state->first_axis[network]; x != 0; x = state->next_axis[x - 1])
        if (last_component(state, state->axes[x - 1].name) != state->axes[x - 1].name)
            dfl_symmap_put(state->draft->arena, &map, state->axes[x - 1].name, &state->axes[x - 1]);
    return map;
}

/* Reports a name that is no axis over the network. */
static void report_no_axis(system_lowering *state, const dfl_draft_part *network, const dfl_attribute_value *value)
{
    DFL_VEC(dfl_sym) names = { 0 };
    dfl_diag *d;
    dfl_sym near;

    if (state->draft->broken && state->first_axis[network->id] == 0) /* the name of a network behind `over` is wrong */
        return;
    d = dfl_report(state->draft->sink, DFL_NAME_UNKNOWN, value->span, "no axis `%s` over network `%s`", text(state, value->word),
                   part_text(state, network));
    state->draft->broken = true;
    if (dfl_sink_drops(state->draft->sink))
        return;
    dfl_diag_label(state->draft->sink, d, network->span, "an array uses it if it is declared with `over %s`",
                   part_text(state, network));
    for (uint32_t x = state->first_axis[network->id]; x != 0; x = state->next_axis[x - 1])
        DFL_PUSH(state->draft->arena, &names, last_component(state, state->axes[x - 1].name));
    near = dfl_suggest(state->draft->names, text(state, value->word), names.at, names.n);
    if (near != 0 && value->n_args == 0)
        dfl_diag_fix(state->draft->sink, d, value->span, text(state, near), DFL_FIX_MAYBE);
    else if (near != 0)
        dfl_diag_help(state->draft->sink, d, "did you mean `%s`?", text(state, near));
    else if (names.n == 0)
        dfl_diag_help(state->draft->sink, d, "write `over %s` behind the axes of the array with `%s`",
                      part_text(state, network), text(state, value->word));
    else if (names.n == 1)
        dfl_diag_help(state->draft->sink, d, "the axis over it is `%s`", text(state, names.at[0]));
    else if (names.n > 1)
        dfl_diag_help(state->draft->sink, d, "the axes over it are `%s` and `%s`%s", text(state, names.at[0]),
                      text(state, names.at[1]), names.n > 2 ? " and others" : "");
}

/* Lowers `multicast = row(weight), col`: sets the selection of tensors of each named axis over the network. */
static void lower_axis_selections(system_lowering *state, const dfl_draft_part *network, const dfl_symmap *axes, const char *name)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(network, name);

    for (uint32_t i = 0; attribute != NULL && i < attribute->n_values; i++) {
        const dfl_attribute_value *value = &attribute->values[i];
        dfl_axis *first = value->kind == DFL_ATTRIBUTE_WORD ? dfl_symmap_get(axes, value->word) : NULL, *axis = first;

        while (axis != NULL) {
            dfl_selection sel = { .on = true, .all = value->n_args == 0 };
            uint32_t same = axis->name == value->word && strchr(text(state, value->word), '.') != NULL ? 0
                                                                                         : state->same_name[axis - state->axes];
            dfl_sym *names = DFL_NEW_ARRAY(state->draft->arena, dfl_sym, value->n_args);

            for (uint32_t k = 0; k < value->n_args; k++)
                add_word(state, &sel, names, value->args[k]);
            if (name[0] == 'm')
                axis->multicast = sel;
            else if (name[0] == 'r')
                axis->reduce = sel;
            else
                axis->forward = true;
            axis = same != 0 ? &state->axes[same - 1] : NULL;
        }
        if (first == NULL && value->kind == DFL_ATTRIBUTE_WORD)
            report_no_axis(state, network, value);
    }
}

/* Whether the element `inner` is `outer` or lies inside of `outer`. */
static bool element_within(const system_lowering *state, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != DFL_NONE)
        inner = state->elements[inner].parent;
    return inner == outer;
}

/* Whether instances of an axis lie in one instance of an array over the network, so that each may have its own port: the
   innermost axis of such an array, or an axis inside the array. */
static bool may_have_ports(const system_lowering *state, const dfl_axis *axis, uint32_t network)
{
    for (uint32_t x = state->first_axis[network]; x != 0; x = state->next_axis[x - 1]) {
        uint32_t array = state->axes[x - 1].element;
        const dfl_element *body = &state->elements[array];

        if (element_within(state, axis->element, array) &&
            (axis->element != array || axis == &state->axes[body->first_axis + body->n_axes - 1]))
            return true;
    }
    return false;
}

/* Lowers `port = gpu`: the axis each of whose instances has a port of the network. */
static void lower_port(system_lowering *state, const dfl_draft_part *part)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, "port");
    const dfl_attribute_value *value = attribute != NULL ? &attribute->values[0] : NULL;
    dfl_network *network = &state->networks[part->id];
    const char *word = value != NULL && value->kind == DFL_ATTRIBUTE_WORD && value->n_args == 0 ?
                       text(state, value->word) : NULL;
    const dfl_axis *found = NULL, *other = NULL, *outside = NULL;
    dfl_diag *d;

    network->port = DFL_NONE;
    if (word == NULL)
        return;
    for (uint32_t x = 0; x < state->draft->count[DFL_PART_AXIS]; x++) {
        const dfl_axis *axis = &state->axes[x];
        const char *full = text(state, axis->name);
        size_t length = strlen(full), tail = strlen(word);

        if (length < tail || strcmp(full + length - tail, word) != 0 || (length > tail && full[length - tail - 1] != '.'))
            continue;
        if (!may_have_ports(state, axis, part->id)) {
            outside = axis;
            continue;
        }
        other = found;
        found = axis;
    }
    if (found != NULL && other == NULL) {
        network->port = (uint32_t)(found - state->axes);
        return;
    }
    state->draft->broken = true;
    if (found != NULL) {
        d = dfl_report(state->draft->sink, DFL_NAME_AMBIGUOUS, value->span, "`%s` is ambiguous", word);
        dfl_diag_label(state->draft->sink, d, other->span, "`%s`", text(state, other->name));
        dfl_diag_label(state->draft->sink, d, found->span, "`%s`", text(state, found->name));
        return;
    }
    d = dfl_report(state->draft->sink, DFL_NAME_UNKNOWN, value->span, "no axis `%s` for the ports of network `%s`", word,
                   part_text(state, part));
    if (outside != NULL)
        dfl_diag_label(state->draft->sink, d, outside->span, "this axis is not inside of an instance of the array");
    dfl_diag_help(state->draft->sink, d, "name the innermost axis of the array over `%s`, or an axis inside the array",
                  part_text(state, part));
}

/* Lowers a network, without its port and the selections of its axes. */
static void lower_network(system_lowering *state, const dfl_draft_part *part)
{
    dfl_network *network = &state->networks[part->id];
    double clock = clock_of(state, part);

    network->name = part->name;
    network->kind = part->network_kind;
    network->span = part->span;
    network->element = state->draft->parts.at[part->element].id;
    network->bandwidth = lower_number(state, part, "bandwidth", clock, INFINITY, NULL);
    network->topology = part->topology;
    lower_members(state, part, network, clock);
    network->energy = lower_number(state, part, "energy", clock, 0, &network->has_energy);
    network->efficiency = lower_efficiency(part);
}

/* The names of all axes of an array, as in a list of the language: `row, col`. */
static const char *list_axes(const system_lowering *state, uint32_t element)
{
    const char *text = "";

    for (size_t i = 0; i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];

        if (part->kind == DFL_PART_AXIS && part->multiplies == element)
            text = dfl_arena_printf(state->draft->arena, "%s%s%s", text, text[0] != '\0' ? ", " : "", part_text(state, part));
    }
    return text;
}

/* Lowers an axis, without its selections. */
static void lower_axis(system_lowering *state, const dfl_draft_part *part)
{
    dfl_axis *a = &state->axes[part->id];

    a->name = part->name;
    a->span = part->span;
    a->size = part->size;
    a->element = state->draft->parts.at[part->multiplies].id;
    a->network = part->network == DFL_NONE ? DFL_NONE : state->draft->parts.at[part->network].id;
    if (part->network == DFL_NONE && !part->silent && part->size > 1 && dfl_system_draft_lints(state->draft, part->span))
        dfl_lint_array_without_network(state->draft->sink, state->draft->lints, part->span, part_text(state, part),
                                       list_axes(state, part->multiplies));
}

/* The area, power or price that the root states, else the sum over the outermost elements that state one, times their
   instances. */
static double sum_figure(system_lowering *state, const dfl_system *sys, const char *name)
{
    double sum = lower_number(state, &state->draft->parts.at[0], name, 0, 0, NULL);

    if (dfl_draft_find_attribute(&state->draft->parts.at[0], name) != NULL)
        return sum;
    for (size_t i = 1; i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];
        const dfl_draft_part *up = part;
        dfl_i128 n;

        if (part->kind != DFL_PART_ELEMENT || dfl_draft_find_attribute(part, name) == NULL)
            continue;
        /* The number of an enclosing element includes that of its inner elements. */
        do
            up = &state->draft->parts.at[up->element];
        while (up->id != 0 && dfl_draft_find_attribute(up, name) == NULL);
        if (up->id == 0 && !dfl_element_instances(sys, part->id, &n))
            sum += dfl_i128_double(n) * lower_number(state, part, name, 0, 0, NULL);
    }
    return sum;
}

/* The string of an attribute of the root; 0 = not stated. */
static dfl_sym lower_string(const system_lowering *state, const char *name)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(&state->draft->parts.at[0], name);

    return attribute != NULL && attribute->values[0].kind == DFL_ATTRIBUTE_STRING ? attribute->values[0].word : 0;
}

/* Raises the lint no-energy: a memory or compute unit has no energy although another part has one. */
static void lint_energy(system_lowering *state)
{
    for (size_t i = 0; state->any_energy && i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];
        bool memory = part->kind == DFL_PART_MEMORY, compute = part->kind == DFL_PART_COMPUTE;

        if (!dfl_system_draft_lints(state->draft, part->span))
            continue;
        if ((memory && !dfl_memory_has_energy(&state->memories[part->id])) ||
            (compute && !state->computes[part->id].has_energy))
            dfl_lint_no_energy(state->draft->sink, state->draft->lints, part->span, part_text(state, part), memory);
    }
}

/* Whether a part comes from a used system, whose own elaboration raises the lints about the part. */
static bool is_from_used_system(const system_lowering *state, const dfl_draft_part *part)
{
    while (part != &state->draft->parts.at[0] && !part->used_system)
        part = &state->draft->parts.at[part->element];
    return part->used_system;
}

/* Whether a network may join chips: it has a shape, and the system inserts others, or no memory lies outside of the arrays
   over the network. */
static bool may_join_chips(const system_lowering *state, const dfl_draft_part *part)
{
    if (part->topology.kind == DFL_TOPOLOGY_NONE || !state->one_chip)
        return part->topology.kind != DFL_TOPOLOGY_NONE;
    for (uint32_t i = 0; i < state->draft->count[DFL_PART_MEMORY]; i++) {
        uint32_t outer = state->draft->parts.at[part->element].id;

        while (outer != DFL_NONE && outer != state->memories[i].element)
            outer = state->elements[outer].parent;
        if (outer != DFL_NONE)
            return false;
    }
    return true;
}

/* Raises the lint attribute-no-effect about networks without axes. */
static void lint_networks(system_lowering *state)
{
    for (size_t i = 0; i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];

        if (part->kind == DFL_PART_NETWORK && state->first_axis[part->id] == 0 && !is_from_used_system(state, part))
            lint_no_effect(state->draft, part->span, part_text(state, part), 0, "no array is `over` this network");
    }
}

/* Raises the lint attribute-no-effect about networks on one chip that state what matters only between chips. */
static void lint_shapes(system_lowering *state)
{
    for (size_t i = 0; i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];

        if (part->kind != DFL_PART_NETWORK || may_join_chips(state, part))
            continue;
        if (part->argument != NULL)
            lint_no_effect(state->draft, part->argument_spans[0], part->argument, part->name,
                           "the shape of a network matters between chips");
        for (size_t k = 0; k < part->attrs.n; k++) {
            const char *why = dfl_attribute_at(part->attrs.at[k].row)->no_effect;

            if (why != NULL && part->attrs.at[k].n_values > 0)
                lint_attribute(state, &part->attrs.at[k], part, why);
        }
    }
}

/* The number of ports of a network in one of its instances: one per instance of the arrays over the network, or one per
   instance of the axis `port` inside; 0 = no array is over the network, or too many to count. */
static int64_t count_ports(const system_lowering *state, uint32_t network)
{
    const dfl_axis *port = state->networks[network].port != DFL_NONE ? &state->axes[state->networks[network].port] : NULL;
    int64_t ports = 0;

    for (uint32_t x = state->first_axis[network]; x != 0; x = state->next_axis[x - 1]) {
        const dfl_axis *axis = &state->axes[x - 1];
        int64_t n = 1;

        if (state->elements[axis->element].first_axis != x - 1)
            continue;
        for (uint32_t y = 0; y < state->draft->count[DFL_PART_AXIS]; y++) {
            const dfl_axis *other = &state->axes[y];
            bool inside = port != NULL && y <= state->networks[network].port && other->element != axis->element &&
                          element_within(state, port->element, other->element) &&
                          element_within(state, other->element, axis->element);
            if ((other->element == axis->element || inside) && __builtin_mul_overflow(n, other->size, &n))
                return 0;
        }
        if (__builtin_add_overflow(ports, n, &ports))
            return 0;
    }
    return ports;
}

/* Whether an element around a part, or the system, states an attribute. */
static bool is_stated_around(const system_lowering *state, const dfl_draft_part *part, const char *name)
{
    do {
        part = &state->draft->parts.at[part->element];
        if (dfl_draft_find_attribute(part, name) != NULL)
            return true;
    } while (part->id != 0);
    return false;
}

/* Number of cables of one instance of a network. */
static double count_cables(const system_lowering *state, uint32_t network, int64_t ports)
{
    const dfl_topology *t = &state->networks[network].topology;
    int64_t *sides = DFL_NEW_ARRAY(state->draft->arena, int64_t, (size_t)state->draft->count[DFL_PART_AXIS] + 1);
    uint32_t n = 0;

    for (uint32_t x = state->first_axis[network]; x != 0; x = state->next_axis[x - 1])
        sides[n++] = state->axes[x - 1].size;
    return dfl_topology_cables(t, ports, sides, n);
}

/* Adds the ports, the cables, the prices and the powers of all networks. What an element states contains its networks. */
static void sum_networks(const system_lowering *state, dfl_system *out)
{
    out->whole_price = out->price;
    out->whole_power = out->tdp;
    for (size_t i = 0; i < state->draft->parts.n; i++) {
        const dfl_draft_part *part = &state->draft->parts.at[i];
        const dfl_topology *t = part->kind == DFL_PART_NETWORK ? &state->networks[part->id].topology : NULL;
        double ports, cables, each;
        dfl_i128 n;

        if (t == NULL || t->kind == DFL_TOPOLOGY_NONE ||
            dfl_element_instances(out, state->draft->parts.at[part->element].id, &n))
            continue;
        each = dfl_i128_double(n);
        ports = (double)count_ports(state, part->id);
        cables = ports > 0 ? count_cables(state, part->id, count_ports(state, part->id)) : 0;
        if (may_join_chips(state, part)) {
            out->ports += each * ports;
            out->cables += each * cables;
        }
        if (!is_stated_around(state, part, "price"))
            out->whole_price += each * (ports * t->price + cables * t->link_price);
        if (!is_stated_around(state, part, "tdp"))
            out->whole_power += each * (ports * t->power + cables * t->link_power);
    }
}

const dfl_system *dfl_system_finish(dfl_system_draft *draft, bool (*is_op)(void *context, dfl_sym op), void *context)
{
    system_lowering state = { .draft = draft, .is_op = is_op, .context = context };
    dfl_system *out = DFL_NEW(draft->arena, dfl_system);
    static void (*const lower[])(system_lowering *state, const dfl_draft_part *part) = {
        [DFL_PART_ELEMENT] = lower_element, [DFL_PART_MEMORY] = lower_memory, [DFL_PART_COMPUTE] = lower_compute,
        [DFL_PART_NETWORK] = lower_network, [DFL_PART_AXIS] = lower_axis,
    };

    state.one_chip = true;
    for (size_t i = 0; i < draft->parts.n; i++)
        state.one_chip &= !draft->parts.at[i].used_system;
    state.elements = DFL_NEW_ARRAY(draft->arena, dfl_element, draft->count[DFL_PART_ELEMENT]);
    state.memories = DFL_NEW_ARRAY(draft->arena, dfl_memory, draft->count[DFL_PART_MEMORY]);
    state.computes = DFL_NEW_ARRAY(draft->arena, dfl_compute, draft->count[DFL_PART_COMPUTE]);
    state.networks = DFL_NEW_ARRAY(draft->arena, dfl_network, draft->count[DFL_PART_NETWORK]);
    state.axes = DFL_NEW_ARRAY(draft->arena, dfl_axis, draft->count[DFL_PART_AXIS]);
    for (size_t i = 0; i < draft->parts.n; i++)
        lower[draft->parts.at[i].kind](&state, &draft->parts.at[i]);
    link_axes(&state);
    for (size_t i = 0; i < draft->parts.n; i++) {
        dfl_symmap axes;

        if (draft->parts.at[i].kind != DFL_PART_NETWORK)
            continue;
        axes = table_axes(&state, draft->parts.at[i].id);
        lower_axis_selections(&state, &draft->parts.at[i], &axes, "multicast");
        lower_axis_selections(&state, &draft->parts.at[i], &axes, "reduce");
        lower_axis_selections(&state, &draft->parts.at[i], &axes, "forward");
        lower_port(&state, &draft->parts.at[i]);
        dfl_system_finish_topology(draft, &draft->parts.at[i], count_ports(&state, draft->parts.at[i].id),
                                   &state.networks[draft->parts.at[i].id].topology);
    }
    *out = (dfl_system){ .name = draft->name, .span = draft->span,
                         .elements = state.elements, .n_elements = draft->count[DFL_PART_ELEMENT],
                         .memories = state.memories, .n_memories = draft->count[DFL_PART_MEMORY],
                         .computes = state.computes, .n_computes = draft->count[DFL_PART_COMPUTE],
                         .networks = state.networks, .n_networks = draft->count[DFL_PART_NETWORK],
                         .axes = state.axes, .n_axes = draft->count[DFL_PART_AXIS],
                         .source = lower_string(&state, "source"), .confidence = lower_string(&state, "confidence") };
    lint_shapes(&state);
    if (draft->broken || draft->unsized)
        return NULL;
    out->tdp = sum_figure(&state, out, "tdp");
    out->area = sum_figure(&state, out, "area");
    out->price = sum_figure(&state, out, "price");
    sum_networks(&state, out);
    lint_energy(&state);
    lint_networks(&state);
    return draft->broken ? NULL : out;
}
