/* The proof gaps of a result as text: the reasons why the search does not prove optimality, with advice for the user. */
#include "solve/solve_internal.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"

static void add_clause(dfl_strbuf *out, const char *text)
{
    dfl_strbuf_z(out, out->len > 0 ? "; " : "");
    dfl_strbuf_z(out, text);
}

/* The clause about what ended a search; NULL = it came to its end. */
static const char *stop_clause(dfl_stop why)
{
    switch (why) {
    case DFL_STOP_NONE: break;
    case DFL_STOP_TIME: return "stopped by `--time-limit`: raise it";
    case DFL_STOP_EVALUATIONS: return "stopped by the limit on evaluations: raise `--evaluations`";
    case DFL_STOP_STEPS: return "stopped by the limit on steps: raise `--step-limit`";
    case DFL_STOP_MEMORY: return "stopped by the limit on memory: raise `--memory-limit`";
    case DFL_STOP_GAP: return "stopped by `--gap`: the gap is small enough";
    case DFL_STOP_WORK: return "ended after the default amount of work: `--time-limit none` goes on";
    case DFL_STOP_CANCELLED: return "interrupted";
    }
    return NULL;
}

static void add_stop(dfl_strbuf *out, dfl_stop why)
{
    if (stop_clause(why))
        add_clause(out, stop_clause(why));
}

/* The clause for a limit that the whole search did not reach, while parts of the search ended at their shares of it. NULL = the
   limit has no shares. */
static const char *share_clause(dfl_stop why)
{
    if (why == DFL_STOP_TIME)
        return "parts of the search ended at their shares of `--time-limit`: raise it";
    if (why == DFL_STOP_EVALUATIONS)
        return "parts of the search ended at their shares of the limit on evaluations: raise `--evaluations`";
    if (why == DFL_STOP_WORK)
        return "parts of the search ended at their shares of the default amount of work: `--time-limit none` goes on";
    return NULL;
}

/* The reasons `unproven` without the clause of a stop, if they begin with one; `*stale` is then this stop. NULL = there are no
   other reasons. */
static const char *skip_stop(const char *unproven, dfl_stop *stale)
{
    for (dfl_stop other = DFL_STOP_MEMORY; unproven && other <= DFL_STOP_WORK; other++) {
        const size_t len = strlen(stop_clause(other));

        if (strncmp(unproven, stop_clause(other), len) == 0) {
            *stale = other;
            return unproven[len] == ';' ? unproven + len + 2 : NULL;
        }
    }
    return unproven;
}

dfl_stop dfl_proof_gaps_stop(const char *unproven)
{
    dfl_stop stop = DFL_STOP_NONE;

    (void)skip_stop(unproven, &stop);
    return stop;
}

const char *dfl_proof_gaps_after_stop(dfl_arena *arena, const char *unproven, dfl_stop stopped, bool is_left)
{
    const char *clause = stop_clause(stopped), *others;
    dfl_stop stale = DFL_STOP_NONE;

    if (clause && !is_left && unproven && strstr(unproven, clause))
        return unproven;
    others = skip_stop(unproven, &stale);
    if (is_left)
        clause = share_clause(stopped);
    else if (!clause)
        clause = share_clause(stale);
    if (!clause)
        return unproven;
    return others ? dfl_arena_printf(arena, "%s; %s", clause, others) : clause;
}

const char *dfl_proof_gaps_plans(dfl_arena *arena, bool has_untried, uint64_t unevaluated, const char *why)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    if (has_untried)
        add_clause(&out, "not all combinations were tried");
    if (unevaluated > 0)
        add_clause(&out, dfl_arena_printf(arena, "the model does not evaluate %llu combination%s of amounts, which may be "
                                          "better: %s", (unsigned long long)unevaluated, unevaluated == 1 ? "" : "s", why));
    return out.text;
}

