/* Looks up paths name by name, and evaluates the calls on paths. */
#include "report/check/figure_lookup.h"

#include <string.h>

#include "report/check/path_tree.h"

typedef struct {
    dfl_node_list list;  /* the nodes below the present node */
    const dfl_results *results;
    const dfl_val *val;  /* the path or call */
    dfl_sym scope;       /* the mapping or workload that `val` stands in, 0 = the file */
} lookup;

static const dfl_lookup_result not_found = { .kind = DFL_LOOKUP_NOTHING };
static const dfl_lookup_result later = { .kind = DFL_LOOKUP_LATER };

static const char *text_of(const lookup *l, dfl_sym sym)
{
    return dfl_sym_text(l->results->names, sym);
}

/* Segments `from` to `to` - 1 of a path, joined by dots. */
static const char *join_segments(const lookup *l, const dfl_val *path, uint32_t from, uint32_t to)
{
    dfl_strbuf text;

    dfl_strbuf_init(&text, l->list.arena);
    for (uint32_t i = from; i < to; i++)
        dfl_strbuf_printf(&text, "%s%s", i > from ? "." : "", text_of(l, path->path[i]));
    return text.text;
}

/* The entry of the list called `name`; NULL = none. */
static const dfl_node_entry *find_exact(const lookup *l, const char *name)
{
    for (size_t i = 0; i < l->list.entries.n; i++)
        if (strcmp(l->list.entries.at[i].name, name) == 0)
            return &l->list.entries.at[i];
    return NULL;
}

/* The first entry of the list whose last dotted parts are `name`; `*n` is the number of such entries. */
static const dfl_node_entry *find_by_ending(const lookup *l, const char *name, size_t *n)
{
    size_t len = strlen(name);
    const dfl_node_entry *first = NULL;

    *n = 0;
    for (size_t i = 0; i < l->list.entries.n; i++) {
        const char *text = l->list.entries.at[i].name;
        size_t text_len = strlen(text);

        if (text_len > len && text[text_len - len - 1] == '.' && strcmp(text + text_len - len, name) == 0) {
            if (!first)
                first = &l->list.entries.at[i];
            (*n)++;
        }
    }
    return first;
}

typedef enum { STEP_FOUND, STEP_NONE, STEP_AMBIGUOUS } step_result;

/* Moves *node one level down: finds the longest run of segments that is one name, and moves *at after these segments. */
static step_result step_down(lookup *l, const dfl_val *path, dfl_node *node, uint32_t *at)
{
    if (node->kind == DFL_NODE_ROOT) { /* names of declarations have no dots, so the name is one segment */
        if (!dfl_node_root(l->results, path->path[*at], node))
            return STEP_NONE;
        ++*at;
        return STEP_FOUND;
    }
    dfl_node_children(&l->list, node);
    for (uint32_t to = path->n_path; to > *at; to--) {
        const dfl_node_entry *entry = find_exact(l, join_segments(l, path, *at, to));

        if (entry) {
            *node = entry->node;
            *at = to;
            return STEP_FOUND;
        }
    }
    for (uint32_t to = path->n_path; to > *at; to--) {
        size_t n;
        const dfl_node_entry *entry = find_by_ending(l, join_segments(l, path, *at, to), &n);

        if (n > 1)
            return STEP_AMBIGUOUS;
        if (entry) {
            *node = entry->node;
            *at = to;
            return STEP_FOUND;
        }
    }
    return STEP_NONE;
}

/* The name of the list that is nearest to `word` by edits; NULL = none is near. */
static const char *nearest(const lookup *l, const char *word)
{
    dfl_intern *names = dfl_intern_new(l->list.arena);
    size_t n = l->list.entries.n;
    dfl_sym *all = DFL_NEW_ARRAY(l->list.arena, dfl_sym, n + 1);
    dfl_sym best;

    for (size_t i = 0; i < n; i++)
        all[i] = dfl_intern_z(names, l->list.entries.at[i].name);
    best = dfl_suggest(names, word, all, n);
    return best ? dfl_sym_text(names, best) : NULL;
}

/* The template that a path starts with; NULL = it starts with no template. */
static const dfl_template *find_template(const lookup *l, const dfl_val *path)
{
    const dfl_program *p = l->results->program;

    for (uint32_t i = 0; p && i < p->n_templates; i++)
        if (p->templates[i].name == path->path[0])
            return &p->templates[i];
    return NULL;
}

