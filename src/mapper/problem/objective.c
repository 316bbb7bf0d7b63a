/* Objectives: their form, and their values. */
#include "mapper/problem/objective.h"

#include <math.h>
#include <string.h>

/* How an expression depends on figures. */
typedef struct {
    bool figures;  /* it has any */
    bool positive; /* never below zero; a constant: above zero */
} form;

typedef struct {
    dfl_sink *sink;
    const dfl_objective *o;
    const dfl_val *other; /* the first figure that is neither energy nor latency, NULL = there is none */
} reader;

typedef enum { FIGURE_OTHER, FIGURE_ENERGY, FIGURE_LATENCY } figure_kind;

/* `energy`, `best.energy`, `energy.joules`; `latency`, `latency.seconds`. */
static figure_kind figure_of(const dfl_objective *o, const dfl_val *v)
{
    uint32_t at = v->n_path > 1 && v->path[0] == o->mapping ? 1 : 0;
    const char *word, *unit;

    if (v->kind != DFL_VAL_PATH || v->n_path == at || v->n_path > at + 2)
        return FIGURE_OTHER;
    word = dfl_sym_text(o->names, v->path[at]);
    unit = v->n_path == at + 2 ? dfl_sym_text(o->names, v->path[at + 1]) : "";
    if (strcmp(word, "energy") == 0 && (*unit == '\0' || strcmp(unit, "joules") == 0))
        return FIGURE_ENERGY;
    if (strcmp(word, "latency") == 0 && (*unit == '\0' || strcmp(unit, "seconds") == 0))
        return FIGURE_LATENCY;
    return FIGURE_OTHER;
}

static bool refuse(reader *r, const dfl_val *at, const char *why)
{
    dfl_diag *d = dfl_report(r->sink, DFL_EVAL_OBJECTIVE, at->span, "an objective must not decrease when its figures grow");

    dfl_diag_here(r->sink, d, "%s", why);
    dfl_diag_help(r->sink, d, "use sums, products, `max`, `min`, `sqrt` and `pow` of figures, and positive constants");
    return false;
}

static bool read(reader *r, const dfl_val *v, form *out);

static bool read_binary(reader *r, const dfl_val *v, form *out)
{
    form a, b;

    if (!read(r, v->args[0], &a) || !read(r, v->args[1], &b))
        return false;
    out->figures = a.figures || b.figures;
    switch ((int)v->kind) {
    case DFL_VAL_ADD:
        out->positive = a.positive && b.positive;
        return true;
    case DFL_VAL_SUB:
        if (b.figures)
            return refuse(r, v->args[1], "this term is subtracted");
        out->positive = false;
        return true;
    case DFL_VAL_MUL:
        out->positive = true;
        return (a.positive && b.positive) || refuse(r, a.positive ? v->args[1] : v->args[0], "this factor may be negative");
    default:
        out->positive = a.positive;
        if (b.figures)
            return refuse(r, v->args[1], "this divides");
        return b.positive || refuse(r, v->args[1], "this divisor is not positive");
    }
}

static bool read_function(reader *r, const dfl_val *v, form *out)
{
    const char *name = dfl_sym_text(r->o->names, v->text);
    bool power = strcmp(name, "pow") == 0, root = strcmp(name, "sqrt") == 0;
    bool choice = strcmp(name, "max") == 0 || strcmp(name, "min") == 0;
    bool rounds = strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0;

    *out = (form){ .positive = true };
    if (!power && !root && !choice && !rounds)
        return refuse(r, v, "this function may decrease when its arguments grow");
    for (uint32_t i = 0; i < v->n_args; i++) {
        form a;

        if (!read(r, v->args[i], &a))
            return false;
        if (power && i == 1 && a.figures)
            return refuse(r, v->args[i], "an exponent must be a constant");
        if ((power || root) && !a.positive)
            return refuse(r, v->args[i], "this may be negative");
        out->figures |= a.figures;
        out->positive &= a.positive;
    }
    return true;
}

