#include "import/accelforge/expr.h"
#include "support/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const dfl_af_file *file;
    uint32_t einsum;
    const char *text, *end, *at;
    dfl_span span;      /* place of the whole text in the source */
    unsigned depth;
    bool ok;
} parser;

bool dfl_af_truth(const dfl_yaml *at)
{
    return at != NULL && (strcmp(at->text, "True") == 0 || strcmp(at->text, "true") == 0);
}

static dfl_af_value number(double n)
{
    return (dfl_af_value){ .number = n };
}

static dfl_af_value wrong(parser *p, dfl_code code, const char *what)
{
    dfl_span span = p->span;

    if (p->at <= p->end && p->span.end - p->span.start == (uint32_t)(p->end - p->text)) {
        span.start += (uint32_t)(p->at - p->text);
        span.end = span.start;
    }
    if (p->ok)
        dfl_report(p->file->report->sink, code, span, "%s", what);
    p->ok = false;
    p->at = p->end;
    return number(0);
}

static void blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool takes(parser *p, const char *sign)
{
    size_t n = strlen(sign);

    blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, sign, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const parser *p)
{
    size_t n = 0;

    while (p->at + n < p->end && in_name(p->at[n]))
        n++;
    return n;
}

static bool takes_word(parser *p, const char *word)
{
    size_t n;

    blanks(p);
    n = name_length(p);
    if (n != strlen(word) || memcmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* ---- values ---- */

static uint32_t size_of(const dfl_af_set *set)
{
    uint32_t n = 0;

    for (uint32_t w = 0; w < DFL_AF_WORDS; w++)
        n += (uint32_t)__builtin_popcountll(set->word[w]);
    return n;
}

static bool truth(const dfl_af_value *v)
{
    return v->is_set ? size_of(&v->set) > 0 : v->number != 0;
}

/* Whether the value is no set, or a set that depends on no choice of the source's mapper. */
static bool is_certain(const dfl_af_value *v)
{
    return !v->is_set || memcmp(&v->set, &v->most, sizeof v->set) == 0;
}

/* Reports a set that depends on a choice, where the value must be known. */
static bool want_certain(parser *p, const dfl_af_value *v)
{
    if (p->ok && !is_certain(v))
        wrong(p, DFL_FOREIGN_UNSUPPORTED, "this value depends on what the source's mapper keeps in a memory");
    return p->ok;
}

static dfl_af_value set_of(const parser *p, const char *which)
{
    dfl_af_value out = { .is_set = true };
    const dfl_af_einsum *e = &p->file->einsums.at[p->einsum];

    for (uint32_t a = 0; a < e->n_accesses; a++) {
        const dfl_af_tensor *t = &p->file->tensors.at[e->accesses[a].tensor];
        bool in = strcmp(which, "All") == 0 || strcmp(which, "Tensors") == 0 ||
                  (strcmp(which, "Inputs") == 0 && !e->accesses[a].output) ||
                  (strcmp(which, "Outputs") == 0 && e->accesses[a].output) ||
                  (strcmp(which, "Intermediates") == 0 && t->producer != DFL_AF_NONE &&
                   t->n_users > 1) ||
                  (strcmp(which, "Shared") == 0 && t->n_users > 1) ||
                  (strcmp(which, "Persistent") == 0 && t->persistent);

        if (in)
            dfl_af_put(&out.set, e->accesses[a].tensor);
    }
    out.most = out.set;
    return out;
}

/* The tensors that the einsum keeps in the node `n`, or in any node that has been read and lies on the way to the present one
   (DFL_AF_NONE). */
static dfl_af_value kept_in(const parser *p, uint32_t n)
{
    const dfl_af_file *f = p->file;
    dfl_af_value out = { .is_set = true };

    for (uint32_t i = 0; i < f->nodes.n; i++) {
        const dfl_af_node *node = &f->nodes.at[i];

        if ((n != DFL_AF_NONE && n != i) || node->surely == NULL || !dfl_af_is_around(f, node->fork, f->fork))
            continue;
        for (uint32_t w = 0; w < DFL_AF_WORDS; w++) {
            out.set.word[w] |= node->surely[p->einsum].word[w];
            out.most.word[w] |= node->possibly[p->einsum].word[w];
        }
    }
    return out;
}

static bool is_set_name(const char *name)
{
    static const char *const names[] = { "All", "Tensors", "Nothing", "Inputs", "Outputs", "Intermediates", "Shared",
                                         "Persistent" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* The source of a name in a list of maps with `name` and `source`; NULL = none. */
static const dfl_yaml *source_of(const dfl_yaml *list, const char *name)
{
    const dfl_yaml *out = NULL;

    for (uint32_t k = 0; list != NULL && list->kind == DFL_YAML_LIST && k < list->n; k++) {
        const dfl_yaml *called = dfl_yaml_get(&list->items[k], "name");

        if (called != NULL && strcmp(called->text, name) == 0)
            out = dfl_yaml_get(&list->items[k], "source");
    }
    return out;
}

/* The source of a rename: of the einsum itself, else of the specification for this einsum, else for all einsums. */
static const dfl_yaml *rename_of(const dfl_af_file *f, uint32_t einsum, const char *name)
{
    const dfl_af_einsum *e = &f->einsums.at[einsum];
    const dfl_yaml *all = dfl_yaml_get(f->renames, "einsums"), *own = dfl_yaml_get(e->renames, name);
    const char *const whose[] = { e->name, "default" };

    own = own != NULL ? own : source_of(e->renames, name);
    for (int k = 0; own == NULL && k < 2; k++) {
        for (uint32_t i = 0; own == NULL && all != NULL && all->kind == DFL_YAML_LIST && i < all->n; i++) {
            const dfl_yaml *of = dfl_yaml_get(&all->items[i], "name");

            if (of != NULL && strcmp(of->text, whose[k]) == 0)
                own = source_of(dfl_yaml_get(&all->items[i], "tensor_accesses"), name);
        }
    }
    return own;
}

bool dfl_af_has_rename(const dfl_af_file *f, uint32_t einsum, const char *name)
{
    return rename_of(f, einsum, name) != NULL;
}

static dfl_af_value expression(parser *p);

static dfl_af_value elsewhere(parser *p, const dfl_yaml *at)
{
    parser inner = { .file = p->file, .einsum = p->einsum, .text = at->text, .end = at->text + strlen(at->text),
                     .at = at->text, .span = at->span, .depth = p->depth + 1, .ok = true };
    dfl_budget *budget = dfl_arena_budget(p->file->report->arena);
    dfl_af_value out;

    /* charged to the budget: chains of renames can take exponential time */
    if (at->kind != DFL_YAML_SCALAR || (budget != NULL && !dfl_budget_spend(budget, 16)))
        return wrong(p, DFL_FOREIGN_SYNTAX, "this name has no expression");
    out = expression(&inner);
    blanks(&inner);
    if (inner.ok && inner.at < inner.end)
        wrong(&inner, DFL_FOREIGN_SYNTAX, "unexpected text after the expression");
    if (!inner.ok) {
        p->ok = false;
        p->at = p->end;
    }
    return out;
}

static dfl_af_value name_value(parser *p, const char *name)
{
    const dfl_yaml *variable = dfl_yaml_get(p->file->variables, name);
    const dfl_yaml *of_arch = dfl_yaml_get(dfl_yaml_get(p->file->arch, "variables"), name);
    const dfl_yaml *sibling = dfl_yaml_get(dfl_yaml_get(p->file->workload, "rank_sizes"), name);
    uint32_t tensor = dfl_af_find_tensor(p->file, name);
    uint32_t node = dfl_af_find_node(p->file, name);
    const dfl_yaml *rename = p->einsum != DFL_AF_NONE ? rename_of(p->file, p->einsum, name) : NULL;
    dfl_af_value out = { .is_set = true };

    if (strcmp(name, "inf") == 0)
        return number(INFINITY);
    if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0)
        return number(name[0] == 'T');
    if (p->einsum != DFL_AF_NONE && is_set_name(name))
        return set_of(p, name);
    if (rename != NULL)
        return elsewhere(p, rename);
    if (p->einsum != DFL_AF_NONE && tensor != DFL_AF_NONE) {
        if (dfl_af_access_of(&p->file->einsums.at[p->einsum], tensor) != NULL)
            dfl_af_put(&out.set, tensor);
        out.most = out.set;
        return out;
    }
    if (of_arch != NULL || variable != NULL)
        return elsewhere(p, of_arch != NULL ? of_arch : variable);
    if (p->einsum == DFL_AF_NONE && sibling != NULL)
        return elsewhere(p, sibling);
    if (p->einsum != DFL_AF_NONE && strcmp(name, "Above") == 0)
        return kept_in(p, DFL_AF_NONE);
    if (p->einsum != DFL_AF_NONE && node != DFL_AF_NONE && p->file->nodes.at[node].surely != NULL)
        return kept_in(p, node);
    p->at -= strlen(name);
    return wrong(p, DFL_FOREIGN_UNKNOWN_NAME,
                 dfl_arena_printf(p->file->report->arena, "`%s` names no variable and no tensor here", name));
}

/* ---- syntax ---- */

typedef enum { ALL_OF, LEAST, MOST } folding;

static dfl_af_value folded(parser *p, folding how)
{
    dfl_af_value v = expression(p);
    double out = v.number;

    for (bool sets = v.is_set; p->ok; sets = v.is_set) {
        if (sets)
            return wrong(p, DFL_FOREIGN_UNSUPPORTED, "expected a number, found a set");
        if (!takes(p, ","))
            break;
        v = expression(p);
        out = how == ALL_OF ? out + v.number : how == LEAST ? fmin(out, v.number) : fmax(out, v.number);
    }
    return number(out);
}

static dfl_af_value call(parser *p, const char *name)
{
    dfl_af_value v;

    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "sum") == 0) {
        v = folded(p, name[0] == 's' ? ALL_OF : name[1] == 'i' ? LEAST : MOST);
    } else {
        v = expression(p);
        if (strcmp(name, "len") == 0 && v.is_set)
            v = number(want_certain(p, &v) ? size_of(&v.set) : 0);
        else if (v.is_set)
            v = wrong(p, DFL_FOREIGN_UNSUPPORTED, "expected a number, found a set");
        else if (strcmp(name, "ceil") == 0)
            v = number(ceil(v.number));
        else if (strcmp(name, "floor") == 0 || strcmp(name, "int") == 0)
            v = number(floor(v.number));
        else if (strcmp(name, "log2") == 0)
            v = number(log2(v.number));
        else if (strcmp(name, "sqrt") == 0)
            v = number(sqrt(v.number));
        else
            v = wrong(p, DFL_FOREIGN_UNKNOWN_NAME,
                      dfl_arena_printf(p->file->report->arena, "there is no function `%s`", name));
    }
    if (p->ok && !takes(p, ")"))
        return wrong(p, DFL_FOREIGN_SYNTAX, "a `)` is missing");
    return v;
}

/* The common width of the tensors in a set; reports if they differ. */
static dfl_af_value width(parser *p, const dfl_af_value *v)
{
    int64_t bits = 0;

    for (uint32_t t = 0; t < p->file->tensors.n; t++) {
        if (!v->is_set || !dfl_af_has(&v->set, t))
            continue;
        if (bits != 0 && p->file->tensors.at[t].bits != bits)
            return wrong(p, DFL_FOREIGN_UNSUPPORTED, "the tensors of this set differ in width");
        bits = p->file->tensors.at[t].bits;
    }
    return number((double)bits);
}

static dfl_af_value atom(parser *p)
{
    dfl_af_value v;
    size_t n;

    blanks(p);
    if (takes(p, "(")) {
        v = expression(p);
        if (p->ok && !takes(p, ")"))
            return wrong(p, DFL_FOREIGN_SYNTAX, "a `)` is missing");
    } else if (p->at < p->end && ((*p->at >= '0' && *p->at <= '9') || *p->at == '.')) {
        char *end;

        v = number(strtod(p->at, &end)); /* strtod stops at the end of the text: no digit follows it */
        if (end == p->at || end > p->end)
            return wrong(p, DFL_FOREIGN_SYNTAX, "this is not a number");
        p->at = end;
    } else if ((n = name_length(p)) > 0) {
        const char *name = dfl_arena_copy(p->file->report->arena, p->at, n);

        p->at += n;
        v = takes(p, "(") ? call(p, name) : name_value(p, name);
    } else {
        return wrong(p, DFL_FOREIGN_SYNTAX, "an expression is missing or has an unknown form");
    }
    while (p->ok && p->at < p->end && *p->at == '.') {
        p->at++;
        if (v.is_set && takes_word(p, "tensors"))
            continue;
        if (!want_certain(p, &v) || !takes_word(p, "bits_per_value"))
            return wrong(p, DFL_FOREIGN_UNSUPPORTED, "this attribute is not supported");
        v = width(p, &v);
    }
    return v;
}

static dfl_af_value unary(parser *p)
{
    dfl_af_value v;

    if (++p->depth > DFL_IMPORT_EXPRESSION_DEPTH)
        return wrong(p, DFL_FOREIGN_UNSUPPORTED, "the expression is nested too deep, or depends on itself");
    if (takes(p, "-")) {
        v = unary(p);
        v.number = -v.number;
    } else if (takes(p, "+")) {
        v = unary(p);
    } else if (takes(p, "~")) {
        v = unary(p);
        if (p->ok && (!v.is_set || p->einsum == DFL_AF_NONE))
            return wrong(p, DFL_FOREIGN_SYNTAX, "`~` needs a set, and this value is none");
        dfl_af_value all = p->ok ? set_of(p, "All") : v;
        for (uint32_t w = 0; w < DFL_AF_WORDS; w++) {
            uint64_t least = v.set.word[w];

            v.set.word[w] = all.set.word[w] & ~v.most.word[w];
            v.most.word[w] = all.set.word[w] & ~least;
        }
    } else {
        v = atom(p);
        blanks(p);
        if (p->ok && p->end - p->at > 1 && p->at[0] == '*' && p->at[1] == '*') {
            p->at += 2;
            v = number(pow(v.number, unary(p).number));
        }
    }
    p->depth--;
    return v;
}

/* Precedence of the next operator, as in Python; 0 = no operator. */
static int operator_at(parser *p, char *sign)
{
    static const char *const by_strength[] = { "|", "^", "&", "+-", "*/%" };

    blanks(p);
    *sign = p->at < p->end ? *p->at : '\0';
    for (int i = 0; *sign != '\0' && i < 5; i++) {
        if (strchr(by_strength[i], *sign) != NULL)
            return i + 1;
    }
    return 0;
}

/* Word `w` of the bounds of a set operation: the operations grow with the left set, and `-` and `^` shrink with the other one. */
static void combine_sets(char sign, const dfl_af_value *a, const dfl_af_value *b, uint32_t w, dfl_af_value *out)
{
    uint64_t x = a->set.word[w], y = b->set.word[w], x_most = a->most.word[w], y_most = b->most.word[w];

    out->set.word[w] = sign == '|' ? x | y : sign == '&' ? x & y : sign == '^' ? (x & ~y_most) | (y & ~x_most) : x & ~y_most;
    out->most.word[w] = sign == '|' ? x_most | y_most : sign == '&' ? x_most & y_most :
                        sign == '^' ? (x_most & ~y) | (y_most & ~x) : x_most & ~y;
}

static dfl_af_value combine(parser *p, char sign, bool whole, const dfl_af_value *a, const dfl_af_value *b)
{
    dfl_af_value out = { .is_set = a->is_set };

    if (a->is_set != b->is_set)
        return wrong(p, DFL_FOREIGN_SYNTAX, "an operation cannot combine a set with a number");
    if (out.is_set && strchr("|&^-", sign) == NULL)
        return wrong(p, DFL_FOREIGN_SYNTAX, "sets do not have this operation");
    for (uint32_t w = 0; out.is_set && w < DFL_AF_WORDS; w++)
        combine_sets(sign, a, b, w, &out);
    if (out.is_set)
        return out;
    switch (sign) {
    case '+': return number(a->number + b->number);
    case '-': return number(a->number - b->number);
    case '*': return number(a->number * b->number);
    case '/': return number(whole ? floor(a->number / b->number) : a->number / b->number);
    case '%': return number(a->number - b->number * floor(a->number / b->number));
    default: return wrong(p, DFL_FOREIGN_SYNTAX, "numbers do not have this operation");
    }
}

static dfl_af_value binary(parser *p, int least)
{
    dfl_af_value left = unary(p);
    char sign;
    int strength;

    while (p->ok && (strength = operator_at(p, &sign)) >= least && strength > 0) {
        bool whole;
        dfl_af_value right;

        p->at++;
        whole = sign == '/' && p->at < p->end && *p->at == '/';
        p->at += whole;
        right = binary(p, strength + 1);
        if (p->ok)
            left = combine(p, sign, whole, &left, &right);
    }
    return left;
}

static dfl_af_value comparison(parser *p)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">" };
    dfl_af_value left = binary(p, 1);

    for (size_t i = 0; p->ok && i < sizeof signs / sizeof signs[0]; i++) {
        dfl_af_value right;
        double a, b;

        if (!takes(p, signs[i]))
            continue;
        right = binary(p, 1);
        if (left.is_set || right.is_set)
            return wrong(p, DFL_FOREIGN_UNSUPPORTED, "sets cannot be compared");
        a = left.number;
        b = right.number;
        return number(i == 0 ? a == b : i == 1 ? a != b : i == 2 ? a <= b : i == 3 ? a >= b : i == 4 ? a < b : a > b);
    }
    return left;
}