/* Whether the first name of a path may get figures later: in a type check, if the name is a template or may be a
   declaration with errors. */
static bool may_have_figures_later(const lookup *l, const dfl_val *path)
{
    return l->results->is_blank && (find_template(l, path) || l->results->has_errors);
}

/* Names of figures in other tools, and how they are written here. */
static const char *figure_of(const char *word)
{
    static const struct { const char *word, *figure; } all[] = {
        { "edp", "energy * latency" }, { "EDP", "energy * latency" }, { "delay", "latency" },   { "time", "latency" },
        { "runtime", "latency" },      { "duration", "latency" },     { "seconds", "latency" }, { "cycles", "latency.cycles" },
        { "occupancy", "peak" },       { "usage", "peak" },           { "traffic", "reads" },   { "accesses", "reads" },
        { "joules", "energy" },        { "watts", "power" },          { "util", "utilization" },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].word, word) == 0)
            return all[i].figure;
    return NULL;
}

enum { MOST_LISTED = 24 }; /* names of parts and figures that a help lists: two or three lines of text */

/* The names of the list, separated by commas. */
static const char *list_children(const lookup *l)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, dfl_sink_arena(l->results->sink));
    for (size_t i = 0; i < l->list.entries.n; i++)
        dfl_strbuf_printf(&out, "%s`%s`", i > 0 ? ", " : "", l->list.entries.at[i].name);
    return out.text;
}

/* The place of segment `at` of a path; the whole place if the path is not written as its names joined by dots. */
static dfl_span segment_span(lookup *l, const dfl_val *path, uint32_t at)
{
    const size_t before = at > 0 ? strlen(join_segments(l, path, 0, at)) + 1 : 0;
    const size_t len = strlen(text_of(l, path->path[at]));

    if (path->kind != DFL_VAL_PATH || strlen(join_segments(l, path, 0, path->n_path)) != path->span.end - path->span.start)
        return path->span;
    return (dfl_span){ path->span.start + (uint32_t)before, path->span.start + (uint32_t)(before + len) };
}

/* Reports that the node `from` has no child with the name of segment `at`. */
static void report_unknown(lookup *l, const dfl_val *path, const dfl_node *from, uint32_t at)
{
    const char *word = text_of(l, path->path[at]), *near;
    const dfl_span span = segment_span(l, path, at);
    dfl_diag *d;

    if (at == 0 && find_template(l, path)) {
        dfl_report_template(l->results, find_template(l, path), path->span);
        return;
    }
    if (at == 0 && from->kind != DFL_NODE_ROOT)
        d = dfl_report(l->results->sink, DFL_EVAL_NO_PATH, span,
                       "`%s` is no figure of `%s`, and names no mapping, workload or system", word, text_of(l, l->scope));
    else if (at == 0)
        d = dfl_report(l->results->sink, DFL_EVAL_NO_PATH, span, "`%s` names no mapping, workload or system",
                       word);
    else
        d = dfl_report(l->results->sink, DFL_EVAL_NO_PATH, span, "`%s` has no `%s`",
                       join_segments(l, path, 0, at), word);
    dfl_node_children(&l->list, from);
    near = figure_of(word) ? figure_of(word) : nearest(l, word);
    if (near && strchr(near, '*') && path->n_path > 1)
        dfl_diag_help(l->results->sink, d, "write a product of figures, as in `energy * latency`");
    else if (near && span.end - span.start == strlen(word))
        dfl_diag_fix(l->results->sink, d, span, near, DFL_FIX_MAYBE);
    else if (near)
        dfl_diag_help(l->results->sink, d, "did you mean `%s`?", near);
    else if (at > 0 && l->list.entries.n > 0 && l->list.entries.n <= MOST_LISTED)
        dfl_diag_help(l->results->sink, d, "`%s` has %s", join_segments(l, path, 0, at), list_children(l));
    else
        dfl_diag_help(l->results->sink, d, "paths follow the keys of the report: `dflc eval --format json` shows them");
}

static dfl_node root_node(void)
{
    return (dfl_node){ .kind = DFL_NODE_ROOT };
}

/* The node of the mapping or workload that contains the check; paths may omit its name. ROOT for a check outside of
   mappings and workloads. */