const char *dfl_proof_gaps_one_by_one(dfl_arena *arena, const dfl_workload *w, const char *lack, dfl_stop stopped)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    add_stop(&out, stopped);
    if (stopped == DFL_STOP_TIME && w->n_einsums > 1)
        add_clause(&out, "what a search left of its share of the time was not used");
    if (w->n_einsums > 1)
        add_clause(&out, "the einsums were mapped one by one: mappings that fuse them may be better");
    else if (lack)
        add_clause(&out, dfl_arena_printf(arena, "the search has no lower bound for this einsum: %s", lack));
    else
        add_clause(&out, "the search has no lower bound for this einsum");
    return out.text;
}

static void add_stalls(dfl_strbuf *out)
{
    add_clause(out, "units wait for transfers, and the lower bound assumes that they do not: `option overlap = perfect;` in the "
                    "mapping assumes the same");
}

/* Adds the kinds of time that the system declares and the lower bound does not contain; without such a kind the general reason,
   unless another one is known. */
static void add_uncounted(dfl_strbuf *out, const dfl_system *s, bool has_reason)
{
    bool launches = false, efficiencies = false, networks = false;

    for (uint32_t i = 0; i < s->n_networks; i++)
        networks |= !isinf(s->networks[i].bandwidth) || s->networks[i].latency > 0;
    for (uint32_t i = 0; i < s->n_memories; i++)
        efficiencies |= s->memories[i].efficiency != NULL;
    for (uint32_t i = 0; i < s->n_computes; i++) {
        launches |= s->computes[i].launch > 0;
        efficiencies |= s->computes[i].n_efficiencies > 0;
    }
    if (networks)
        add_clause(out, "the lower bound does not contain the time of networks");
    if (launches || efficiencies)
        add_clause(out, launches && efficiencies ? "the lower bound does not contain launches and losses by `efficiency`"
                        : launches               ? "the lower bound does not contain launches"
                                                 : "the lower bound does not contain losses by `efficiency`");
    if (!networks && !launches && !efficiencies && !has_reason)
        add_clause(out, "even if all transfers overlap, the mapping takes longer than the lower bound");
}

/* Adds the reason that applies if no other reason does. */
static void add_other_reason(dfl_strbuf *out, dfl_arena *arena, const dfl_mapping *given, bool lines, const dfl_proof_gaps *gaps)
{
    if (!lines)
        add_clause(out, dfl_arena_printf(arena, "the model refuses %llu choice%s, which may be better: `dflc eval` of "
                                                "such a mapping gives the reason",
                                         (unsigned long long)gaps->refused, gaps->refused == 1 ? "" : "s"));
    else if (gaps->is_one_of_several && !given->options.overlap_perfect)
        add_clause(out, "units wait for transfers, and then the search cannot prove a Pareto set: `option overlap = "
                        "perfect;` in the mapping assumes that transfers overlap");
    else if (gaps->is_one_of_several)
        add_clause(out, "the set may be incomplete, because some points cost more than their lower bound: `minimize` searches "
                        "more thoroughly, for one figure");
    else if (dfl_mapping_has_open_branches(given))
        add_clause(out, "the branches were filled one by one: other lines around them may allow better mappings");
    else if (given->options.overlap_perfect && given->workload->n_einsums > 1)
        add_clause(out, "the lower bound assumes that all transfers above shared loops overlap with other einsums, and some do "
                        "not: a second term, as in `minimize latency, energy`, may help, since it decides between equal "
                        "mappings");
    else if (gaps->is_above)
        add_clause(out, "no better mapping was found, and the lower bound is too low to rule one out");
    else
        add_clause(out, "the gap is smaller than the rounding error: remove the constants that `minimize` subtracts");
}