static dfl_af_value negation(parser *p)
{
    bool negate = false;
    dfl_af_value v;

    while (takes_word(p, "not"))
        negate = !negate;
    v = comparison(p);
    if (negate && !want_certain(p, &v))
        return number(0);
    return negate ? number(!truth(&v)) : v;
}

static dfl_af_value logical(parser *p)
{
    dfl_af_value left = negation(p);

    while (p->ok) {
        bool both = takes_word(p, "and");
        dfl_af_value right;

        if (!both && !takes_word(p, "or"))
            break;
        right = negation(p);
        if (want_certain(p, &left) && both == truth(&left))
            left = right;
    }
    return left;
}

/* Both branches of a conditional are evaluated: an expression has no effects. */
static dfl_af_value expression(parser *p)
{
    dfl_af_value yes, condition, no;

    if (++p->depth > DFL_IMPORT_EXPRESSION_DEPTH)
        return wrong(p, DFL_FOREIGN_UNSUPPORTED, "the expression is nested too deep, or depends on itself");
    yes = logical(p);
    if (p->ok && takes_word(p, "if")) {
        condition = logical(p);
        if (p->ok && !takes_word(p, "else"))
            return wrong(p, DFL_FOREIGN_SYNTAX, "an `else` is missing");
        no = expression(p);
        yes = want_certain(p, &condition) && truth(&condition) ? yes : no;
    }
    p->depth--;
    return yes;
}

