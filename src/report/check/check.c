/* Evaluation of expressions and checks. */
#include "report/check/check.h"

#include <math.h>
#include <string.h>

#include "ir/unit_text.h"
#include "report/check/figure_lookup.h"
#include "support/number.h"
#include "support/limits.h"

typedef enum {
    VALUE_NONE,  /* an error was reported */
    VALUE_LATER, /* the value depends on a mapping without a result, or on the values of blank figures */
    VALUE_QUANTITY,
    VALUE_TEXT,
    VALUE_TRUTH,
} value_kind;

/* The value of an expression. */
typedef struct {
    value_kind kind;
    dfl_quantity quantity;
    const char *text;
    bool truth;
} value;

/* The evaluation of one check. */
typedef struct {
    const dfl_results *results;
    const dfl_check *check;
    const dfl_val *failed; /* the first comparison that is false; NULL = none */
    value failed_left, failed_right; /* values of both sides of the comparison `failed` */
} evaluator;

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

/* A quantity in readable units, or a text in quotes; NULL for other kinds of values. */
static const char *value_text(const evaluator *eval, const value *v)
{
    dfl_strbuf out;

    if (v->kind == VALUE_TEXT)
        return dfl_arena_printf(dfl_sink_arena(eval->results->sink), "\"%s\"", v->text);
    if (v->kind != VALUE_QUANTITY)
        return NULL;
    dfl_strbuf_init(&out, dfl_sink_arena(eval->results->sink));
    dfl_quantity_print(&out, v->quantity);
    return out.text;
}

static value report_kind(evaluator *eval, const dfl_val *at, const char *wanted)
{
    dfl_diag *d = dfl_report(eval->results->sink, DFL_EXPR_TYPE, at->span, "this must be %s", wanted);

    if (strcmp(wanted, "a comparison") == 0)
        dfl_diag_help(eval->results->sink, d, "compare figures with values, as in `latency <= 1ms`");
    return none;
}

static const char *dim_text(const evaluator *eval, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, dfl_sink_arena(eval->results->sink));
    dfl_dim_print(&out, dim);
    return out.text;
}

/* Labels the sides of an operation whose dimensions differ; helps with a number that lacks its unit. */
static void help_dimension(const evaluator *eval, const dfl_val *at, dfl_dim a, dfl_dim b, dfl_diag *d)
{
    dfl_sink *sink = eval->results->sink;
    const dfl_val *plain;

    if (at->n_args != 2)
        return;
    dfl_diag_label(sink, d, at->args[0]->span, "%s", dim_text(eval, a));
    dfl_diag_label(sink, d, at->args[1]->span, "%s", dim_text(eval, b));
    plain = dfl_dim_is_none(a) ? at->args[0] : dfl_dim_is_none(b) ? at->args[1] : NULL;
    if (plain && plain->kind == DFL_VAL_QUANTITY)
        dfl_diag_help(sink, d, "write the number with its unit, as in `1ms`, `2mJ` or `64KiB`");
}

/* Makes the value of a figure or of arithmetic. In a type check every value is 1 in its unit: division, roots and
   logarithms of 1 have values, so only errors that do not depend on values are reported. */
static value figure_value(const evaluator *eval, dfl_quantity q)
{
    if (eval->results->is_blank) {
        q.real = 1;
        q.integer = q.exact ? 1 : 0;
    }
    return quantity_value(q);
}

/* Makes the value `q` of an operation on `a` and `b`, or reports the error `status` at `at`. `b` is NULL for functions of
   one argument. */
static value arithmetic_value(evaluator *eval, const dfl_val *at, dfl_arith status, dfl_quantity q, const value *a,
                              const value *b)
{
    dfl_sink *sink = eval->results->sink;

    switch (status) {
    case DFL_ARITH_OK: return figure_value(eval, q);
    case DFL_ARITH_OVERFLOW:
        dfl_report(sink, DFL_UNIT_OVERFLOW, at->span, "the value is out of range");
        break;
    case DFL_ARITH_DIMENSION:
        if (b)
            help_dimension(eval, at, a->quantity.dim, b->quantity.dim,
                           dfl_report(sink, DFL_UNIT_DIMENSION, at->span, "%s and %s cannot be combined",
                                      dim_text(eval, a->quantity.dim), dim_text(eval, b->quantity.dim)));
        else
            dfl_report(sink, DFL_UNIT_DIMENSION, at->span, "expected a plain number, found %s",
                       dim_text(eval, a->quantity.dim));
        break;
    case DFL_ARITH_ZERO: dfl_report(sink, DFL_EXPR_DIVISION_BY_ZERO, at->span, "division by zero"); break;
    case DFL_ARITH_INEXACT:
    case DFL_ARITH_DOMAIN:
        dfl_report(sink, DFL_UNIT_OVERFLOW, at->span, "the function has no value here");
        break;
    }
    return none;
}

