#include "report/check/check.h"

#include <math.h>
#include <string.h>

#include "report/check/lookup.h"
#include "support/number.h"

/* What an expression is worth. */
typedef enum { VALUE_NONE, VALUE_LATER, VALUE_QUANTITY, VALUE_TEXT, VALUE_TRUTH } value_kind;

typedef struct {
    value_kind kind;
    dfl_quantity quantity;
    const char *text;
    bool truth;
} value;

typedef struct {
    const dfl_results *results;
    const dfl_check *check;
    const dfl_val *failed;       /* the comparison that made the whole false */
    value failed_left, failed_right;
} judge;

static const value none = { .kind = VALUE_NONE };
static const value later = { .kind = VALUE_LATER };

static value quantity_value(dfl_quantity q)
{
    return (value){ .kind = VALUE_QUANTITY, .quantity = q };
}

static value truth_value(bool truth)
{
    return (value){ .kind = VALUE_TRUTH, .truth = truth };
}

static const char *print(const judge *j, const value *v)
{
    dfl_strbuf out;

    if (v->kind == VALUE_TEXT)
        return dfl_arena_printf(dfl_sink_arena(j->results->sink), "\"%s\"", v->text);
    if (v->kind != VALUE_QUANTITY)
        return NULL;
    dfl_strbuf_init(&out, dfl_sink_arena(j->results->sink));
    dfl_quantity_print(&out, v->quantity);
    return out.text;
}

static value wrong_kind(judge *j, const dfl_val *at, const char *wanted)
{
    dfl_report(j->results->sink, DFL_EXPR_TYPE, at->span, "this must be %s", wanted);
    return none;
}

static const char *dim_text(const judge *j, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, dfl_sink_arena(j->results->sink));
    dfl_dim_print(&out, dim);
    return out.text;
}

/* Where figures are blanks, every value that depends on one is 1: what has no value there may have one later. */
static value figure_value(const judge *j, dfl_quantity q)
{
    if (j->results->is_blank) {
        q.real = 1;
        q.integer = q.exact ? 1 : 0;
    }
    return quantity_value(q);
}

static value arithmetic(judge *j, const dfl_val *at, dfl_arith status, dfl_quantity q, const value *a, const value *b)
{
    dfl_sink *sink = j->results->sink;

    switch (status) {
    case DFL_ARITH_OK: return figure_value(j, q);
    case DFL_ARITH_OVERFLOW:
        dfl_report(sink, DFL_UNIT_OVERFLOW, at->span, "the value is out of range");
        break;
    case DFL_ARITH_DIMENSION:
        if (b)
            dfl_report(sink, DFL_UNIT_DIMENSION, at->span, "%s and %s do not go together",
                       dim_text(j, a->quantity.dim), dim_text(j, b->quantity.dim));
        else
            dfl_report(sink, DFL_UNIT_DIMENSION, at->span, "a plain number is needed, not %s",
                       dim_text(j, a->quantity.dim));
        break;
    case DFL_ARITH_ZERO: dfl_report(sink, DFL_EXPR_DIVISION_BY_ZERO, at->span, "division by zero"); break;
    case DFL_ARITH_INEXACT:
    case DFL_ARITH_DOMAIN:
        dfl_report(sink, DFL_UNIT_OVERFLOW, at->span, "the function has no value here");
        break;
    }
    return none;
}

static value evaluate(judge *j, const dfl_val *e);

static bool settled(const value *v)
{
    return v->kind == VALUE_NONE || v->kind == VALUE_LATER;
}

/* Both sides as quantities; *out is what to return when they are not. */
static bool two_quantities(judge *j, const dfl_val *e, value *a, value *b, value *out)
{
    *a = evaluate(j, e->args[0]);
    *b = evaluate(j, e->args[1]);
    if (settled(a) || settled(b)) {
        *out = a->kind == VALUE_NONE || b->kind == VALUE_NONE ? none : later;
        return false;
    }
    if (a->kind != VALUE_QUANTITY || b->kind != VALUE_QUANTITY) {
        *out = wrong_kind(j, a->kind != VALUE_QUANTITY ? e->args[0] : e->args[1], "a number");
        return false;
    }
    return true;
}

