/* The proof gaps of a result as text: why the search does not prove it, and what the user can do. */
#include "solve/solve_internal.h"

#include "ir/mapping_open.h"

static void add_clause(dfl_strbuf *out, const char *text)
{
    dfl_strbuf_z(out, out->len > 0 ? "; " : "");
    dfl_strbuf_z(out, text);
}

static void add_stop(dfl_strbuf *out, dfl_stop why)
{
    switch (why) {
    case DFL_STOP_NONE: break;
    case DFL_STOP_TIME:
        add_clause(out, "stopped by `--time-limit`: with more time it may find better ones, or prove this one");
        break;
    case DFL_STOP_EVALUATIONS: add_clause(out, "stopped by the limit on evaluations: `--evaluations` allows more"); break;
    case DFL_STOP_STEPS: add_clause(out, "stopped by the limit on steps: `--step-limit` allows more"); break;
    case DFL_STOP_MEMORY: add_clause(out, "stopped by the limit on memory: `--memory-limit` allows more"); break;
    case DFL_STOP_CANCELLED: add_clause(out, "interrupted"); break;
    }
}

/* Adds the reason that holds when no other one is known. */
static void add_other_reason(dfl_strbuf *out, dfl_arena *arena, const dfl_mapping *given, bool lines, const dfl_proof_gaps *gaps)
{
    if (!lines)
        add_clause(out, dfl_arena_printf(arena, "%llu choice%s the model does not evaluate, which may be better: "
                                                "`dflc eval` of such a mapping says why",
                                         (unsigned long long)gaps->refused, gaps->refused == 1 ? "" : "s"));
    else if (gaps->is_one_of_several && !given->options.overlap_perfect)
        add_clause(out, "what waits for transfers costs more than the search can prove: `option overlap = perfect;` "
                        "in the mapping says that nothing does");
    else if (gaps->is_one_of_several)
        add_clause(out, "some cost more than the search counts, so there may be others: `minimize` looks further for "
                        "the best of one figure");
    else if (dfl_mapping_has_open_branches(given))
        add_clause(out, "the branches were filled one by one, and with other lines around them others may be better");
    else if (given->options.overlap_perfect && given->workload->n_einsums > 1)
        add_clause(out, "transfers above shared loops were taken to run beside other einsums, and do not all: a "
                        "second term, `minimize latency, energy`, chooses among what is equal by that");
    else
        add_clause(out, "what is left is a difference of numbers so near to each other that rounding hides it: "
                        "without constants that are subtracted in `minimize` it may be proven");
}

const char *dfl_proof_gaps_text(dfl_arena *arena, const dfl_search_space *space, const dfl_mapping *given, dfl_stop stopped,
                                const dfl_search_result *found, dfl_proof_gaps gaps)
{
    const bool lines = found != NULL;
    const uint32_t kinds =
        lines && dfl_mapping_all_lines_open(given) ? dfl_mapper_extensions(given->workload, space->extensions) : 0;
    const bool beyond = (kinds & ~(uint32_t)DFL_SEARCH_ORDER) != 0;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    add_stop(&out, stopped);
    if (gaps.has_stalls && !given->options.overlap_perfect)
        add_clause(&out, "what was found waits for transfers that the bound takes to overlap: `option overlap = "
                         "perfect;` in the mapping says that they do");
    if (gaps.has_requirement)
        add_clause(&out, "the bound leaves aside what is required, which may rule out better ones");
    if (gaps.has_open_terms)
        add_clause(&out, "mappings that are equal in the first term are not all compared in the others");
    if (lines && found->has_windows)
        add_clause(&out, "windows slide: the bound is what each einsum costs at least by itself");
    if (lines && found->has_lost_states)
        add_clause(&out, "there were too many partial mappings to follow each: `--max-fused` or written lines leave "
                         "fewer");
    if (lines && found->is_uneven)
        add_clause(&out, "what was found cuts tiles into unequal pieces, of which not all are tried: `--tiles "
                         "imperfect` looks at more");
    if (lines && space->imperfect)
        add_clause(&out, found->is_best_perfect
                    ? "tiles that do not divide are tried around good mappings, not all of them (without them the best one is "
                      "proven): the bound is what each einsum costs at least by itself"
                    : "tiles that do not divide are tried around good mappings, not all of them: the bound is what each einsum "
                      "costs at least by itself");
    if (beyond)
        add_clause(&out, found->is_best_perfect && !space->imperfect
                    ? "`--beyond` is tried around good mappings, not completely (without it the best one is proven): the bound "
                      "is what each einsum costs at least by itself"
                    : "`--beyond` is tried around good mappings, not completely: the bound is what each einsum costs at least by "
                      "itself");
    if (out.len == 0)
        add_other_reason(&out, arena, given, lines, &gaps);
    return out.text;
}