static value evaluate(evaluator *eval, const dfl_val *expr);

/* Whether a value is NONE or LATER; an expression with such an operand has the same value. */
static bool is_unknown(const value *v)
{
    return v->kind == VALUE_NONE || v->kind == VALUE_LATER;
}

/* Evaluates both sides of `expr`. False if a side is no quantity; *out is then the value of the expression. */
static bool evaluate_numbers(evaluator *eval, const dfl_val *expr, value *a, value *b, value *out)
{
    *a = evaluate(eval, expr->args[0]);
    *b = evaluate(eval, expr->args[1]);
    if (is_unknown(a) || is_unknown(b)) {
        *out = a->kind == VALUE_NONE || b->kind == VALUE_NONE ? none : later;
        return false;
    }
    if (a->kind != VALUE_QUANTITY || b->kind != VALUE_QUANTITY) {
        *out = report_kind(eval, a->kind != VALUE_QUANTITY ? expr->args[0] : expr->args[1], "a number");
        return false;
    }
    return true;
}

static value evaluate_binary(evaluator *eval, const dfl_val *expr)
{
    value a, b, out;
    dfl_quantity q = { 0 };
    dfl_arith status = DFL_ARITH_OK;

    if (!evaluate_numbers(eval, expr, &a, &b, &out))
        return out;
    if (expr->kind == DFL_VAL_ADD)
        status = dfl_quantity_add(a.quantity, b.quantity, &q);
    else if (expr->kind == DFL_VAL_SUB)
        status = dfl_quantity_sub(a.quantity, b.quantity, &q);
    else if (expr->kind == DFL_VAL_MUL)
        status = dfl_quantity_mul(a.quantity, b.quantity, &q);
    else
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    if (status == DFL_ARITH_INEXACT) { /* the quotient of two counts is a real number here; for sizes it would be an error */
        a.quantity.exact = false;
        status = dfl_quantity_div(a.quantity, b.quantity, &q);
    }
    return arithmetic_value(eval, expr, status, q, &a, &b);
}

static bool is_near(double a, double b, double relative)
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

static value evaluate_comparison(evaluator *eval, const dfl_val *expr)
{
    value a = evaluate(eval, expr->args[0]), b = evaluate(eval, expr->args[1]);
    bool equal, holds;
    int order = 0;

    if (a.kind == VALUE_NONE || b.kind == VALUE_NONE)
        return none;
    if (is_unknown(&a) || is_unknown(&b))
        return later;
    if (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT && (expr->kind == DFL_VAL_EQ || expr->kind == DFL_VAL_NE)) {
        holds = (strcmp(a.text, b.text) == 0) == (expr->kind == DFL_VAL_EQ);
    } else if (a.kind != VALUE_QUANTITY || b.kind != VALUE_QUANTITY) {
        bool left = a.kind != VALUE_QUANTITY;

        return report_kind(eval, left ? expr->args[0] : expr->args[1],
                          (left ? b.kind : a.kind) == VALUE_TEXT ? "a text" : "a number");
    } else if (dfl_quantity_compare(a.quantity, b.quantity, &order) != DFL_ARITH_OK) {
        return arithmetic_value(eval, expr, DFL_ARITH_DIMENSION, a.quantity, &a, &b);
    } else {
        equal = a.quantity.exact && b.quantity.exact ? order == 0
                                                     : is_near(a.quantity.real, b.quantity.real, DFL_SUM_TOLERANCE);
        holds = compare_order(expr->kind, order, equal);
    }
    if (!holds && !eval->failed) {
        eval->failed = expr;
        eval->failed_left = a;
        eval->failed_right = b;
    }
    return truth_value(holds);
}

