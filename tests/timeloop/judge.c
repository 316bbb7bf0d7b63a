#include "tests/timeloop/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const peer_run *run;
    const dfl_result *result;
    bool say;
    judge_result *out;
} judge;

const char *judge_way_text(judge_way way)
{
    static const char *const text[JUDGE_WAYS] = {
        [JUDGE_REUSE] = "links in a multicast group: operand_reuse, a register for sums",
        [JUDGE_WINDOW] = "bounding boxes: keep ... window",
        [JUDGE_FRESH] = "no_temporal_reuse: keep ... fresh",
        [JUDGE_RETURNS] = "old partial sums counted for every instance of a group",
        [JUDGE_RMW] = "rmw_first_update: reads before first updates counted",
    };

    return text[way];
}

static void __attribute__((format(printf, 2, 3))) say(judge_text *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

/* One number of the peer against ours, and the causes that may change it. */
static void number(judge *j, const char *what, dfl_i128 ours, dfl_i128 peer, uint32_t causes)
{
    bool explained = causes != 0 && (peer > ours || !peer_causes_add(causes));

    j->out->possible |= causes;
    if (ours == peer)
        return;
    if (j->say)
        printf("    %s: %lld, the peer says %lld%s\n", what, (long long)ours, (long long)peer,
               explained ? "" : ", without a cause");
    j->out->numbers++;
    j->out->causes |= causes;
    for (uint32_t c = 0; c < PEER_CAUSES; c++)
        j->out->by_cause[c] += causes >> c & 1;
    if (!explained && j->out->verdict != JUDGE_UNEXPLAINED) {
        j->out->verdict = JUDGE_UNEXPLAINED;
        say(&j->out->why, "%s: %lld, the peer says %lld", what, (long long)ours, (long long)peer);
    } else if (j->out->verdict == JUDGE_EQUAL) {
        j->out->verdict = JUDGE_EXPLAINED;
    }
}

/* ---- what the peer counts, from our counts ---- */

static dfl_counts counts_of(const judge *j, uint32_t memory, uint32_t tensor, dfl_i128 *peak)
{
    const dfl_counts none = { 0 };

    for (uint32_t i = 0; i < j->result->n_traffic; i++) {
        const dfl_traffic *t = &j->result->traffic[i];
        if (t->memory == memory && t->tensor == tensor) {
            *peak = t->peak_bits;
            return t->counts;
        }
    }
    *peak = 0;
    return none;
}

/* Pairs of an element of the output and an instance of the level that gets to see it. */
static dfl_i128 first_touches(const peer_run *run, uint32_t level, uint32_t tensor)
{
    const peer_tensor *t = &run->tensors[tensor];
    dfl_i128 first = 1;

    for (uint32_t d = 0; d < run->n_dims; d++) {
        bool indexes = false;
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint32_t i = 0; i < t->n_terms[r]; i++)
                indexes |= t->terms[r][i].dim == d;
        if (indexes)
            first *= run->dims[d].bound;
        for (uint32_t k = level + 1; k < run->n_levels && !indexes; k++)
            for (uint32_t i = 0; i < run->levels[k].n_spatial; i++)
                first *= run->levels[k].spatial[i].dim == d ? run->levels[k].spatial[i].full : 1;
    }
    return first;
}

/*
 * Sums that were begun elsewhere or not at all: by MODEL.md one instance of a reduction group gets the old value back
 * and the others start without one; the peer counts a fill, and a read before the first update, in every instance that
 * had the element before. Entries without a value are updates - accumulates - fills of the next inner keep. Where
 * instances are uneven the peer reports averages, and nothing is converted.
 */
static dfl_i128 returned(judge *j, uint32_t level, uint32_t tensor, const dfl_counts *counts)
{
    dfl_i128 inner = 0, peak = 0, first = first_touches(j->run, level, tensor), back;

    if (peer_uneven(j->run))
        return 0;
    for (uint32_t m = j->run->n_levels - level; m < j->result->mapping->system->n_memories && peak == 0; m++)
        inner = counts_of(j, m, tensor, &peak).fill;
    back = counts->update - counts->accumulate - inner - first;
    if (back != 0)
        j->out->ways |= 1u << JUDGE_RETURNS;
    if (j->run->levels[level].rmw_first >> tensor & 1) {
        j->out->ways |= 1u << JUDGE_RMW;
        back += first;
    }
    return back;
}