bool dfl_af_eval_text(const dfl_af_file *f, uint32_t einsum, const char *text, size_t len, dfl_span span,
                      dfl_af_value *out)
{
    parser p = { .file = f, .einsum = einsum, .text = text, .end = text + len, .at = text, .span = span, .ok = true };

    *out = expression(&p);
    blanks(&p);
    if (p.ok && p.at < p.end)
        wrong(&p, DFL_FOREIGN_SYNTAX, "unexpected text after the expression");
    return p.ok;
}

bool dfl_af_eval(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_value *out)
{
    if (at->kind != DFL_YAML_SCALAR) {
        dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, at->span, "expected an expression");
        return false;
    }
    return dfl_af_eval_text(f, einsum, at->text, strlen(at->text), at->span, out);
}

bool dfl_af_number(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, double fallback, double *out)
{
    dfl_af_value v;

    *out = fallback;
    if (at == NULL)
        return true;
    if (!dfl_af_eval(f, einsum, at, &v))
        return false;
    if (v.is_set || isnan(v.number)) {
        dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, at->span, "expected a number");
        return false;
    }
    *out = v.number;
    return true;
}

bool dfl_af_count(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, int64_t least, int64_t fallback,
                  int64_t *out)
{
    double n;

    *out = fallback;
    if (!dfl_af_number(f, einsum, at, (double)fallback, &n))
        return false;
    if (at == NULL)
        return true;
    if (n < (double)least || n > 9007199254740992.0 || n != floor(n)) {
        dfl_report(f->report->sink, DFL_FOREIGN_RANGE, at->span, "expected a whole number from %lld to 2^53",
                   (long long)least);
        return false;
    }
    *out = (int64_t)n;
    return true;
}

bool dfl_af_tensor_bounds(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *least, dfl_af_set *most)
{
    dfl_af_value v;

    *least = *most = (dfl_af_set){ { 0 } };
    if (!dfl_af_eval(f, einsum, at, &v))
        return false;
    if (!v.is_set) {
        dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, at->span, "expected a set of tensors");
        return false;
    }
    *least = v.set;
    *most = v.most;
    return true;
}

bool dfl_af_tensors(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *out)
{
    dfl_af_set most;

    if (!dfl_af_tensor_bounds(f, einsum, at, out, &most))
        return false;
    if (memcmp(out, &most, sizeof most) != 0) {
        dfl_report(f->report->sink, DFL_FOREIGN_UNSUPPORTED, at->span,
                   "this set depends on what the source's mapper keeps in a memory");
        return false;
    }
    return true;
}
