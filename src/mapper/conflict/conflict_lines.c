/* Why nothing fits between written lines: the search itself is asked. */
#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/branches/branches.h"
#include "mapper/conflict/conflict_internal.h"
#include "mapper/exact/exact.h"
#include "mapper/problem/evaluate.h"

enum {
    FEW_STEPS = 1 << 14,   /* of a first search, that is to find anything, */
    MOST_STEPS = 1 << 20,  /* and of one that is to find out whether there is anything */
    QUESTIONS = 400,
    CHOICES = 512,         /* of amounts above branches */
};

typedef struct {
    const dfl_intern *names;
    uint32_t max_fused, asked;
    const dfl_budget *session;
    double deadline;
} asker;

static const dfl_objective LATENCY = { .free = true, .native = true, .room = DFL_NONE, .text = "latency" };

/* Bits of a memory at the peak, -1: the model does not take the mapping. */
static dfl_i128 peak(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t memory)
{
    const dfl_result *r = dfl_mapping_costs(arena, names, m);

    return r == NULL ? -1 : memory == DFL_NONE ? 0 : r->memories[memory].peak_bits;
}

/* Whether there is a mapping, and what it takes of a memory. */
static dfl_answer ask(asker *k, const dfl_mapping *m, uint64_t steps, uint32_t memory, int64_t *bits)
{
    dfl_budget budget = dfl_budget_fresh(k->session);
    const dfl_map_options options = { .objective = &LATENCY, .any = true, .limits = { .deadline = k->deadline, .threads = 1 },
                                      .space = { .max_shared_loops = k->max_fused } };
    dfl_answer answer = DFL_ANSWER_UNKNOWN;
    const dfl_map_result *r = NULL;
    dfl_arena *arena;
    dfl_sink *quiet;
    bool fits = true;

    budget.steps_limit = steps;
    arena = dfl_arena_new(&budget);
    quiet = dfl_sink_quiet(arena);
    if (k->asked++ < QUESTIONS && dfl_open_lines_check(quiet, k->names, m) && dfl_branches_choices(m, CHOICES))
        r = dfl_branches_search(arena, quiet, k->names, m, &options, &fits);
    if (r != NULL && r->mapping != NULL) {
        dfl_arena *work = dfl_arena_new(NULL);
        dfl_i128 most = peak(work, k->names, r->mapping, memory);
        answer = most < 0 ? DFL_ANSWER_UNKNOWN : DFL_ANSWER_YES;
        if (bits != NULL && most >= 0)
            *bits = most > INT64_MAX ? INT64_MAX : (int64_t)most;
        dfl_arena_free(work);
    } else if (!fits) {
        answer = DFL_ANSWER_NO;
    }
    dfl_arena_free(arena);
    return answer;
}

static dfl_answer ask_twice(asker *k, const dfl_mapping *m, uint32_t memory, int64_t *bits)
{
    dfl_answer answer = ask(k, m, FEW_STEPS, memory, bits);

    return answer == DFL_ANSWER_UNKNOWN ? ask(k, m, MOST_STEPS, memory, bits) : answer;
}

/* The same with a memory of another size. */
static dfl_answer ask_with(asker *k, const dfl_mapping *m, uint32_t memory, int64_t size, int64_t *bits)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_mapping other = *m;
    dfl_answer answer;

    other.system = dfl_system_sized(arena, m->system, memory, size);
    answer = ask_twice(k, &other, memory, bits);
    dfl_arena_free(arena);
    return answer;
}

/* The least size between one that is too small and what some mapping takes. */
static dfl_answer least_size(asker *k, const dfl_mapping *m, uint32_t memory, int64_t *bits)
{
    const int64_t unit = m->system->memories[memory].size_bits % 8 == 0 ? 8 : 1;
    int64_t low = 0, high = 0;
    dfl_answer answer = ask_with(k, m, memory, -1, &high);

    while (answer == DFL_ANSWER_YES && high - low > unit) {
        int64_t size = low + (high - low) / 2 / unit * unit, taken = 0;
        answer = ask_with(k, m, memory, size > low ? size : low + unit, &taken);
        if (answer == DFL_ANSWER_YES)
            high = taken;
        else
            low = size > low ? size : low + unit;
        if (answer == DFL_ANSWER_NO)
            answer = DFL_ANSWER_YES;
    }
    *bits = high;
    return answer;
}

static dfl_answer answer(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits, dfl_span *at)
{
    (void)waived;
    (void)at;
    return measured == DFL_NONE ? ask_twice(context, m, DFL_NONE, NULL) : least_size(context, m, measured, bits);
}

void dfl_conflict_lines(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_search_request *request,
                        const dfl_budget *session)
{
    dfl_budget budget = { .steps_limit = 0 };
    asker k = { .names = names, .max_fused = request->space.max_shared_loops, .session = session,
                .deadline = request->limits.deadline };
    const dfl_question question = { .answer = answer, .context = &k, .kind = DFL_QUESTION_BETWEEN,
                                    .rooms = request->objective->rooms };
    dfl_diag *d;

    if (session != NULL) {
        budget.memory_limit = session->memory_limit;
        budget.cancel = session->cancel;
        budget.work = session->work;
    }
    if (dfl_conflict_set_report(sink, names, m, &question, &budget))
        return;
    d = dfl_report(sink, DFL_EVAL_INFEASIBLE, m->hole_span, "no mapping with the lines of `%s` fits into `%s`",
                   dfl_sym_text(names, m->name), dfl_sym_text(names, m->system->name));
    dfl_diag_here(sink, d, "no lines with tiles that divide can stand here");
    dfl_diag_help(sink, d, "leave more open: a tile size (`?`) or a line");
}