static bool read(reader *r, const dfl_val *v, form *out)
{
    *out = (form){ .positive = true };
    switch (v->kind) {
    case DFL_VAL_QUANTITY:
        out->positive = v->quantity.real > 0;
        return true;
    case DFL_VAL_PATH:
        out->figures = true;
        if (figure_of(r->o, v) == FIGURE_OTHER && r->other == NULL)
            r->other = v;
        return true;
    case DFL_VAL_CALL:
        if (v->text != 0)
            return read_function(r, v, out);
        out->figures = true;
        r->other = r->other != NULL ? r->other : v;
        return true;
    case DFL_VAL_ADD: case DFL_VAL_SUB: case DFL_VAL_MUL: case DFL_VAL_DIV:
        return read_binary(r, v, out);
    case DFL_VAL_NEG:
        return refuse(r, v, "this decreases when its figures grow");
    case DFL_VAL_STRING: case DFL_VAL_LT: case DFL_VAL_GT: case DFL_VAL_LE: case DFL_VAL_GE: case DFL_VAL_EQ:
    case DFL_VAL_NE: case DFL_VAL_AND: case DFL_VAL_OR:
        break;
    }
    return refuse(r, v, "this is no number");
}

uint32_t dfl_objective_memory(const dfl_objective *o, const dfl_system *s, const dfl_val *v)
{
    uint32_t at = v->n_path > 1 && v->path[0] == o->mapping ? 1 : 0;

    if (v->kind != DFL_VAL_CALL || v->text != 0 || v->n_path != at + 1 || v->n_args != 1 || v->args[0]->n_path != 1 ||
        strcmp(dfl_sym_text(o->names, v->path[at]), "peak") != 0)
        return DFL_NONE;
    for (uint32_t m = 0; m < s->n_memories; m++)
        if (s->memories[m].name == v->args[0]->path[0])
            return m;
    return DFL_NONE;
}

/* The one memory whose peak terms are besides those over energy and latency, or DFL_NONE. */
static uint32_t find_room(dfl_objective *o, dfl_sink *sink, const dfl_system *s)
{
    uint32_t room = DFL_NONE;

    for (uint32_t i = 0; i < o->n_terms; i++) {
        reader one = { .sink = sink, .o = o };
        uint32_t memory = dfl_objective_memory(o, s, o->terms[i]);
        form f;

        (void)read(&one, o->terms[i], &f);
        if (one.other == NULL)
            continue;
        if (memory == DFL_NONE || (room != DFL_NONE && room != memory))
            return DFL_NONE;
        room = memory;
    }
    return room;
}

static bool declares_no_energy(const dfl_system *s)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n_memories; i++)
        sum += s->memories[i].read_energy + s->memories[i].write_energy + s->memories[i].drain_energy + s->memories[i].leakage;
    for (uint32_t i = 0; i < s->n_computes; i++) {
        sum += s->computes[i].mac_energy + s->computes[i].flop_energy + s->computes[i].leakage;
        for (uint32_t k = 0; k < s->computes[i].n_type_energies; k++)
            sum += s->computes[i].type_energies[k].joules;
    }
    for (uint32_t i = 0; i < s->n_networks; i++)
        sum += s->networks[i].energy;
    return sum <= 0;
}

bool dfl_objective_make(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping, dfl_objective *out)
{
    reader r = { .sink = sink, .o = out };

    *out = (dfl_objective){ .names = names, .mapping = mapping->name, .terms = mapping->minimize,
                            .n_terms = mapping->n_minimize };
    if (out->n_terms > DFL_OBJECTIVE_TERMS) {
        dfl_report(sink, DFL_LIMIT_COUNT, mapping->span,
                "one mapping has more than %d objectives", DFL_OBJECTIVE_TERMS);
        return false;
    }
    for (uint32_t i = 0; i < out->n_terms; i++) {
        form f;

        if (!read(&r, out->terms[i], &f))
            return false;
        if (!f.figures)
            return refuse(&r, out->terms[i], "this expression contains no figure");
    }
    out->native = r.other == NULL;
    out->other = r.other;
    out->room = find_room(out, sink, mapping->system);
    out->free = declares_no_energy(mapping->system);
    out->text = out->n_terms > 0 ? mapping->minimize_text : out->free ? "latency" : "energy * latency";
    return true;
}

uint32_t dfl_objective_count(const dfl_objective *o)
{
    return o->n_terms > 0 ? o->n_terms : 1;
}

/* ---- values ---- */

static double value(const dfl_objective *o, const dfl_val *v, double joules, double seconds);

