/* Compares oracle and model, count by count. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>

#include "model/model.h"
#include "oracle/oracle.h"
#include "tests/property/case.h"

const char *const case_feature_names[CASE_FEATURES] = {
    "ragged", "halo", "stride above the window", "spilled partial sums", "multicast on one axis", "multicast on two axes",
    "nested branches", "recompute", "online", "mesh, torus or ring", "operands straight", "nested arrays", "fused", "restricted producer", "reduction", "forwarding",
    "fresh or window", "padding", "idle instances", "room bound is exact", "readers in several branches",
    "pipeline", "coordinate 0 estimated", "first link not busiest", "links estimated",
    "where", "over", "state",
};

typedef struct {
    const dfl_case *c;
    const dfl_paths *paths;
    const dfl_oracle_result *oracle;
    const dfl_result *model;
    case_report *out;
} comparison;

/* ---- features ---------------------------------------------------------------------------------------------------- */

static bool cut_above(const dfl_path *p, uint32_t rank)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].rank == rank && p->steps[i].line->kind != DFL_LINE_KEEP && p->steps[i].tile > 1 &&
            p->steps[i].tile < p->steps[i].nominal)
            return true;
    return false;
}

static bool uses(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank == rank)
                return true;
    return false;
}

/* Windows: an index that slides, in overlapping steps or in steps that leave something out. */
static void note_windows(const comparison *cmp, const dfl_path *p, const dfl_access *a, uint32_t *features)
{
    const dfl_rank *ranks = cmp->paths->mapping->workload->ranks;

    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
            const dfl_term *slide = &a->index[d].terms[t];
            int64_t window = 1, stride = slide->coef < 0 ? -slide->coef : slide->coef;
            if (ranks[slide->rank].extent == 1)
                continue;
            for (uint32_t o = 0; o < a->index[d].n_terms; o++)
                if (o != t)
                    window += (a->index[d].terms[o].coef < 0 ? -a->index[d].terms[o].coef : a->index[d].terms[o].coef) *
                              (ranks[a->index[d].terms[o].rank].extent - 1);
            if (stride > window)
                *features |= 1u << CASE_STRIDE;
            if (stride < window && cut_above(p, slide->rank))
                *features |= 1u << CASE_HALO;
        }
}

/* Axes on which instances want the same elements of an access and the network gives them at once. */
static uint32_t shared_axes(const comparison *cmp, const dfl_path *p, const dfl_access *a)
{
    const dfl_mapping *m = cmp->paths->mapping;
    uint32_t axes = 0, n = 0;

    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        if (s->line->kind == DFL_LINE_SPATIAL && s->rank != DFL_NONE && s->tile < s->nominal && !uses(a, s->rank) &&
            dfl_selects(&m->system->axes[s->line->axis].multicast, &m->workload->tensors[a->tensor]))
            axes |= 1u << s->line->axis;
    }
    for (; axes; axes &= axes - 1)
        n++;
    return n;
}

/* Whether the unit reads an operand or writes the result in a memory outside of its array. */
static bool reaches_out(const comparison *cmp, const dfl_path *p, uint32_t tensor)
{
    const dfl_system *s = cmp->paths->mapping->system;
    uint32_t memory = DFL_NONE;

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line->kind == DFL_LINE_KEEP && p->steps[i].line->tensor == tensor)
            memory = p->steps[i].line->memory;
    return memory != DFL_NONE && s->memories[memory].element != s->computes[p->compute].element;
}

/* What crosses the networks, and whether the first link of each class is the busiest. */
static uint32_t network_features(const comparison *cmp)
{
    const dfl_system *s = cmp->paths->mapping->system;
    uint32_t f = 0, crossed = 0;

    for (uint32_t i = 0; i < s->n_networks; i++) {
        const dfl_oracle_network *n = &cmp->oracle->networks[i];
        crossed += n->delivered + n->collected > 0;
        for (uint32_t k = 0; k < n->n_classes; k++) {
            bool wire = strstr(n->classes[k].name, ".down") || strstr(n->classes[k].name, ".up");
            f |= wire && n->classes[k].bits > 0 ? 1u << CASE_ROUTED : 0;
            f |= n->classes[k].bits > n->classes[k].first ? 1u << CASE_UNEVEN : 0;
        }
    }
    return f | (crossed > 1 ? 1u << CASE_ARRAYS : 0);
}