static dfl_node scope_node(lookup *l)
{
    dfl_node node;

    return l->scope && dfl_node_root(l->results, l->scope, &node) ? node : root_node();
}

/* Resolves the first name of a path as a part of a system whose name the path omits. True if exactly one system has such a
   part. */
static bool step_into_system(lookup *l, const dfl_val *path, dfl_node *node, uint32_t *at)
{
    const dfl_program *p = l->results->program;
    uint32_t found = 0;

    for (uint32_t i = 0; p && i < p->n_systems; i++) {
        dfl_node candidate = { .kind = DFL_NODE_PLACE, .place = { .scope = DFL_SCOPE_SYSTEM, .results = l->results,
                                                                  .system = p->systems[i] } };
        uint32_t here = 0;

        if (step_down(l, path, &candidate, &here) != STEP_FOUND)
            continue;
        if (found++ == 0) {
            *node = candidate;
            *at = here;
        }
    }
    return found == 1;
}

/* Finds the node that the first `n` segments of a path name; false after reporting. A node of kind LATER ends the walk early. */
static bool walk_path(lookup *l, const dfl_val *path, uint32_t n, dfl_node *node)
{
    dfl_val part = *path;
    dfl_node scope = scope_node(l), from = scope;
    uint32_t at = 0;
    step_result result;

    part.n_path = n;
    result = step_down(l, &part, &from, &at);
    if (result == STEP_NONE && scope.kind != DFL_NODE_ROOT) {
        from = root_node();
        result = step_down(l, &part, &from, &at);
    }
    if (result == STEP_NONE && step_into_system(l, &part, &from, &at))
        result = STEP_FOUND;
    if (result == STEP_NONE && scope.kind == DFL_NODE_LATER) {
        *node = scope;
        return true;
    }
    if (result == STEP_NONE && may_have_figures_later(l, path)) {
        *node = (dfl_node){ .kind = DFL_NODE_LATER };
        return true;
    }
    *node = from;
    while (result == STEP_FOUND && at < n && node->kind != DFL_NODE_LATER) {
        from = *node;
        result = step_down(l, &part, node, &at);
    }
    if (result == STEP_AMBIGUOUS) {
        dfl_diag *d = dfl_report(l->results->sink, DFL_NAME_AMBIGUOUS, path->span, "`%s` is ambiguous",
                                 join_segments(l, &part, at, at + 1));
        dfl_diag_help(l->results->sink, d, "write the full name of the part");
        return false;
    }
    if (result == STEP_NONE) {
        report_unknown(l, &part, at == 0 ? &scope : &from, at);
        return false;
    }
    return true;
}

/* Converts a value of a figure in the state GIVEN or UNDECLARED into a quantity or a text. */
static dfl_lookup_result given_value(const dfl_figure *figure, const dfl_figure_value *value)
{
    dfl_dim dim = dfl_measure_dim(figure->measure);
    dfl_lookup_result found = { .kind = DFL_LOOKUP_QUANTITY };

    if (figure->kind == DFL_FIGURE_TEXT)
        return (dfl_lookup_result){ .kind = DFL_LOOKUP_TEXT, .text = value->text ? value->text : "" };
    if (figure->kind == DFL_FIGURE_COUNT) {
        found.quantity = dfl_quantity_int(value->count);
        found.quantity.dim = dim;
    } else {
        found.quantity = dfl_quantity_real(value->real, dim);
    }
    return found;
}

/* The value of a figure at a place; reports a figure without a value. */
static dfl_lookup_result figure_value(lookup *l, const dfl_figure *figure, const dfl_figure_place *at)
{
    dfl_sink *sink = l->results->sink;
    const char *path = join_segments(l, l->val, 0, l->val->n_path);
    const dfl_figure_value value = dfl_figure_get(figure, at);
    dfl_diag *d;

    switch (value.state) {
    case DFL_VALUE_GIVEN:
    case DFL_VALUE_UNDECLARED: return given_value(figure, &value);
    case DFL_VALUE_NONE: break;
    case DFL_VALUE_OVERFLOW:
        dfl_report(sink, DFL_EVAL_OVERFLOW, l->val->span, "`%s` is beyond 128 bits", path);
        break;
    case DFL_VALUE_UNCOUNTED:
        if (l->results->is_blank)
            return later;
        d = dfl_report(sink, DFL_EVAL_UNSUPPORTED, l->val->span,
                       "`%s` of a workload with `where` over long ranks is not counted", path);
        dfl_diag_help(sink, d, "use the operations of a mapping of this workload");
        break;
    }
    return not_found;
}