const char *dfl_proof_gaps_text(dfl_arena *arena, const dfl_search_space *space, const dfl_mapping *given, dfl_stop stopped,
                                const dfl_search_result *found, dfl_proof_gaps gaps)
{
    const bool lines = found != NULL;
    const uint32_t kinds =
        lines && dfl_mapping_all_lines_open(given) ? dfl_mapper_extensions(given, space->extensions) : 0;
    /* If the value without stalls reaches the bound, stalls are the only reason. */
    const bool is_ragged = lines && found->is_ragged && !found->has_windows && (gaps.has_uncounted || gaps.has_others_above);
    const bool beyond = (kinds & ~(uint32_t)DFL_SEARCH_ORDER) != 0;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    add_stop(&out, stopped);
    const bool rows = lines && dfl_system_without_rows(arena, given->system) != given->system;
    if (rows)
        add_clause(&out, "the lower bound counts elements where `access` makes the model count rows");
    if (lines && (found->is_least_transfers || found->is_settled) && !rows) {
        add_clause(&out, found->is_settled      ? "the lower bound cannot rise, and other tile sizes were tried for as long again"
                         : found->has_any_tiles ? "no tile sizes of loops and keeps that save transfers are better"
                                                : "no tile sizes that divide are better for loops and keeps that save transfers");
        add_clause(&out, "loops and keeps that save none, and other orders of loops, can shorten the latency, so the lower bound "
                         "leaves out a part of it");
        return out.text;
    }
    if (gaps.has_stalls && !is_ragged && !given->options.overlap_perfect)
        add_stalls(&out);
    if (gaps.has_uncounted)
        add_uncounted(&out, given->system, is_ragged);
    if (gaps.has_requirement)
        add_clause(&out, "the lower bound ignores the requirements, which may exclude better mappings");
    if (gaps.has_open_terms)
        add_clause(&out, "of the mappings that are equal in the first term, the search compares only some in the other terms");
    if (lines && found->has_windows)
        add_clause(&out, given->workload->n_einsums == 1
                    ? "windows overlap, and the search has only a weak lower bound for them"
                    : "windows overlap, and the search has only a weak lower bound for them: the sum of the bounds of the single "
                      "einsums");
    if (lines && found->has_lost_states)
        add_clause(&out, "the search dropped some partial mappings, because there were too many: use `--max-fused`, or write "
                         "more lines");
    if (lines && found->is_uneven)
        add_clause(&out, "the best mapping has tiles that do not divide, and the search tried only some of these: `--tiles "
                         "imperfect` tries more");
    if (lines && space->imperfect && gaps.is_one_of_several)
        add_clause(&out, "tile sizes that do not divide were tried only in variants of the best mappings for one expression "
                         "alone: other points may belong to the set, too");
    else if (lines && space->imperfect && !found->has_any_tiles)
        add_clause(&out, found->is_best_perfect
                    ? "the search tries tile sizes that do not divide only in variants of good mappings (without them the "
                      "result is proven): the lower bound is the sum of the bounds of the single einsums"
                    : "the search tries tile sizes that do not divide only in variants of good mappings: the lower bound is the "
                      "sum of the bounds of the single einsums");
    if (is_ragged) {
        add_clause(&out, "the lower bound of tiles that do not divide is weak, because such tiles can cut a rank in more ways "
                         "than the bound follows: `--tiles perfect` searches those that divide, where a proof is possible");
        if (gaps.has_others_above)
            add_uncounted(&out, given->system, true);
    }
    if (beyond)
        add_clause(&out, found->is_best_perfect && !space->imperfect
                    ? "`--beyond` tries only variants of good mappings (without it the result is proven): the lower bound is "
                      "the sum of the bounds of the single einsums"
                    : "`--beyond` tries only variants of good mappings: the lower bound is the sum of the bounds of the single "
                      "einsums");
    if (out.len == 0 && lines && !gaps.is_one_of_several && !dfl_mapping_has_open_branches(given)) {
        if (gaps.has_stalls_above && !given->options.overlap_perfect)
            add_stalls(&out);
        if (gaps.has_others_above && !(given->options.overlap_perfect && given->workload->n_einsums > 1))
            add_uncounted(&out, given->system, false);
    }
    if (out.len == 0)
        add_other_reason(&out, arena, given, lines, &gaps);
    return out.text;
}