static void note_features(const comparison *cmp)
{
    const dfl_mapping *m = cmp->paths->mapping;
    uint32_t f = 0;

    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        const dfl_path *p = &cmp->paths->paths[e];
        const dfl_einsum *einsum = &m->workload->einsums[e];
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const dfl_path_step *s = &p->steps[i];
            if (s->line->kind == DFL_LINE_KEEP) {
                f |= s->line->mode != DFL_KEEP_EXACT ? 1u << CASE_MODES : 0;
                continue;
            }
            if (s->rank == DFL_NONE)
                continue;
            f |= s->nominal % s->tile ? 1u << CASE_RAGGED : 0;
            f |= s->line->online && s->tile < s->nominal ? 1u << CASE_ONLINE : 0;
            f |= s->line->kind == DFL_LINE_SPATIAL && s->nominal % s->tile ? 1u << CASE_IDLE : 0;
        }
        for (uint32_t i = 0; i < einsum->n_inputs; i++) {
            note_windows(cmp, p, &einsum->inputs[i], &f);
            uint32_t n = shared_axes(cmp, p, &einsum->inputs[i]);
            f |= n == 1 ? 1u << CASE_MULTICAST : n > 1 ? 1u << CASE_MULTICAST_2 : 0;
            f |= reaches_out(cmp, p, einsum->inputs[i].tensor) ? 1u << CASE_STRAIGHT : 0;
        }
        f |= einsum->n_where > 0 ? 1u << CASE_CONDITIONS : 0;
        f |= einsum->over_rank != DFL_NONE ? 1u << CASE_OVER : 0;
        f |= m->workload->tensors[einsum->output.tensor].role == DFL_ROLE_STATE ? 1u << CASE_STATE : 0;
        f |= p->has_exchange ? 1u << CASE_FUSED : 0;
        f |= p->has_exchange && p->exchange.restricts ? 1u << CASE_RESTRICTED : 0;
        for (uint32_t i = 0; p->has_exchange && i < p->exchange.n_consumers; i++)
            if (!dfl_body_within(cmp->paths->paths[p->exchange.consumers[i]].leaf, p->exchange.branch))
                f |= 1u << CASE_BRANCHES;
        f |= cmp->oracle && p->has_exchange && p->exchange.recompute && cmp->oracle->points[e] > 0 &&
             cmp->oracle->extra[e] > 0 && p->exchange.restricts ? 1u << CASE_RECOMPUTE : 0;
        f |= cmp->oracle && cmp->oracle->padding[e] > 0 ? 1u << CASE_PADDED : 0;
    }
    for (uint32_t b = 0; b < m->n_bodies; b++) {
        f |= b > 0 && m->bodies[b]->kind != DFL_BODY_LEAF ? 1u << CASE_NESTED : 0;
        f |= m->bodies[b]->kind == DFL_BODY_PIPELINE ? 1u << CASE_PIPELINE : 0;
    }
    for (uint32_t i = 0; cmp->oracle && i < cmp->oracle->n_traffic; i++) {
        const dfl_oracle_traffic *t = &cmp->oracle->traffic[i];
        if (m->workload->tensors[t->tensor].role == DFL_ROLE_OUTPUT && t->fill > 0)
            f |= 1u << CASE_SPILL;
        if (m->workload->tensors[t->tensor].n_producers > 0 && t->update > 0 && m->system->n_axes > 0)
            for (uint32_t a = 0; a < m->system->n_axes; a++)
                f |= m->system->axes[a].reduce.on ? 1u << CASE_REDUCED : 0;
    }
    for (uint32_t a = 0; cmp->oracle && a < m->system->n_axes; a++)
        f |= cmp->oracle->forwarded[a] > 0 ? 1u << CASE_FORWARDED : 0;
    cmp->out->features = f | (cmp->oracle ? network_features(cmp) : 0);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static void __attribute__((format(printf, 2, 3))) say(case_report *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(out->why, sizeof out->why, format, args);
    va_end(args);
}