/* The first child of a node that is no figure of kind TEXT; NULL = none. Serves as an example in a help line. */
static const char *example_below(lookup *l, const dfl_node *node)
{
    dfl_node_children(&l->list, node);
    for (size_t i = 0; i < l->list.entries.n; i++) {
        const dfl_node *child = &l->list.entries.at[i].node;

        if (child->kind != DFL_NODE_FIGURE || child->figure->kind != DFL_FIGURE_TEXT)
            return l->list.entries.at[i].name;
    }
    return NULL;
}

static dfl_lookup_result value_of(lookup *l, const dfl_node *node)
{
    const dfl_figure *figure = node->kind == DFL_NODE_FIGURE ? node->figure : NULL;
    const char *path, *example;
    dfl_diag *d;

    if (node->kind == DFL_NODE_LATER)
        return later;
    if (node->kind == DFL_NODE_PLACE)
        figure = dfl_figure_obvious(node->place.scope);
    if (figure)
        return figure_value(l, figure, &node->place);
    path = join_segments(l, l->val, 0, l->val->n_path);
    d = dfl_report(l->results->sink, DFL_EVAL_NO_PATH, l->val->span, "`%s` is a part, not a figure", path);
    example = example_below(l, node);
    if (example)
        dfl_diag_help(l->results->sink, d, "name one of its figures, such as `%s.%s`", path, example);
    return not_found;
}

/* ---- calls on a path ---- */

/* Reports a call without the name of a result. */
static dfl_lookup_result report_call(lookup *l, const char *help)
{
    dfl_diag *d = dfl_report(l->results->sink, DFL_EVAL_NO_PATH, l->val->span, "`%s(...)` names no result",
                             join_segments(l, l->val, 0, l->val->n_path));

    dfl_diag_help(l->results->sink, d, "%s", help);
    return not_found;
}

/* Operations per second of the fastest unit for a data type, over all instances of the unit. A MAC is two operations. */
static dfl_lookup_result peak_of_system(lookup *l, const dfl_system *s, dfl_sym type)
{
    dfl_dim dim = dfl_dim_ratio(DFL_BASE_OPS, DFL_BASE_TIME);
    double best = -1;

    for (uint32_t i = 0; i < s->n_computes; i++) {
        const dfl_compute *u = &s->computes[i];
        dfl_i128 instances;

        if (dfl_element_instances(s, u->element, &instances))
            return report_call(l, "the system has more instances than 128 bits count");
        for (uint32_t k = 0; k < u->n_rates; k++) {
            const dfl_rate *r = &u->rates[k];
            double rate = dfl_i128_double(instances) * r->rate;

            if (r->type != 0 && r->type != type)
                continue;
            if (strcmp(text_of(l, r->op), "mac") == 0)
                rate *= 2;
            best = rate > best ? rate : best;
        }
    }
    if (best < 0)
        return report_call(l, "no unit of the system has a rate for this data type");
    return (dfl_lookup_result){ .kind = DFL_LOOKUP_QUANTITY, .quantity = dfl_quantity_real(best, dim) };
}

/* Whether `word` equals a name or the last dotted parts of the name. */
static bool is_name(const lookup *l, dfl_sym name, const char *word)
{
    const char *text = text_of(l, name);
    size_t len = strlen(text), word_len = strlen(word);

    return strcmp(text, word) == 0 ||
           (len > word_len && text[len - word_len - 1] == '.' && strcmp(text + len - word_len, word) == 0);
}

/* Counts the instances of the unit, axis or element `word` in the whole system; false on overflow, or if the system has no
   part called `word`. */
static bool count_instances(const lookup *l, const dfl_system *s, const char *word, dfl_i128 *out)
{
    for (uint32_t i = 0; i < s->n_computes; i++)
        if (is_name(l, s->computes[i].name, word))
            return !dfl_element_instances(s, s->computes[i].element, out);
    for (uint32_t i = 0; i < s->n_axes; i++)
        if (is_name(l, s->axes[i].name, word))
            return !dfl_element_instances(s, s->axes[i].element, out);
    for (uint32_t i = 0; i < s->n_elements; i++)
        if (s->elements[i].name && is_name(l, s->elements[i].name, word))
            return !dfl_element_instances(s, i, out);
    return false;
}