static double value_of_function(const dfl_objective *o, const dfl_val *v, double joules, double seconds)
{
    const char *name = dfl_sym_text(o->names, v->text);
    double a = value(o, v->args[0], joules, seconds);

    if (strcmp(name, "sqrt") == 0)
        return sqrt(a);
    if (strcmp(name, "floor") == 0)
        return floor(a);
    if (strcmp(name, "ceil") == 0)
        return ceil(a);
    if (strcmp(name, "pow") == 0)
        return pow(a, value(o, v->args[1], joules, seconds));
    for (uint32_t i = 1; i < v->n_args; i++) {
        double b = value(o, v->args[i], joules, seconds);

        a = (name[1] == 'i') == (b < a) ? b : a;
    }
    return a;
}

static double value(const dfl_objective *o, const dfl_val *v, double joules, double seconds)
{
    double a, b;

    if (v->kind == DFL_VAL_QUANTITY)
        return v->quantity.real;
    if (v->kind == DFL_VAL_PATH)
        return figure_of(o, v) == FIGURE_ENERGY ? joules : seconds;
    if (v->kind == DFL_VAL_CALL)
        return v->text != 0 ? value_of_function(o, v, joules, seconds) : 0;
    a = value(o, v->args[0], joules, seconds);
    b = value(o, v->args[1], joules, seconds);
    if (v->kind == DFL_VAL_ADD)
        return a + b;
    if (v->kind == DFL_VAL_SUB)
        return a - b;
    return v->kind == DFL_VAL_MUL ? a * b : a / b;
}

bool dfl_objective_is_room(const dfl_objective *o, uint32_t i)
{
    return o->n_terms > 0 && o->terms[i]->kind == DFL_VAL_CALL && o->terms[i]->text == 0;
}

double dfl_objective_term(const dfl_objective *o, uint32_t i, double joules, double seconds)
{
    if (o->is_line)
        return o->per_joule * joules + o->per_second * seconds;
    if (o->n_terms == 0)
        return o->free ? seconds : joules * seconds;
    return value(o, o->terms[i], joules, seconds);
}

double dfl_objective_value(const dfl_objective *o, double joules, double seconds)
{
    return dfl_objective_term(o, 0, joules, seconds);
}

/* ---- corners ---- */

/* Sums of figures with factors and summands that are not negative; concave themselves. */
static bool is_linear(const dfl_val *v)
{
    bool constant = v->kind == DFL_VAL_QUANTITY;

    if (constant)
        return v->quantity.real >= 0;
    if (v->kind == DFL_VAL_PATH)
        return true;
    if (v->kind == DFL_VAL_ADD)
        return is_linear(v->args[0]) && is_linear(v->args[1]);
    if (v->kind == DFL_VAL_MUL)
        return is_linear(v->args[0]) && is_linear(v->args[1]) &&
               (v->args[0]->kind == DFL_VAL_QUANTITY || v->args[1]->kind == DFL_VAL_QUANTITY);
    return v->kind == DFL_VAL_DIV && is_linear(v->args[0]) && v->args[1]->kind == DFL_VAL_QUANTITY;
}

static bool is_log_concave(const dfl_objective *o, const dfl_val *v)
{
    if (is_linear(v))
        return true;
    if (v->kind == DFL_VAL_MUL)
        return is_log_concave(o, v->args[0]) && is_log_concave(o, v->args[1]);
    if (v->kind == DFL_VAL_DIV)
        return is_log_concave(o, v->args[0]) && v->args[1]->kind == DFL_VAL_QUANTITY;
    if (v->kind != DFL_VAL_CALL || v->text == 0)
        return false;
    if (strcmp(dfl_sym_text(o->names, v->text), "sqrt") == 0)
        return is_log_concave(o, v->args[0]);
    return strcmp(dfl_sym_text(o->names, v->text), "pow") == 0 && is_log_concave(o, v->args[0]) &&
           v->args[1]->kind == DFL_VAL_QUANTITY && v->args[1]->quantity.real > 0;
}

dfl_objective dfl_objective_line(const dfl_objective *base, double per_joule, double per_second)
{
    dfl_objective out = *base;

    out.terms = NULL;
    out.n_terms = 0;
    out.native = out.is_line = true;
    out.other = NULL;
    out.per_joule = per_joule;
    out.per_second = per_second;
    return out;
}

bool dfl_objective_is_product(const dfl_objective *o)
{
    const dfl_val *v = o->n_terms > 0 ? o->terms[0] : NULL;

    if (v == NULL)
        return !o->free && !o->is_line;
    return v->kind == DFL_VAL_MUL && v->args[0]->kind == DFL_VAL_PATH && v->args[1]->kind == DFL_VAL_PATH &&
           figure_of(o, v->args[0]) != figure_of(o, v->args[1]);
}