/* Records a difference, unless one is recorded already. */
static void same(comparison *cmp, dfl_i128 oracle, dfl_i128 model, const char *what, const char *of, const char *in)
{
    if (oracle == model || cmp->out->verdict == CASE_DIFFERS)
        return;
    cmp->out->verdict = CASE_DIFFERS;
    say(cmp->out, "%s of %s%s%s: the oracle counts %lld, the model %lld", what, of, *in ? " in " : "", in,
        (long long)oracle, (long long)model);
}

/* Counts of the instance at coordinate 0, which set the time. */
static void compare_first(comparison *cmp, const dfl_oracle_counts *o, const dfl_counts *n, const char *tensor,
                          const char *memory)
{
    same(cmp, o->fill, n->fill, "fill at coordinate 0", tensor, memory);
    same(cmp, o->update, n->update, "update at coordinate 0", tensor, memory);
    same(cmp, o->drain, n->drain, "drain at coordinate 0", tensor, memory);
    same(cmp, o->serve, n->serve, "serve at coordinate 0", tensor, memory);
    same(cmp, o->accumulate, n->accumulate, "accumulate at coordinate 0", tensor, memory);
}

static void compare_traffic(comparison *cmp)
{
    const dfl_case *c = cmp->c;
    uint32_t rows = cmp->oracle->n_traffic;

    /* for a keep without transfers the oracle has a row of zeros, the model no row */
    for (uint32_t i = 0, k = 0; i < rows; i++) {
        const dfl_oracle_traffic *o = &cmp->oracle->traffic[i];
        const dfl_traffic none = { 0 }, *t = &none;
        const char *tensor = c->tensors[o->tensor].name, *memory = c->memories[o->memory].name;
        if (k < cmp->model->n_traffic && cmp->model->traffic[k].memory == o->memory &&
            cmp->model->traffic[k].tensor == o->tensor)
            t = &cmp->model->traffic[k++];
        same(cmp, o->fill, t->counts.fill, "fill", tensor, memory);
        same(cmp, o->update, t->counts.update, "update", tensor, memory);
        same(cmp, o->drain, t->counts.drain, "drain", tensor, memory);
        same(cmp, o->serve, t->counts.serve, "serve", tensor, memory);
        same(cmp, o->accumulate, t->counts.accumulate, "accumulate", tensor, memory);
        same(cmp, o->peak_bits, t->peak_bits, "peak_bits", tensor, memory);
        same(cmp, o->rows[0], t->rows.read, "rows read", tensor, memory);
        same(cmp, o->rows[1], t->rows.drain, "rows drained", tensor, memory);
        same(cmp, o->rows[2], t->rows.fill, "rows filled", tensor, memory);
        same(cmp, o->rows[3], t->rows.update, "rows updated", tensor, memory);
        if (t->rough)
            cmp->out->features |= 1u << CASE_ROUGH;
        else
            compare_first(cmp, &o->first, &t->first, tensor, memory);
        if (i + 1 == rows)
            same(cmp, k, cmp->model->n_traffic, "rows", "traffic", "");
    }
}

/* Bits on the busiest link of a class. Names the link that is busier than the first one, which the model describes. */
static void compare_class(comparison *cmp, const dfl_oracle_link_class *o, const dfl_network_cost *n, const char *network)
{
    dfl_i128 bits = -1;

    for (uint32_t i = 0; i < n->n_classes; i++)
        if (strcmp(n->classes[i].name, o->name) == 0)
            bits = n->classes[i].rough ? o->bits : n->classes[i].bits;
    same(cmp, o->bits, bits, o->bits == o->first ? "bits" : "bits (another link than the first)", o->name, network);
}