static value evaluate_binary(judge *j, const dfl_val *e)
{
    value a, b, out;
    dfl_quantity q = { 0 };
    dfl_arith status = DFL_ARITH_OK;

    if (!two_quantities(j, e, &a, &b, &out))
        return out;
    if (e->kind == DFL_VAL_ADD)
        status = dfl_quantity_add(a.quantity, b.quantity, &q);
    else if (e->kind == DFL_VAL_SUB)
        status = dfl_quantity_sub(a.quantity, b.quantity, &q);
    else if (e->kind == DFL_VAL_MUL)
        status = dfl_quantity_mul(a.quantity, b.quantity, &q);
    else
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    if (status == DFL_ARITH_INEXACT) { /* counts of a report divide like numbers, not like sizes */
        a.quantity.exact = false;
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    }
    return arithmetic(j, e, status, q, &a, &b);
}

static bool nearly(double a, double b, double relative)
{
    return a == b || fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

static bool compare_order(dfl_val_kind kind, int order, bool equal)
{
    if (kind == DFL_VAL_LT)
        return order < 0;
    if (kind == DFL_VAL_GT)
        return order > 0;
    if (kind == DFL_VAL_LE)
        return order <= 0 || equal;
    if (kind == DFL_VAL_GE)
        return order >= 0 || equal;
    return equal == (kind == DFL_VAL_EQ);
}

static value evaluate_comparison(judge *j, const dfl_val *e)
{
    value a = evaluate(j, e->args[0]), b = evaluate(j, e->args[1]);
    bool equal, holds;
    int order = 0;

    if (a.kind == VALUE_NONE || b.kind == VALUE_NONE)
        return none;
    if (settled(&a) || settled(&b))
        return later;
    if (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT && (e->kind == DFL_VAL_EQ || e->kind == DFL_VAL_NE)) {
        holds = (strcmp(a.text, b.text) == 0) == (e->kind == DFL_VAL_EQ);
    } else if (a.kind != VALUE_QUANTITY || b.kind != VALUE_QUANTITY) {
        bool left = a.kind != VALUE_QUANTITY;

        return wrong_kind(j, left ? e->args[0] : e->args[1],
                          (left ? b.kind : a.kind) == VALUE_TEXT ? "a text" : "a number");
    } else if (dfl_quantity_compare(a.quantity, b.quantity, &order) != DFL_ARITH_OK) {
        return arithmetic(j, e, DFL_ARITH_DIMENSION, a.quantity, &a, &b);
    } else {
        equal = a.quantity.exact && b.quantity.exact ? order == 0
                                                     : nearly(a.quantity.real, b.quantity.real, 1e-12);
        holds = compare_order(e->kind, order, equal);
    }
    if (!holds && !j->failed) {
        j->failed = e;
        j->failed_left = a;
        j->failed_right = b;
    }
    return truth_value(holds);
}

static value evaluate_logic(judge *j, const dfl_val *e)
{
    value a = evaluate(j, e->args[0]), b;

    if (!settled(&a) && a.kind != VALUE_TRUTH)
        return wrong_kind(j, e->args[0], "a comparison");
    if (a.kind == VALUE_TRUTH && a.truth == (e->kind == DFL_VAL_OR) && !j->results->is_blank)
        return a;
    b = evaluate(j, e->args[1]);
    if (!settled(&b) && b.kind != VALUE_TRUTH)
        return wrong_kind(j, e->args[1], "a comparison");
    if (a.kind == VALUE_NONE || b.kind == VALUE_NONE)
        return none;
    return settled(&a) ? a : b;
}

/* min and max of any number of arguments, log2, sqrt, pow, floor, ceil, mod, select. */
static value evaluate_function(judge *j, const dfl_val *e)
{
    enum { MOST = 16 };
    const char *name = dfl_sym_text(j->results->names, e->text);
    value args[MOST];
    dfl_quantity q = { 0 };
    dfl_arith status = DFL_ARITH_OK;
    int order;

    if (e->n_args == 0 || e->n_args > MOST)
        return wrong_kind(j, e, "a call with 1 to 16 arguments");
    for (uint32_t i = 0; i < e->n_args; i++) {
        bool condition = i == 0 && strcmp(name, "select") == 0;

        args[i] = evaluate(j, e->args[i]);
        if (settled(&args[i]))
            return args[i];
        if (args[i].kind != (condition ? VALUE_TRUTH : VALUE_QUANTITY))
            return wrong_kind(j, e->args[i], condition ? "a comparison" : "a number");
    }
    if (strcmp(name, "select") == 0 && e->n_args == 3) {
        if (j->results->is_blank && !dfl_dim_equal(args[1].quantity.dim, args[2].quantity.dim))
            return later;
        return args[args[0].truth ? 1 : 2];
    }
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        size_t best = 0;

        for (uint32_t i = 1; i < e->n_args; i++) {
            if (dfl_quantity_compare(args[i].quantity, args[best].quantity, &order) != DFL_ARITH_OK)
                return arithmetic(j, e, DFL_ARITH_DIMENSION, q, &args[best], &args[i]);
            if (name[1] == 'i' ? order < 0 : order > 0)
                best = i;
        }
        return args[best];
    }
    if (strcmp(name, "floor") == 0 && e->n_args == 1)
        status = dfl_quantity_round(args[0].quantity, false, &q);
    else if (strcmp(name, "ceil") == 0 && e->n_args == 1)
        status = dfl_quantity_round(args[0].quantity, true, &q);
    else if (strcmp(name, "sqrt") == 0 && e->n_args == 1)
        status = dfl_quantity_sqrt(args[0].quantity, &q);
    else if (strcmp(name, "log2") == 0 && e->n_args == 1)
        status = dfl_quantity_log2(args[0].quantity, &q);
    else if (strcmp(name, "mod") == 0 && e->n_args == 2)
        status = dfl_quantity_mod(args[0].quantity, args[1].quantity, &q);
    else if (j->results->is_blank && strcmp(name, "pow") == 0 && e->n_args == 2 && e->args[1]->kind != DFL_VAL_QUANTITY)
        return later; /* its dimension depends on a value */
    else if (strcmp(name, "pow") == 0 && e->n_args == 2)
        status = dfl_quantity_pow(args[0].quantity, args[1].quantity, &q);
    else
        return wrong_kind(j, e, "a call of floor, ceil, mod, min, max, log2, sqrt, pow or select");
    return arithmetic(j, e, status, q, &args[0], e->n_args > 1 ? &args[1] : NULL);
}

