/* Why a search does not prove what it found, and what can be done about it: clauses of a list. */
#include "api/session.h"

#include "ir/mapping_open.h"
#include "mapper/beyond.h"

typedef struct {
    dfl_strbuf out;
    bool any;
} reasons;

static void add(reasons *r, const char *text)
{
    dfl_strbuf_z(&r->out, r->any ? "; " : "");
    dfl_strbuf_z(&r->out, text);
    r->any = true;
}

static void add_stop(reasons *r, dfl_stop why)
{
    switch (why) {
    case DFL_STOP_NONE: break;
    case DFL_STOP_TIME: add(r, "stopped by `--time-limit`: with more time it may find better ones, or prove this one"); break;
    case DFL_STOP_EVALUATIONS: add(r, "stopped by the limit on evaluations: `--evaluations` allows more"); break;
    case DFL_STOP_STEPS: add(r, "stopped by the limit on steps: `--step-limit` allows more"); break;
    case DFL_STOP_MEMORY: add(r, "stopped by the limit on memory: `--memory-limit` allows more"); break;
    case DFL_STOP_CANCELLED: add(r, "interrupted"); break;
    }
}

/* What is left when no other reason is known. */
static void add_rest(reasons *r, dfl_arena *arena, const dfl_mapping *given, bool lines, const dfl_doubts *doubts)
{
    if (!lines)
        add(r, dfl_arena_printf(arena, "%llu choice%s the model does not evaluate, which may be better: `dflc eval` of such a "
                                "mapping says why", (unsigned long long)doubts->refused, doubts->refused == 1 ? "" : "s"));
    else if (doubts->several && !given->options.overlap_perfect)
        add(r, "what waits for transfers costs more than the search can prove: `option overlap = perfect;` in the mapping says "
               "that nothing does");
    else if (doubts->several)
        add(r, "some cost more than the search counts, so there may be others: `minimize` looks further for the best of one "
               "figure");
    else if (dfl_mapping_has_open_branches(given))
        add(r, "the branches were filled one by one, and with other lines around them others may be better");
    else if (given->options.overlap_perfect && given->workload->n_einsums > 1)
        add(r, "transfers above shared loops were taken to run beside other einsums, and do not all: a second term, "
               "`minimize latency, energy`, chooses among what is equal by that");
    else
        add(r, "what is left is a difference of numbers so near to each other that rounding hides it: without constants that are "
               "subtracted in `minimize` it may be proven");
}

const char *dfl_session_unproven(dfl_session *s, const dfl_mapping *given, dfl_stop stopped, const dfl_map_result *found,
                                 dfl_doubts doubts)
{
    const bool lines = found != NULL;
    const uint32_t kinds = lines && dfl_mapping_all_lines_open(given) ? dfl_beyond_kinds(given->workload, s->search.beyond) : 0;
    const bool beyond = (kinds & ~(unsigned)DFL_SEARCH_ORDER) != 0;
    reasons r = { .any = false };

    dfl_strbuf_init(&r.out, s->arena);
    add_stop(&r, stopped);
    if (doubts.waits && !given->options.overlap_perfect)
        add(&r, "what was found waits for transfers that the bound takes to overlap: `option overlap = perfect;` in the "
                "mapping says that they do");
    if (doubts.ruled)
        add(&r, "the bound leaves aside what is required, which may rule out better ones");
    if (doubts.later)
        add(&r, "mappings that are equal in the first term are not all compared in the others");
    if (lines && found->windows)
        add(&r, "windows slide: the bound is what each einsum costs at least by itself");
    if (lines && found->lost)
        add(&r, "there were too many partial mappings to follow each: `--max-fused` or written lines leave fewer");
    if (lines && found->uneven)
        add(&r, "what was found cuts tiles into unequal pieces, of which not all are tried: `--tiles imperfect` looks at more");
    if (lines && s->search.imperfect)
        add(&r, found->inside
                    ? "tiles that do not divide are tried around good mappings, not all of them (without them the best one is "
                      "proven): the bound is what each einsum costs at least by itself"
                    : "tiles that do not divide are tried around good mappings, not all of them: the bound is what each einsum "
                      "costs at least by itself");
    if (beyond)
        add(&r, found->inside && !s->search.imperfect
                    ? "`--beyond` is tried around good mappings, not completely (without it the best one is proven): the bound "
                      "is what each einsum costs at least by itself"
                    : "`--beyond` is tried around good mappings, not completely: the bound is what each einsum costs at least by "
                      "itself");
    if (!r.any)
        add_rest(&r, s->arena, given, lines, &doubts);
    return r.out.text;
}