static void compare_networks(comparison *cmp)
{
    const dfl_system *s = cmp->paths->mapping->system;

    for (uint32_t i = 0; i < s->n_networks; i++) {
        const dfl_oracle_network *o = &cmp->oracle->networks[i];
        const dfl_network_cost *n = &cmp->model->networks[i];
        char name[] = { 'n', 'e', 't', (char)('1' + s->networks[i].element), '\0' };
        same(cmp, o->injected, n->injected_bits, "injected bits", name, "");
        same(cmp, o->delivered, n->delivered_bits, "delivered bits", name, "");
        same(cmp, o->collected, n->collected_bits, "collected bits", name, "");
        same(cmp, o->arriving, n->arriving_bits, "arriving bits", name, "");
        same(cmp, o->n_classes, n->n_classes, "classes of links", name, "");
        cmp->out->features |= n->rough ? 1u << CASE_ROUGH_LINKS : 0;
        for (uint32_t k = 0; k < o->n_classes; k++)
            compare_class(cmp, &o->classes[k], n, name);
    }
}

static void compare_all(comparison *cmp)
{
    const dfl_case *c = cmp->c;
    bool online = cmp->out->features >> CASE_ONLINE & 1;

    cmp->out->verdict = CASE_AGREES;
    cmp->out->why[0] = '\0';
    compare_traffic(cmp);
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        const char *name = c->tensors[c->einsums[e].out.tensor].name;
        const dfl_einsum *einsum = &cmp->paths->mapping->workload->einsums[e];
        same(cmp, cmp->oracle->points[e], cmp->model->einsums[e].points, "points", name, "");
        same(cmp, cmp->oracle->extra[e], cmp->model->einsums[e].extra, "extra", name, "");
        same(cmp, cmp->oracle->steps[e], cmp->model->einsums[e].steps, "steps", name, "");
        if (einsum->is_mac)
            same(cmp, cmp->oracle->padding[e], cmp->model->einsums[e].padding, "padding", name, "");
    }
    for (uint32_t m = 0; m < c->n_memories; m++)
        same(cmp, cmp->oracle->peak_bits[m], cmp->model->memories[m].peak_bits, "peak", "everything", c->memories[m].name);
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        const dfl_path *p = &cmp->paths->paths[e];
        bool again = online || (p->has_exchange && p->exchange.recompute);
        for (uint32_t i = 0; i < p->n_steps; i++) /* of the loops, only those marked `online` cause extra operations */
            again |= p->steps[i].line->kind == DFL_LINE_TEMPORAL && p->steps[i].line->online;
        if (!again)
            same(cmp, cmp->oracle->extra[e], 0, "work of no use", c->tensors[c->einsums[e].out.tensor].name, "");
    }
    for (uint32_t a = 0; a < c->n_axes; a++)
        same(cmp, cmp->oracle->forwarded[a], cmp->model->links[a].forwarded, "transfers", c->axes[a].name, "");
    compare_networks(cmp);
    same(cmp, cmp->oracle->broken, 0, "broken laws", "keeps", "");
    if (!online)
        same(cmp, cmp->oracle->wrong, 0, "wrong values", "the results", "");
}

static dfl_code first_error(const dfl_sink *sink)
{
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        if (dfl_sink_at(sink, i)->severity >= DFL_ERROR)
            return dfl_sink_at(sink, i)->code;
    return DFL_CODE_NONE;
}