static value evaluate_path(judge *j, const dfl_val *e)
{
    dfl_lookup_result found = dfl_lookup(j->results, j->check->scope, e);

    switch (found.kind) {
    case DFL_LOOKUP_NOTHING: break;
    case DFL_LOOKUP_LATER: return later;
    case DFL_LOOKUP_QUANTITY: return figure_value(j, found.quantity);
    case DFL_LOOKUP_TEXT: return (value){ .kind = VALUE_TEXT, .text = found.text };
    }
    return none;
}

static value evaluate_negation(judge *j, const dfl_val *e)
{
    value a = evaluate(j, e->args[0]), zero = quantity_value(dfl_quantity_int(0));
    dfl_quantity q = { 0 };

    if (settled(&a))
        return a;
    if (a.kind != VALUE_QUANTITY)
        return wrong_kind(j, e->args[0], "a number");
    zero.quantity.dim = a.quantity.dim;
    return arithmetic(j, e, dfl_quantity_sub(zero.quantity, a.quantity, &q), q, &a, NULL);
}

static value evaluate(judge *j, const dfl_val *e)
{
    switch (e->kind) {
    case DFL_VAL_QUANTITY: return quantity_value(e->quantity);
    case DFL_VAL_STRING: return (value){ .kind = VALUE_TEXT, .text = dfl_sym_text(j->results->names, e->text) };
    case DFL_VAL_PATH: return evaluate_path(j, e);
    case DFL_VAL_CALL: return e->text ? evaluate_function(j, e) : evaluate_path(j, e);
    case DFL_VAL_NEG: return evaluate_negation(j, e);
    case DFL_VAL_ADD:
    case DFL_VAL_SUB:
    case DFL_VAL_MUL:
    case DFL_VAL_DIV: return evaluate_binary(j, e);
    case DFL_VAL_LT:
    case DFL_VAL_GT:
    case DFL_VAL_LE:
    case DFL_VAL_GE:
    case DFL_VAL_EQ:
    case DFL_VAL_NE: return evaluate_comparison(j, e);
    case DFL_VAL_AND:
    case DFL_VAL_OR: return evaluate_logic(j, e);
    }
    return none;
}