/* Operations per second that one instance of the part `word` reaches. A MAC is two operations. */
static dfl_lookup_result reached_rate(lookup *l, const dfl_node *node, const char *word)
{
    const dfl_result *r = node->place.item->result;
    dfl_i128 instances;
    double total;

    if (!count_instances(l, node->place.system, word, &instances))
        return report_call(l, "give a compute unit, an axis or an element of the system");
    if (!(r->seconds > 0))
        return report_call(l, "the mapping takes no time");
    total = 2 * dfl_i128_double(r->macs) + dfl_i128_double(r->flops);
    return (dfl_lookup_result){ .kind = DFL_LOOKUP_QUANTITY,
                        .quantity = dfl_quantity_real(total / r->seconds / dfl_i128_double(instances),
                                                      dfl_dim_ratio(DFL_BASE_OPS, DFL_BASE_TIME)) };
}

/* Bits of the figure `peak` of the memory that the argument names. */
static dfl_lookup_result peak_of_memory(lookup *l, const dfl_node *node, const dfl_val *arg)
{
    const dfl_figure *memories = dfl_figure_find(DFL_SCOPE_MAPPING, "memories");
    dfl_node memory = { .kind = DFL_NODE_LIST, .place = node->place, .figure = memories };
    uint32_t at = 0;

    if (step_down(l, arg, &memory, &at) != STEP_FOUND || at != arg->n_path) {
        const char *near = at == 0 ? nearest(l, join_segments(l, arg, 0, arg->n_path)) : NULL;

        return report_call(l, near ? dfl_arena_printf(l->list.arena, "`peak` takes a memory; did you mean `%s`?", near)
                                : "`peak` takes a memory of the mapping's system");
    }
    return figure_value(l, dfl_figure_find(DFL_SCOPE_MEMORY, "peak"), &memory.place);
}

/* The value of a call whose argument is a path. */
static dfl_lookup_result evaluate_call(lookup *l)
{
    const dfl_val *v = l->val, *arg = v->n_args == 1 ? v->args[0] : NULL;
    const char *name = text_of(l, v->path[v->n_path - 1]), *word;
    dfl_node node;

    if (!arg || arg->kind != DFL_VAL_PATH || arg->n_path == 0)
        return report_call(l, "the calls are `peak(MEMORY)` and `flops(PART)` on a mapping, `peak(TYPE)` on a system");
    if (v->n_path > 1) {
        if (!walk_path(l, v, v->n_path - 1, &node))
            return not_found;
    } else {
        node = scope_node(l);
    }
    if (node.kind == DFL_NODE_LATER)
        return later;
    word = join_segments(l, arg, 0, arg->n_path);
    if (dfl_node_is_place(&node, DFL_SCOPE_SYSTEM) && strcmp(name, "peak") == 0)
        return peak_of_system(l, node.place.system, arg->path[arg->n_path - 1]);
    if (dfl_node_is_place(&node, DFL_SCOPE_MAPPING) && strcmp(name, "peak") == 0)
        return peak_of_memory(l, &node, arg);
    if (dfl_node_is_place(&node, DFL_SCOPE_MAPPING) && strcmp(name, "flops") == 0)
        return reached_rate(l, &node, word);
    return report_call(l, "the calls are `peak(MEMORY)` and `flops(PART)` on a mapping, `peak(TYPE)` on a system");
}

dfl_lookup_result dfl_lookup(const dfl_results *results, dfl_sym scope, const dfl_val *val)
{
    /* Node lists of large workloads are large, so a temporary arena holds them. Texts of values lie in the arena of the
       results. */
    dfl_arena *scratch = dfl_arena_new(dfl_arena_budget(dfl_sink_arena(results->sink)));
    lookup l = { .list = { .results = results, .arena = scratch }, .results = results, .val = val, .scope = scope };
    dfl_lookup_result found = not_found;
    dfl_node node;

    if (val->n_path > 0 && val->kind == DFL_VAL_CALL)
        found = evaluate_call(&l);
    else if (val->n_path > 0 && walk_path(&l, val, val->n_path, &node))
        found = value_of(&l, &node);
    dfl_arena_free(scratch);
    return found;
}