static const char *first_message(const dfl_sink *sink)
{
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        if (dfl_sink_at(sink, i)->severity >= DFL_ERROR)
            return dfl_sink_at(sink, i)->message;
    return "no message";
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

enum { SECONDS = 3 };
static sigjmp_buf out_of_time;

static void on_alarm(int signal)
{
    (void)signal;
    siglongjmp(out_of_time, 1);
}

/* Runs the model with a time limit; false when the limit is reached. */
static bool run_model(comparison *cmp, dfl_arena *arena, dfl_sink *sink, const dfl_intern *names)
{
    struct itimerval on = { .it_value = { .tv_sec = SECONDS } }, off = { .it_value = { .tv_sec = 0 } };
    volatile bool done = false;

    signal(SIGALRM, on_alarm);
    if (sigsetjmp(out_of_time, 1) == 0) {
        setitimer(ITIMER_REAL, &on, NULL);
        cmp->model = dfl_model_eval(arena, sink, names, cmp->paths);
        done = true;
    }
    setitimer(ITIMER_REAL, &off, NULL);
    return done;
}

/* Tests the capacity bound of `check`: it must report a memory that lacks one bit, and mappings whose counts the model
   refuses. */
static void compare_bound(comparison *cmp, dfl_arena *arena)
{
    dfl_mapping mapping = *cmp->paths->mapping;
    dfl_system system = *mapping.system;
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, system.n_memories + 1);
    dfl_paths paths = { .mapping = &mapping, .paths = cmp->paths->paths };
    bool exact = true;

    mapping.system = &system;
    system.memories = memories;
    memcpy(memories, cmp->paths->mapping->system->memories, system.n_memories * sizeof *memories);
    if (!cmp->model && dfl_model_surely_fits(&paths)) {
        cmp->out->verdict = CASE_DIFFERS;
        say(cmp->out, "the bound sees nothing of what the model reports");
    }
    for (uint32_t m = 0; cmp->model && m < system.n_memories; m++) {
        int64_t peak = (int64_t)cmp->model->memories[m].peak_bits, size = memories[m].size_bits;

        memories[m].size_bits = peak;
        exact = exact && dfl_model_surely_fits(&paths);
        memories[m].size_bits = peak - 1;
        if (peak > 0 && dfl_model_surely_fits(&paths)) {
            cmp->out->verdict = CASE_DIFFERS;
            say(cmp->out, "the bound takes memory %u for large enough, with a bit less than its peak", m);
        }
        memories[m].size_bits = size;
    }
    if (cmp->model && exact)
        cmp->out->features |= 1u << CASE_BOUNDED;
}

static void judge(comparison *cmp, dfl_arena *arena, dfl_intern *names)
{
    dfl_sink *paths_sink = dfl_sink_new(arena, NULL), *oracle_sink = dfl_sink_new(arena, NULL);
    dfl_sink *model_sink = dfl_sink_new(arena, NULL);
    case_report *out = cmp->out;

    cmp->paths = dfl_paths_resolve(arena, paths_sink, names, case_mapping(cmp->c, arena, names));
    if (!cmp->paths) {
        out->verdict = CASE_INVALID;
        say(out, "E%04d: %s", first_error(paths_sink), first_message(paths_sink));
        return;
    }
    cmp->oracle = dfl_oracle_run(arena, oracle_sink, names, cmp->paths);
    if (!run_model(cmp, arena, model_sink, names)) {
        out->verdict = CASE_DIFFERS;
        say(out, "the model takes longer than %d s", SECONDS);
        return;
    }
    dfl_code oracle = cmp->oracle ? DFL_CODE_NONE : first_error(oracle_sink);
    dfl_code model = cmp->model ? DFL_CODE_NONE : first_error(model_sink);
    note_features(cmp);
    if (oracle == DFL_LIMIT_STEPS) {
        out->verdict = CASE_LIMIT;
        say(out, "%s", first_message(oracle_sink));
    } else if (model == DFL_EVAL_UNSUPPORTED) {
        out->verdict = CASE_REFUSED;
        say(out, "%s", first_message(model_sink));
    } else if (oracle != model) {
        out->verdict = CASE_DIFFERS;
        say(out, "the oracle says `%s`, the model `%s`", oracle ? first_message(oracle_sink) : "fine",
            model ? first_message(model_sink) : "fine");
    } else if (oracle != DFL_CODE_NONE) {
        out->verdict = CASE_AGREES;
        say(out, "%s", first_message(oracle_sink));
    } else {
        compare_all(cmp);
    }
    if (out->verdict == CASE_AGREES)
        compare_bound(cmp, arena);
}

void case_compare(const dfl_case *c, case_report *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    comparison cmp = { .c = c, .out = out };

    memset(out, 0, sizeof *out);
    judge(&cmp, arena, dfl_intern_new(arena));
    dfl_arena_free(arena);
}