/* ---- the two special forms ---- */

static value hold(judge *j, bool holds, const dfl_val *e, const value *left, const value *right)
{
    if (!holds) {
        j->failed = e;
        j->failed_left = *left;
        j->failed_right = *right;
    }
    return truth_value(holds);
}

/* The value and what it is compared with; false with *out set when they cannot be compared. */
static bool two_sides(judge *j, const dfl_val *left, const dfl_val *right, value *a, value *b, value *out)
{
    const dfl_val *sides[2] = { left, right };
    const dfl_val pair = { .kind = DFL_VAL_EQ, .span = left->span, .args = sides, .n_args = 2 };

    if (!two_quantities(j, &pair, a, b, out))
        return false;
    if (!dfl_dim_equal(a->quantity.dim, b->quantity.dim)) {
        *out = arithmetic(j, left, DFL_ARITH_DIMENSION, a->quantity, a, b);
        return false;
    }
    return true;
}

static value judge_exactly(judge *j)
{
    const dfl_check *c = j->check;
    value a, b, out;
    bool holds;

    if (!two_sides(j, c->expr, c->exactly, &a, &b, &out))
        return out;
    if (a.quantity.exact && b.quantity.exact)
        holds = a.quantity.integer == b.quantity.integer;
    else
        holds = a.quantity.real == b.quantity.real;
    return hold(j, holds, c->expr, &a, &b);
}

static value judge_within(judge *j)
{
    const dfl_check *c = j->check;
    value a, b, out, p;
    double away;

    if (!two_sides(j, c->expr, c->of, &a, &b, &out))
        return out;
    p = evaluate(j, c->within);
    if (settled(&p))
        return p;
    if (p.kind != VALUE_QUANTITY)
        return wrong_kind(j, c->within, "a number");
    away = fabs(a.quantity.real - b.quantity.real);
    if (dfl_dim_is_none(p.quantity.dim))
        return hold(j, away <= p.quantity.real * fabs(b.quantity.real), c->expr, &a, &b);
    if (dfl_dim_equal(p.quantity.dim, a.quantity.dim))
        return hold(j, away <= p.quantity.real, c->expr, &a, &b);
    return arithmetic(j, c->within, DFL_ARITH_DIMENSION, p.quantity, &p, &a);
}

/* ---- verdict ---- */

static const char *sign_of(dfl_val_kind kind)
{
    switch (kind) {
    case DFL_VAL_LT: return "<";
    case DFL_VAL_GT: return ">";
    case DFL_VAL_LE: return "<=";
    case DFL_VAL_GE: return ">=";
    case DFL_VAL_EQ: return "==";
    case DFL_VAL_NE: return "!=";
    case DFL_VAL_QUANTITY: case DFL_VAL_STRING: case DFL_VAL_PATH: case DFL_VAL_CALL: case DFL_VAL_NEG:
    case DFL_VAL_ADD: case DFL_VAL_SUB: case DFL_VAL_MUL: case DFL_VAL_DIV: case DFL_VAL_AND: case DFL_VAL_OR:
        break;
    }
    return "";
}

/* The value in base units, to the last digit. */
static const char *all_digits(const judge *j, const value *v)
{
    char digits[32];

    dfl_double_text(v->quantity.real, digits);
    return dfl_arena_copy(dfl_sink_arena(j->results->sink), digits, strlen(digits));
}