static value evaluate_logic(evaluator *eval, const dfl_val *expr)
{
    value a = evaluate(eval, expr->args[0]), b;

    if (!is_unknown(&a) && a.kind != VALUE_TRUTH)
        return report_kind(eval, expr->args[0], "a comparison");
    if (a.kind == VALUE_TRUTH && a.truth == (expr->kind == DFL_VAL_OR) && !eval->results->is_blank)
        return a;
    b = evaluate(eval, expr->args[1]);
    if (!is_unknown(&b) && b.kind != VALUE_TRUTH)
        return report_kind(eval, expr->args[1], "a comparison");
    if (a.kind == VALUE_NONE || b.kind == VALUE_NONE)
        return none;
    return is_unknown(&a) ? a : b;
}

/* Evaluates a built-in function: min and max of up to 16 arguments, log2, sqrt, pow, floor, ceil, mod, select. */
static value evaluate_function(evaluator *eval, const dfl_val *expr)
{
    enum { MOST = 16 };
    const char *name = dfl_sym_text(eval->results->names, expr->text);
    value args[MOST];
    dfl_quantity q = { 0 };
    dfl_arith status = DFL_ARITH_OK;
    int order;

    if (expr->n_args == 0 || expr->n_args > MOST)
        return report_kind(eval, expr, "a call with 1 to 16 arguments");
    for (uint32_t i = 0; i < expr->n_args; i++) {
        bool condition = i == 0 && strcmp(name, "select") == 0;

        args[i] = evaluate(eval, expr->args[i]);
        if (is_unknown(&args[i]))
            return args[i];
        if (args[i].kind != (condition ? VALUE_TRUTH : VALUE_QUANTITY))
            return report_kind(eval, expr->args[i], condition ? "a comparison" : "a number");
    }
    if (strcmp(name, "select") == 0 && expr->n_args == 3) {
        if (eval->results->is_blank && !dfl_dim_equal(args[1].quantity.dim, args[2].quantity.dim))
            return later;
        return args[args[0].truth ? 1 : 2];
    }
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        size_t best = 0;

        for (uint32_t i = 1; i < expr->n_args; i++) {
            if (dfl_quantity_compare(args[i].quantity, args[best].quantity, &order) != DFL_ARITH_OK)
                return arithmetic_value(eval, expr, DFL_ARITH_DIMENSION, q, &args[best], &args[i]);
            if (name[1] == 'i' ? order < 0 : order > 0)
                best = i;
        }
        return args[best];
    }
    if (strcmp(name, "floor") == 0 && expr->n_args == 1)
        status = dfl_quantity_round(args[0].quantity, false, &q);
    else if (strcmp(name, "ceil") == 0 && expr->n_args == 1)
        status = dfl_quantity_round(args[0].quantity, true, &q);
    else if (strcmp(name, "sqrt") == 0 && expr->n_args == 1)
        status = dfl_quantity_sqrt(args[0].quantity, &q);
    else if (strcmp(name, "log2") == 0 && expr->n_args == 1)
        status = dfl_quantity_log2(args[0].quantity, &q);
    else if (strcmp(name, "mod") == 0 && expr->n_args == 2)
        status = dfl_quantity_mod(args[0].quantity, args[1].quantity, &q);
    else if (eval->results->is_blank && strcmp(name, "pow") == 0 && expr->n_args == 2 && expr->args[1]->kind != DFL_VAL_QUANTITY)
        return later; /* the dimension of the power depends on the value of the exponent */
    else if (strcmp(name, "pow") == 0 && expr->n_args == 2)
        status = dfl_quantity_pow(args[0].quantity, args[1].quantity, &q);
    else
        return report_kind(eval, expr, "a call of floor, ceil, mod, min, max, log2, sqrt, pow or select");
    return arithmetic_value(eval, expr, status, q, &args[0], expr->n_args > 1 ? &args[1] : NULL);
}

static value evaluate_path(evaluator *eval, const dfl_val *expr)
{
    dfl_lookup_result found = dfl_lookup(eval->results, eval->check->scope, expr);

    switch (found.kind) {
    case DFL_LOOKUP_NOTHING: break;
    case DFL_LOOKUP_LATER: return later;
    case DFL_LOOKUP_QUANTITY: return figure_value(eval, found.quantity);
    case DFL_LOOKUP_TEXT: return (value){ .kind = VALUE_TEXT, .text = found.text };
    }
    return none;
}

static value evaluate_negation(evaluator *eval, const dfl_val *expr)
{
    value a = evaluate(eval, expr->args[0]), zero = quantity_value(dfl_quantity_int(0));
    dfl_quantity q = { 0 };

    if (is_unknown(&a))
        return a;
    if (a.kind != VALUE_QUANTITY)
        return report_kind(eval, expr->args[0], "a number");
    zero.quantity.dim = a.quantity.dim;
    return arithmetic_value(eval, expr, dfl_quantity_sub(zero.quantity, a.quantity, &q), q, &a, NULL);
}

