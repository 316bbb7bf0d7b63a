/* Importing, evaluating and comparing one case. */
#include "tests/accelforge/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/session.h"

typedef struct {
    const dfl_af_file *f;
    const dfl_af_plan *plan;
    const dfl_result *result;
    const dfl_intern *names;
    bool say;
    judge_result *out;
} judge;

static void __attribute__((format(printf, 3, 4)))
broken(judge_result *out, judge_verdict verdict, const char *format, ...)
{
    va_list args;

    if (out->verdict == VERDICT_BROKEN || out->verdict == verdict)
        return;
    out->verdict = verdict;
    va_start(args, format);
    vsnprintf(out->why.text, sizeof out->why.text, format, args);
    va_end(args);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

static void number(judge *j, number_kind kind, uint32_t node, uint32_t tensor, double ours, double peer,
                   const char *what)
{
    uint32_t causes = judge_causes_of(j->f, j->plan, kind, node, tensor);
    int side = judge_side(kind, causes);
    bool explained = causes != 0 && (side == 0 || (side < 0) == (ours < peer));

    j->out->numbers++;
    if (near(ours, peer))
        return;
    if (j->say)
        printf("    %s: %.9g, the peer says %.9g%s\n", what, ours, peer, explained ? "" : ", without a cause");
    j->out->different++;
    j->out->counts &= kind > NUMBER_HOPS;
    j->out->energy &= kind != NUMBER_ENERGY;
    j->out->latency &= kind != NUMBER_LATENCY;
    j->out->room &= kind != NUMBER_ROOM;
    j->out->causes |= causes;
    for (uint32_t c = 0; c < CAUSE_COUNT; c++)
        j->out->by_cause[c] += causes >> c & 1;
    if (!explained)
        broken(j->out, VERDICT_UNEXPLAINED, "%s: %.9g, the peer says %.9g", what, ours, peer);
    else if (j->out->verdict == VERDICT_EQUAL)
        j->out->verdict = VERDICT_EXPLAINED;
}

/* ---- our counts as the peer's actions ---- */

static const dfl_traffic *traffic_of(const judge *j, const char *memory, const char *tensor)
{
    for (uint32_t i = 0; i < j->result->n_traffic; i++) {
        const dfl_traffic *t = &j->result->traffic[i];

        if (strcmp(dfl_sym_text(j->names, j->result->mapping->system->memories[t->memory].name), memory) == 0 &&
            strcmp(dfl_sym_text(j->names, j->result->mapping->workload->tensors[t->tensor].name), tensor) == 0)
            return t;
    }
    return NULL;
}

/* Values read or written; for a toll, values passed down or up. */
static double values(const judge *j, uint32_t node, uint32_t tensor, bool write)
{
    const dfl_af_node *n = &j->f->nodes.at[node];
    const dfl_traffic *t = traffic_of(j, n->name, j->f->tensors.at[tensor].name);
    double down, up;

    if (t == NULL)
        return 0;
    if (write)
        return n->kind == DFL_AF_TOLL ? 0 : dfl_i128_double(t->counts.fill + t->counts.update);
    down = dfl_i128_double(t->counts.serve + t->counts.accumulate);
    up = dfl_i128_double(t->counts.drain);
    if (n->kind == DFL_AF_TOLL)
        return (dfl_af_has(&n->down, tensor) ? down : 0) + (dfl_af_has(&n->up, tensor) ? up : 0);
    return down + up;
}

/* The result of a copy of the tensor; the peer reports writes of the result under the source of the copy. */
static uint32_t copy_of(const judge *j, uint32_t tensor)
{
    for (uint32_t e = 0; e < j->f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &j->f->einsums.at[e];

        if (einsum->copy && dfl_af_access_of(einsum, tensor) != NULL && !dfl_af_access_of(einsum, tensor)->output)
            return einsum->accesses[einsum->output].tensor;
    }
    return DFL_AF_NONE;
}

static bool is_copied(const judge *j, uint32_t tensor)
{
    uint32_t e = j->f->tensors.at[tensor].producer;

    return e != DFL_AF_NONE && j->f->einsums.at[e].copy;
}

static double actions_of(const judge *j, uint32_t node, uint32_t tensor, bool write)
{
    const dfl_af_node *n = &j->f->nodes.at[node];
    uint32_t copy = write ? copy_of(j, tensor) : DFL_AF_NONE;
    double out = write && is_copied(j, tensor) ? 0 : values(j, node, tensor, write) * n->values_to_actions[write][tensor];

    if (copy != DFL_AF_NONE)
        out += values(j, node, copy, true) * n->values_to_actions[1][copy];
    return out;
}

static double operations_of(const judge *j, uint32_t node)
{
    double out = 0;

    for (uint32_t e = 0; e < j->f->einsums.n; e++) {
        if (j->plan->paths[e].compute == node && !j->f->einsums.at[e].copy)
            out += dfl_i128_double(j->result->einsums[e].points) * j->f->nodes.at[node].actions_scale;
    }
    return out;
}

/* ---- the peer's numbers ---- */

/* Number of actions of a component for a tensor, summed over all einsums. */
static double peer_actions(const dfl_json *expected, const char *component, const char *tensor, const char *action)
{
    const dfl_json *einsums = dfl_json_get(expected, "einsums");
    double out = 0;

    for (size_t e = 0; einsums != NULL && e < einsums->len; e++) {
        const dfl_json *list = dfl_json_get(&einsums->items[e], "actions");

        for (size_t i = 0; list != NULL && i < list->len; i++) {
            const dfl_json *row = &list->items[i];
            const char *t = dfl_json_text(dfl_json_at(row, 1));

            if (row->len == 4 && strcmp(dfl_json_text(dfl_json_at(row, 0)), component) == 0 &&
                strcmp(t != NULL ? t : "", tensor) == 0 && strcmp(dfl_json_text(dfl_json_at(row, 2)), action) == 0)
                out += row->items[3].real;
        }
    }
    return out;
}

/* Room of a tensor, bits: the largest over all einsums. */
static double peer_room(const dfl_json *expected, const char *component, const char *tensor)
{
    const dfl_json *einsums = dfl_json_get(expected, "einsums");
    double out = 0;

    for (size_t e = 0; einsums != NULL && e < einsums->len; e++) {
        const dfl_json *list = dfl_json_get(&einsums->items[e], "occupancy_bits");

        for (size_t i = 0; list != NULL && i < list->len; i++) {
            const dfl_json *row = &list->items[i];

            if (row->len == 3 && strcmp(dfl_json_text(dfl_json_at(row, 0)), component) == 0 &&
                strcmp(dfl_json_text(dfl_json_at(row, 1)), tensor) == 0)
                out = fmax(out, row->items[2].real);
        }
    }
    return out;
}

static double real_of(const dfl_json *expected, const char *key)
{
    const dfl_json *at = dfl_json_get(expected, key);

    return at != NULL ? at->real : NAN;
}

/* ---- comparison ---- */

static uint32_t outermost(const dfl_af_file *f)
{
    uint32_t n = 0;

    while (f->nodes.at[n].kind != DFL_AF_MEMORY)
        n++;
    return n;
}

static void compare_tensor(judge *j, const dfl_json *expected, uint32_t node, uint32_t tensor)
{
    const dfl_af_node *n = &j->f->nodes.at[node];
    const char *t = j->f->tensors.at[tensor].name;
    const dfl_traffic *ours = traffic_of(j, n->name, t);
    bool output = j->f->tensors.at[tensor].producer != DFL_AF_NONE && !is_copied(j, tensor);
    number_kind kind = n->kind == DFL_AF_TOLL ? NUMBER_TOLL : output ? NUMBER_OUTPUT : NUMBER_INPUT;
    char what[200];

    snprintf(what, sizeof what, "reads of %s in %s", t, n->name);
    number(j, kind, node, tensor, actions_of(j, node, tensor, false), peer_actions(expected, n->name, t, "read"), what);
    snprintf(what, sizeof what, "writes of %s in %s", t, n->name);
    number(j, kind, node, tensor, actions_of(j, node, tensor, true), peer_actions(expected, n->name, t, "write"), what);
    if (node == outermost(j->f) || n->kind == DFL_AF_TOLL)
        return;
    snprintf(what, sizeof what, "room of %s in %s", t, n->name);
    if (copy_of(j, tensor) == DFL_AF_NONE)
        number(j, NUMBER_ROOM, node, tensor, ours != NULL ? dfl_i128_double(ours->peak_bits) : 0,
               peer_room(expected, n->name, t), what);
}

static void compare_hops(judge *j, const dfl_json *expected, uint32_t node)
{
    for (uint32_t t = 0; t < j->f->tensors.n; t++)
        number(j, NUMBER_HOPS, node, t, 0,
               peer_actions(expected, j->f->nodes.at[node].name, j->f->tensors.at[t].name, "hop"), "hops");
}

static void compare_node(judge *j, const dfl_json *expected, uint32_t node)
{
    const dfl_af_node *n = &j->f->nodes.at[node];
    char what[200];

    if (n->kind == DFL_AF_NETWORK)
        compare_hops(j, expected, node);
    if (n->kind == DFL_AF_COMPUTE) {
        snprintf(what, sizeof what, "operations of %s", n->name);
        number(j, NUMBER_OPERATIONS, node, DFL_AF_NONE, operations_of(j, node),
               peer_actions(expected, n->name, "", "compute"), what);
    }
    if (n->kind != DFL_AF_MEMORY && n->kind != DFL_AF_TOLL)
        return;
    for (uint32_t t = 0; t < j->f->tensors.n; t++)
        compare_tensor(j, expected, node, t);
    if (node == outermost(j->f) || n->kind == DFL_AF_TOLL)
        return;
    for (uint32_t m = 0; m < j->result->mapping->system->n_memories; m++) {
        if (strcmp(dfl_sym_text(j->names, j->result->mapping->system->memories[m].name), n->name) != 0)
            continue;
        snprintf(what, sizeof what, "room in %s", n->name);
        number(j, NUMBER_ROOM, node, DFL_AF_NONE, dfl_i128_double(j->result->memories[m].peak_bits),
               real_of(dfl_json_get(expected, "peak_occupancy_bits"), n->name), what);
    }
}

/* The report of the peer on its optimum, or on the first point of its front. */
static void compare_optimum(judge *j, const dfl_json *expected)
{
    const dfl_json *first = dfl_json_at(dfl_json_get(expected, "front"), 0);
    const dfl_json *from = first != NULL ? first : expected;

    number(j, NUMBER_ENERGY, DFL_AF_NONE, DFL_AF_NONE, j->result->joules, real_of(from, "energy"), "energy");
    if (dfl_json_get(from, "latency") != NULL && real_of(from, "latency") > 0)
        number(j, NUMBER_LATENCY, DFL_AF_NONE, DFL_AF_NONE, j->result->seconds, real_of(from, "latency"), "latency");
}

static void compare(judge *j, const dfl_json *expected)
{
    const dfl_json *intended = dfl_json_get(dfl_json_get(expected, "intended"), "energy_leak");
    double leakage = j->result->leakage_joules;

    for (uint32_t n = 0; n < j->f->nodes.n; n++)
        compare_node(j, expected, n);
    number(j, NUMBER_ENERGY, DFL_AF_NONE, DFL_AF_NONE, j->result->joules - leakage, real_of(expected, "energy_dynamic"),
           "dynamic energy");
    number(j, NUMBER_LATENCY, DFL_AF_NONE, DFL_AF_NONE, j->result->seconds, real_of(expected, "latency"), "latency");
    number(j, NUMBER_LEAKAGE, DFL_AF_NONE, DFL_AF_NONE, leakage,
           intended != NULL ? intended->real : real_of(expected, "energy_leak"), "leakage");
}

/* ---- a case ---- */

/* Reads the specification as the importer does; false if the importer refuses it. */
static bool open_case(dfl_session *s, dfl_af_file *f, dfl_af_plan *plan)
{
    dfl_loss_report *report = DFL_NEW(s->arena, dfl_loss_report);
    const dfl_source *sources[2];

    for (size_t i = 0; i < s->loaded.n && i < 2; i++)
        sources[i] = s->loaded.at[i]->source;
    dfl_loss_init(report, s->arena, s->sink, s->sources);
    return dfl_af_open(f, report, sources, s->loaded.n) && f->mapping != NULL && dfl_af_read_mapping(f, plan);
}

/* Reads the imported text, which must be in the layout of `dflc fmt` and without diagnostics, and evaluates it, which must draw
   no warning; NULL if the mapping is illegal. */
static const dfl_result *evaluate(dfl_session *s, const char *text, judge_result *out)
{
    const dfl_paths *paths;
    const dfl_result *result;

    if (dfl_session_open_text(s, "case.dfl", text, strlen(text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_count(s->sink) > 0 || s->program->n_designs != 1) {
        broken(out, VERDICT_BROKEN, "the result has diagnostics: %s",
               dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
        return NULL;
    }
    if (strcmp(dfl_session_formatted(s, NULL), text) != 0)
        broken(out, VERDICT_BROKEN, "the result is not laid out");
    paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->program->designs[0].mapping);
    result = paths != NULL ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
    if (result != NULL && (dfl_session_check(s) != DFL_EXIT_OK || dfl_sink_count(s->sink) > 0))
        broken(out, VERDICT_BROKEN, "the evaluation warns: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    return result;
}

/* Whether the report has the key with the value false. */
static bool says_no(const dfl_json *expected, const char *key)
{
    const dfl_json *at = dfl_json_get(expected, key);

    return at != NULL && !at->boolean;
}

/* Whether dflc must refuse the mapping: the peer refuses it, or it reads incomplete sums. If an executable mapping
   costs as little, the data contains that mapping instead. */
static bool is_impossible(const dfl_json *expected)
{
    return says_no(expected, "valid") ||
           (says_no(expected, "accelforge_mapping_is_executable") &&
            !near(real_of(expected, "executable_energy"), real_of(expected, "energy")));
}

static void judge_text_of(judge *j, dfl_session *s, const char *text, const dfl_json *expected, bool optimum)
{
    dfl_code refusal = says_no(expected, "valid") ? DFL_MAP_CAPACITY : DFL_MAP_CONSUMED_EARLY;
    const dfl_diag *first;

    if (j->say)
        printf("%s", text);
    j->result = evaluate(s, text, j->out);
    j->names = s->names;
    first = dfl_sink_count(s->sink) > 0 ? dfl_sink_at(s->sink, 0) : NULL;
    if (j->out->verdict == VERDICT_BROKEN)
        return;
    if (is_impossible(expected)) {
        if (j->result == NULL && first != NULL && first->code == refusal)
            j->out->verdict = VERDICT_REFUSED;
        else
            broken(j->out, VERDICT_BROKEN, "cannot be executed, but dflc takes it, or refuses it for another reason");
    } else if (j->result == NULL) {
        broken(j->out, VERDICT_BROKEN, "refused: %s", first != NULL ? first->message : "");
    } else if (optimum) {
        compare_optimum(j, expected);
    } else {
        compare(j, expected);
    }
}

void judge_case(const char *path, char *mapping, const dfl_json *expected, bool say, judge_result *out)
{
    dfl_session *source = dfl_session_new(NULL), *result = dfl_session_new(NULL);
    dfl_af_file f;
    dfl_af_plan plan;
    judge j = { .f = &f, .plan = &plan, .say = say, .out = out };
    dfl_exit status = DFL_EXIT_IO;
    const char *text;

    *out = (judge_result){ .counts = true, .energy = true, .latency = true, .room = true };
    if (dfl_session_open(source, path) != DFL_EXIT_OK) {
        broken(out, VERDICT_BROKEN, "cannot be read");
    } else if ((text = dfl_session_import_accelforge(source, &mapping, mapping != NULL, &status, NULL)) == NULL) {
        if (says_no(expected, "valid") && status == DFL_EXIT_FINDINGS)
            out->verdict = VERDICT_REFUSED;
        else
            broken(out, VERDICT_BROKEN, "not imported: %s",
                   dfl_session_diagnostics(source, DFL_FORMAT_SHORT, false, NULL));
    } else if (!open_case(source, &f, &plan)) {
        broken(out, VERDICT_BROKEN, "imported, but not read again");
    } else {
        out->perfect = judge_is_perfect(&f, &plan);
        judge_text_of(&j, result, text, expected, mapping != NULL);
    }
    dfl_session_free(source);
    dfl_session_free(result);
}