/* "512 == 500 is false"; NULL if the check is no comparison of values. */
static const char *failure_text(const judge *j)
{
    const dfl_check *c = j->check;
    dfl_arena *arena = dfl_sink_arena(j->results->sink);
    const char *left = j->failed ? print(j, &j->failed_left) : NULL;
    const char *right = j->failed ? print(j, &j->failed_right) : NULL;

    if (!left || !right)
        return NULL;
    if (strcmp(left, right) == 0 && j->failed_left.kind == VALUE_QUANTITY) { /* they differ further behind */
        left = all_digits(j, &j->failed_left);
        right = all_digits(j, &j->failed_right);
    }
    if (c->within && j->failed_right.quantity.real != 0) {
        double away = j->failed_left.quantity.real / j->failed_right.quantity.real - 1;
        char digits[32];

        dfl_double_text_short(100 * away, 4, digits);
        return dfl_arena_printf(arena, "is %s, %s%s %% away from %s", left, away > 0 ? "+" : "", digits, right);
    }
    if (c->within || c->exactly)
        return dfl_arena_printf(arena, "is %s, not %s", left, right);
    return dfl_arena_printf(arena, "%s %s %s is false", left, sign_of(j->failed->kind), right);
}

static void report_failure(const judge *j)
{
    const dfl_check *c = j->check;
    dfl_sink *sink = j->results->sink;
    dfl_code code = c->kind == DFL_CHECK_REQUIRE ? DFL_EVAL_REQUIRE : DFL_EVAL_EXPECT;
    dfl_diag *d = dfl_report(sink, code, c->span, "`%s` does not hold", c->text ? c->text : "check");
    const char *text = failure_text(j);

    if (text)
        dfl_diag_here(sink, d, "%s", text);
}

/* The figure a reader wants to see: the left side of the (first) comparison. */
static const dfl_val *subject(const dfl_val *e)
{
    while (e->n_args > 0 && e->kind >= DFL_VAL_LT)
        e = e->args[0];
    return e;
}

static value judge_whole(judge *j)
{
    if (j->check->exactly)
        return judge_exactly(j);
    return j->check->within ? judge_within(j) : evaluate(j, j->check->expr);
}

bool dfl_check_is_violated(const dfl_results *results, const dfl_check *check)
{
    judge j = { .results = results, .check = check };
    value verdict = judge_whole(&j);

    return verdict.kind == VALUE_TRUTH && !verdict.truth;
}

const char *dfl_check_violation(const dfl_results *results, const dfl_check *check)
{
    judge j = { .results = results, .check = check };
    value verdict = judge_whole(&j);

    return verdict.kind == VALUE_TRUTH && !verdict.truth ? failure_text(&j) : NULL;
}

bool dfl_check_quantity(const dfl_results *results, dfl_sym scope, const dfl_val *expr, dfl_quantity *out)
{
    const dfl_check check = { .span = expr->span, .expr = expr, .scope = scope };
    judge j = { .results = results, .check = &check };
    value v = evaluate(&j, expr);

    *out = v.kind == VALUE_QUANTITY ? v.quantity : (dfl_quantity){ 0 };
    if (!settled(&v) && v.kind != VALUE_QUANTITY && !results->is_blank) /* which the form of an objective shows, too */
        (void)wrong_kind(&j, expr, "a number");
    return v.kind == VALUE_QUANTITY;
}

bool dfl_check_number(const dfl_results *results, dfl_sym scope, const dfl_val *expr, double *out)
{
    dfl_quantity q;
    bool any = dfl_check_quantity(results, scope, expr, &q);

    *out = q.real;
    return any;
}

dfl_check_outcome dfl_check_evaluate(const dfl_results *results, const dfl_check *check)
{
    judge j = { .results = results, .check = check };
    dfl_check_outcome outcome = { .check = check, .outcome = DFL_OUTCOME_UNKNOWN };
    value verdict = judge_whole(&j), shown;

    if (settled(&verdict))
        return outcome;
    if (verdict.kind != VALUE_TRUTH) {
        wrong_kind(&j, check->expr, "a comparison");
        return outcome;
    }
    if (results->is_blank)
        return outcome;
    outcome.outcome = verdict.truth ? DFL_OUTCOME_PASSED : DFL_OUTCOME_FAILED;
    if (!verdict.truth)
        report_failure(&j);
    shown = evaluate(&j, subject(check->expr)); /* went well a moment ago, so it reports nothing */
    outcome.value = print(&j, &shown);
    if (shown.kind == VALUE_QUANTITY) {
        outcome.has_number = true;
        outcome.number = shown.quantity.real;
    } else if (shown.kind == VALUE_TEXT) {
        outcome.word = shown.text;
    }
    return outcome;
}