static value evaluate(evaluator *eval, const dfl_val *expr)
{
    switch (expr->kind) {
    case DFL_VAL_QUANTITY: return quantity_value(expr->quantity);
    case DFL_VAL_STRING: return (value){ .kind = VALUE_TEXT, .text = dfl_sym_text(eval->results->names, expr->text) };
    case DFL_VAL_PATH: return evaluate_path(eval, expr);
    case DFL_VAL_CALL: return expr->text ? evaluate_function(eval, expr) : evaluate_path(eval, expr);
    case DFL_VAL_NEG: return evaluate_negation(eval, expr);
    case DFL_VAL_ADD:
    case DFL_VAL_SUB:
    case DFL_VAL_MUL:
    case DFL_VAL_DIV: return evaluate_binary(eval, expr);
    case DFL_VAL_LT:
    case DFL_VAL_GT:
    case DFL_VAL_LE:
    case DFL_VAL_GE:
    case DFL_VAL_EQ:
    case DFL_VAL_NE: return evaluate_comparison(eval, expr);
    case DFL_VAL_AND:
    case DFL_VAL_OR: return evaluate_logic(eval, expr);
    }
    return none;
}

/* ---- `exactly` and `within` ---- */

static value settle_comparison(evaluator *eval, bool holds, const dfl_val *expr, const value *left, const value *right)
{
    if (!holds) {
        eval->failed = expr;
        eval->failed_left = *left;
        eval->failed_right = *right;
    }
    return truth_value(holds);
}

/* Evaluates both sides. False if the sides are not quantities of one dimension; *out is then the value of the check. */
static bool evaluate_sides(evaluator *eval, const dfl_val *left, const dfl_val *right, value *a, value *b, value *out)
{
    const dfl_val *sides[2] = { left, right };
    const dfl_val pair = { .kind = DFL_VAL_EQ, .span = left->span, .args = sides, .n_args = 2 };

    if (!evaluate_numbers(eval, &pair, a, b, out))
        return false;
    if (!dfl_dim_equal(a->quantity.dim, b->quantity.dim)) {
        *out = arithmetic_value(eval, left, DFL_ARITH_DIMENSION, a->quantity, a, b);
        return false;
    }
    return true;
}

static value evaluate_exactly(evaluator *eval)
{
    const dfl_check *c = eval->check;
    value a, b, out;
    bool holds;

    if (!evaluate_sides(eval, c->expr, c->exactly, &a, &b, &out))
        return out;
    if (a.quantity.exact && b.quantity.exact)
        holds = a.quantity.integer == b.quantity.integer;
    else
        holds = a.quantity.real == b.quantity.real;
    return settle_comparison(eval, holds, c->expr, &a, &b);
}

static value evaluate_within(evaluator *eval)
{
    const dfl_check *c = eval->check;
    value a, b, out, p;
    double away;

    if (!evaluate_sides(eval, c->expr, c->of, &a, &b, &out))
        return out;
    p = evaluate(eval, c->within);
    if (is_unknown(&p))
        return p;
    if (p.kind != VALUE_QUANTITY)
        return report_kind(eval, c->within, "a number");
    away = fabs(a.quantity.real - b.quantity.real);
    if (dfl_dim_is_none(p.quantity.dim))
        return settle_comparison(eval, away <= p.quantity.real * fabs(b.quantity.real), c->expr, &a, &b);
    if (dfl_dim_equal(p.quantity.dim, a.quantity.dim))
        return settle_comparison(eval, away <= p.quantity.real, c->expr, &a, &b);
    return arithmetic_value(eval, c->within, DFL_ARITH_DIMENSION, p.quantity, &p, &a);
}

/* ---- outcomes ---- */

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

/* The value in base units, with enough digits to read back the same double. */
static const char *all_digits(const evaluator *eval, const value *v)
{
    char digits[32];

    dfl_double_text(v->quantity.real, digits);
    return dfl_arena_copy(dfl_sink_arena(eval->results->sink), digits, strlen(digits));
}