static void compare_tensor(judge *j, uint32_t level, uint32_t tensor)
{
    const peer_run *run = j->run;
    const peer_counts *peer = &run->counts[level][tensor];
    bool home = level + 1 == run->n_levels;
    dfl_i128 peak, n = peer->instances, back = 0;
    dfl_counts ours = counts_of(j, run->n_levels - 1 - level, tensor, &peak);
    char what[4 * PEER_NAME];

    if (!peer->present) {
        if (peak != 0) {
            j->out->verdict = JUDGE_BROKEN;
            say(&j->out->why, "%s of level %s is not in the peer's report", run->tensors[tensor].name,
                run->levels[level].name);
        }
        return;
    }
    if (run->tensors[tensor].written)
        back = returned(j, level, tensor, &ours);
    const struct { const char *name; dfl_i128 ours, peer; } fields[PEER_FIELDS] = {
        [PEER_READS] = { "reads", ours.serve + ours.accumulate + back, n * peer->reads },
        [PEER_FILLS] = { "fills", ours.fill + (home ? 0 : back), n * peer->fills },
        [PEER_UPDATES] = { "updates", ours.update, n * peer->updates },
        [PEER_CAPACITY] = { "capacity", home ? peak : peak / run->levels[level].buffers, peer->capacity },
    };
    for (peer_field f = 0; f < PEER_FIELDS; f++) {
        snprintf(what, sizeof what, "%s of %s in %s", fields[f].name, run->tensors[tensor].name,
                 run->levels[level].name);
        number(j, what, fields[f].ours, fields[f].peer, peer_causes_of(run, level, tensor, f));
    }
}

static void compare(judge *j)
{
    int64_t padded = peer_padded_cycles(j->run);

    number(j, "operations", j->result->einsums[0].points, j->run->points, 0);
    number(j, "compute cycles", j->result->einsums[0].steps, j->run->cycles,
           padded > 0 && padded == j->run->cycles ? 1u << PEER_PADS : 0);
    for (uint32_t k = 0; k < j->run->n_levels; k++)
        for (uint32_t t = 0; t < j->run->n_tensors; t++)
            compare_tensor(j, k, t);
}

static void note_ways(judge *j, const dfl_mapping *m)
{
    if (m->system->n_memories > j->run->n_levels || m->system->computes[0].operand_reuse.n_names > 0)
        j->out->ways |= 1u << JUDGE_REUSE;
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *l = &m->root->lines[i];
        if (l->kind == DFL_LINE_KEEP && l->mode != DFL_KEEP_EXACT)
            j->out->ways |= l->mode == DFL_KEEP_FRESH ? 1u << JUDGE_FRESH : 1u << JUDGE_WINDOW;
    }
}

static void judge_design(judge *j, dfl_arena *arena, int64_t most)
{
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sink *sink = dfl_sink_new(arena, NULL);
    const dfl_mapping *m = peer_design(j->run, arena, names);
    const dfl_paths *paths = dfl_paths_resolve(arena, sink, names, m);
    judge_text why = { "" };

    j->result = paths ? dfl_model_eval(arena, sink, names, paths) : NULL;
    note_ways(j, m);
    if (!j->result || j->run->rejected) {
        const dfl_diag *first = dfl_sink_count(sink) > 0 ? dfl_sink_at(sink, 0) : NULL;
        bool same = first && ((j->run->too_large && first->code == DFL_MAP_CAPACITY) ||
                              (j->run->too_wide && first->code == DFL_MAP_TOO_MANY_INSTANCES));
        j->out->verdict = !j->result && same ? JUDGE_REFUSED : JUDGE_BROKEN;
        say(&j->out->why, "refused %s: %s", j->result ? "by the peer alone" : "by dflc, or for another reason",
            first ? first->message : "no message");
        return;
    }
    if (j->say)
        printf("%s", judge_text_of(arena, names, m));
    if (j->run->died)
        j->out->verdict = JUDGE_DIED;
    else
        compare(j);
    if (!judge_reads_back(arena, names, j->result, &why) ||
        !judge_proven(arena, names, m, most, &j->out->whole, &why)) {
        j->out->verdict = JUDGE_BROKEN;
        j->out->why = why;
    }
}

void judge_run(const peer_run *run, int64_t most, bool say_all, judge_result *out)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    judge j = { .run = run, .say = say_all, .out = out };

    memset(out, 0, sizeof *out);
    out->plain = peer_plain(run);
    judge_design(&j, arena, most);
    dfl_arena_free(arena);
}