bool dfl_objective_cornered(const dfl_objective *o)
{
    return o->n_terms > 0 ? is_log_concave(o, o->terms[0]) : o->is_line || !o->free;
}

/* ---- derivatives ---- */

/* A value with its derivatives. */
typedef struct { double value, per_joule, per_second; } slope;

/* `a` times the one, plus `b` times the other, with the value that this has. */
static slope combine(double value, double a, slope x, double b, slope y)
{
    return (slope){ value, a * x.per_joule + b * y.per_joule, a * x.per_second + b * y.per_second };
}

static slope slope_of(const dfl_objective *o, const dfl_val *v, double joules, double seconds);

static slope slope_of_function(const dfl_objective *o, const dfl_val *v, double joules, double seconds)
{
    const char *name = dfl_sym_text(o->names, v->text);
    double result = value(o, v, joules, seconds), power;
    slope a = slope_of(o, v->args[0], joules, seconds), none = { 0 };

    if (strcmp(name, "sqrt") == 0)
        return combine(result, 0.5 / result, a, 0, none);
    if (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0)
        return none;
    if (strcmp(name, "pow") == 0) {
        power = value(o, v->args[1], joules, seconds);
        return combine(result, power * pow(a.value, power - 1), a, 0, none);
    }
    for (uint32_t i = 1; i < v->n_args; i++) {
        slope b = slope_of(o, v->args[i], joules, seconds);

        a = (name[1] == 'i') == (b.value < a.value) ? b : a;
    }
    return a;
}

static slope slope_of(const dfl_objective *o, const dfl_val *v, double joules, double seconds)
{
    slope a, b;

    if (v->kind == DFL_VAL_QUANTITY)
        return (slope){ .value = v->quantity.real };
    if (v->kind == DFL_VAL_PATH) {
        bool energy = figure_of(o, v) == FIGURE_ENERGY;

        return (slope){ energy ? joules : seconds, energy, !energy };
    }
    if (v->kind == DFL_VAL_CALL)
        return slope_of_function(o, v, joules, seconds);
    a = slope_of(o, v->args[0], joules, seconds);
    b = slope_of(o, v->args[1], joules, seconds);
    if (v->kind == DFL_VAL_ADD)
        return combine(a.value + b.value, 1, a, 1, b);
    if (v->kind == DFL_VAL_SUB)
        return combine(a.value - b.value, 1, a, -1, b);
    if (v->kind == DFL_VAL_MUL)
        return combine(a.value * b.value, b.value, a, a.value, b);
    return combine(a.value / b.value, 1 / b.value, a, 0, b); /* a divisor is a constant */
}

void dfl_objective_slopes(const dfl_objective *o, uint32_t i, double joules, double seconds, double *per_joule,
                          double *per_second)
{
    slope s = { 0, o->free ? 0 : seconds, o->free ? 1 : joules };

    if (o->is_line)
        s = (slope){ 0, o->per_joule, o->per_second };
    if (o->n_terms > 0)
        s = slope_of(o, o->terms[i], joules, seconds);
    *per_joule = s.per_joule;
    *per_second = s.per_second;
}

bool dfl_objective_terms(const dfl_objective *o, const dfl_result *result, double *out)
{
    for (uint32_t i = 0; i < dfl_objective_count(o); i++) {
        if (o->native)
            out[i] = dfl_objective_term(o, i, result->joules, result->seconds);
        else if (!o->figure(o->context, result, o->terms[i], &out[i]))
            return false;
    }
    return true;
}

bool dfl_objective_less(const dfl_objective *o, const double *a, const double *b)
{
    for (uint32_t i = 0; i < dfl_objective_count(o); i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

bool dfl_objective_met(const dfl_objective *o, const dfl_result *result, const bool *waived)
{
    for (uint32_t i = 0; i < o->n_required; i++)
        if ((waived == NULL || !waived[i]) && !o->meets(o->context, i, result))
            return false;
    return true;
}

double dfl_value_times(double value, double times)
{
    if (isinf(times))
        return times;
    return value > 0 ? value * times : value - value * (times - 1);
}

bool dfl_objective_check_bound(dfl_sink *sink, dfl_span span, double value, double lower_bound)
{
    if (!(dfl_value_times(value, 1 + 1e-9) < lower_bound))
        return true;
    dfl_report(sink, DFL_INTERNAL_ERROR, span, "a mapping has the value %.12g, below the lower bound %.12g of all mappings",
               value, lower_bound);
    return false;
}