/* Text on a failed comparison: "512 == 500 is false", "is 512, not 500"; NULL if no comparison of values failed. */
static const char *failure_text(const evaluator *eval)
{
    const dfl_check *c = eval->check;
    dfl_arena *arena = dfl_sink_arena(eval->results->sink);
    const char *left = eval->failed ? value_text(eval, &eval->failed_left) : NULL;
    const char *right = eval->failed ? value_text(eval, &eval->failed_right) : NULL;

    if (!left || !right)
        return NULL;
    if (strcmp(left, right) == 0 && eval->failed_left.kind == VALUE_QUANTITY) { /* the short texts are equal: print all digits */
        left = all_digits(eval, &eval->failed_left);
        right = all_digits(eval, &eval->failed_right);
    }
    if (c->within && eval->failed_right.quantity.real != 0) {
        double away = eval->failed_left.quantity.real / eval->failed_right.quantity.real - 1;
        char digits[32];

        dfl_double_text_short(100 * away, 4, digits);
        return dfl_arena_printf(arena, "is %s, %s%s %% away from %s", left, away > 0 ? "+" : "", digits, right);
    }
    if (c->within || c->exactly)
        return dfl_arena_printf(arena, "is %s, not %s", left, right);
    return dfl_arena_printf(arena, "%s %s %s is false", left, sign_of(eval->failed->kind), right);
}

static void report_failure(const evaluator *eval)
{
    const dfl_check *c = eval->check;
    dfl_sink *sink = eval->results->sink;
    dfl_code code = c->kind == DFL_CHECK_REQUIRE ? DFL_EVAL_REQUIRE : DFL_EVAL_EXPECT;
    dfl_diag *d = dfl_report(sink, code, c->span, "`%s` does not hold", c->text ? c->text : "check");
    const char *text = failure_text(eval);

    if (text)
        dfl_diag_here(sink, d, "%s", text);
}

/* The expression that the report shows for a check: the left side of the first comparison. */
static const dfl_val *shown_side(const dfl_val *expr)
{
    while (expr->n_args > 0 && expr->kind >= DFL_VAL_LT)
        expr = expr->args[0];
    return expr;
}

static value evaluate_check(evaluator *eval)
{
    if (eval->check->exactly)
        return evaluate_exactly(eval);
    return eval->check->within ? evaluate_within(eval) : evaluate(eval, eval->check->expr);
}

bool dfl_check_is_violated(const dfl_results *results, const dfl_check *check)
{
    evaluator eval = { .results = results, .check = check };
    value verdict = evaluate_check(&eval);

    return verdict.kind == VALUE_TRUTH && !verdict.truth;
}

const char *dfl_check_violation(const dfl_results *results, const dfl_check *check)
{
    evaluator eval = { .results = results, .check = check };
    value verdict = evaluate_check(&eval);

    return verdict.kind == VALUE_TRUTH && !verdict.truth ? failure_text(&eval) : NULL;
}

bool dfl_check_quantity(const dfl_results *results, dfl_sym scope, const dfl_val *expr, dfl_quantity *out)
{
    const dfl_check check = { .span = expr->span, .expr = expr, .scope = scope };
    evaluator eval = { .results = results, .check = &check };
    value v = evaluate(&eval, expr);

    *out = v.kind == VALUE_QUANTITY ? v.quantity : (dfl_quantity){ 0 };
    /* A type check reports nothing here: the check of the form of an objective covers its kind. */
    if (!is_unknown(&v) && v.kind != VALUE_QUANTITY && !results->is_blank)
        (void)report_kind(&eval, expr, "a number");
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
    evaluator eval = { .results = results, .check = check };
    dfl_check_outcome outcome = { .check = check, .outcome = DFL_OUTCOME_UNKNOWN };
    value verdict = evaluate_check(&eval), shown;

    if (is_unknown(&verdict))
        return outcome;
    if (verdict.kind != VALUE_TRUTH) {
        report_kind(&eval, check->expr, "a comparison");
        return outcome;
    }
    if (results->is_blank)
        return outcome;
    outcome.outcome = verdict.truth ? DFL_OUTCOME_PASSED : DFL_OUTCOME_FAILED;
    if (!verdict.truth)
        report_failure(&eval);
    shown = evaluate(&eval, shown_side(check->expr)); /* reports nothing: the check has a value, so its parts have values, too */
    outcome.value = value_text(&eval, &shown);
    if (shown.kind == VALUE_QUANTITY) {
        outcome.has_number = true;
        outcome.number = shown.quantity.real;
    } else if (shown.kind == VALUE_TEXT) {
        outcome.word = shown.text;
    }
    return outcome;
}
