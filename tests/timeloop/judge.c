#include "tests/timeloop/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"

typedef struct {
    const peer_run *run;
    const dfl_result *result;
    const dfl_intern *names;
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

/* Compares one number of the peer with the number of dflc, and records the causes that may change it. */
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

/* Number of the tensor (memory) with the name in the result; DFL_NONE without one. */
static uint32_t tensor_of(const judge *j, uint32_t tensor)
{
    const dfl_workload *w = j->result->mapping->workload;

    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (strcmp(dfl_sym_text(j->names, w->tensors[t].name), j->run->f.tensors[tensor].name) == 0)
            return t;
    return DFL_NONE;
}

static uint32_t memory_of(const judge *j, uint32_t level)
{
    const dfl_system *s = j->result->mapping->system;

    for (uint32_t m = 0; m < s->n_memories; m++)
        if (strcmp(dfl_sym_text(j->names, s->memories[m].name), j->run->f.levels[level].name) == 0)
            return m;
    return DFL_NONE;
}

/* `peak` in elements. */
static dfl_counts counts_of(const judge *j, uint32_t memory, uint32_t tensor, dfl_i128 *peak)
{
    const dfl_counts none = { 0 };

    for (uint32_t i = 0; i < j->result->n_traffic; i++) {
        const dfl_traffic *t = &j->result->traffic[i];
        if (t->memory == memory && t->tensor == tensor_of(j, tensor)) {
            *peak = t->peak_bits / j->run->f.word_bits;
            return t->counts;
        }
    }
    *peak = 0;
    return none;
}

/* Number of pairs of an output element and an instance of the level that holds the element at some time. */
static dfl_i128 first_touches(const peer_run *run, uint32_t level, uint32_t tensor)
{
    const dfl_tl_tensor *t = &run->f.tensors[tensor];
    dfl_i128 first = 1;

    for (uint32_t d = 0; d < run->f.n_dims; d++) {
        bool indexes = false;
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint32_t i = 0; i < t->ranks[r].n_terms; i++)
                indexes |= t->ranks[r].terms[i].dim == d;
        if (indexes)
            first *= run->f.dims[d].bound;
        for (uint32_t k = level + 1; k < run->f.n_levels && !indexes; k++)
            for (uint32_t i = 0; i < run->f.levels[k].n_spatial; i++)
                first *= run->f.levels[k].spatial[i].dim == d ? run->f.levels[k].spatial[i].full : 1;
    }
    return first;
}

/*
 * Converts partial sums. By MODEL.md one instance of a reduction group gets the old value back and the others start
 * without a value. The peer counts a fill, and a read before the first update, in every instance that held the element
 * before. The number of elements without a value is updates - accumulates - fills of the next inner keep. With uneven
 * instances the peer reports averages, and no number is converted.
 */
static dfl_i128 returned(judge *j, uint32_t level, uint32_t tensor, const dfl_counts *counts)
{
    dfl_i128 inner = 0, peak = 0, first = first_touches(j->run, level, tensor), back;

    if (peer_uneven(j->run))
        return 0;
    for (uint32_t m = memory_of(j, level) + 1; m < j->result->mapping->system->n_memories && peak == 0; m++)
        inner = counts_of(j, m, tensor, &peak).fill;
    back = counts->update - counts->accumulate - inner - first;
    if (back != 0)
        j->out->ways |= 1u << JUDGE_RETURNS;
    if (j->run->f.levels[level].rmw_first >> tensor & 1) {
        j->out->ways |= 1u << JUDGE_RMW;
        back += first;
    }
    return back;
}

static void compare_tensor(judge *j, uint32_t level, uint32_t tensor)
{
    const peer_run *run = j->run;
    const peer_counts *peer = &run->counts[level][tensor];
    bool home = level + 1 == run->f.n_levels;
    dfl_i128 peak, n = peer->instances, back = 0;
    dfl_counts ours = counts_of(j, memory_of(j, level), tensor, &peak);
    char what[4 * PEER_NAME];

    if (!peer->present) {
        if (peak != 0) {
            j->out->verdict = JUDGE_BROKEN;
            say(&j->out->why, "%s of level %s is not in the peer's report", run->f.tensors[tensor].name,
                run->f.levels[level].name);
        }
        return;
    }
    if (run->f.tensors[tensor].written)
        back = returned(j, level, tensor, &ours);
    const struct { const char *name; dfl_i128 ours, peer; } fields[PEER_FIELDS] = {
        [PEER_READS] = { "reads", ours.serve + ours.accumulate + back, n * peer->reads },
        [PEER_FILLS] = { "fills", ours.fill + (home ? 0 : back), n * peer->fills },
        [PEER_UPDATES] = { "updates", ours.update, n * peer->updates },
        [PEER_CAPACITY] = { "capacity", home ? peak : peak / run->f.levels[level].buffers, peer->capacity },
    };
    for (peer_field f = 0; f < PEER_FIELDS; f++) {
        snprintf(what, sizeof what, "%s of %s in %s", fields[f].name, run->f.tensors[tensor].name,
                 run->f.levels[level].name);
        number(j, what, fields[f].ours, fields[f].peer, peer_causes_of(run, level, tensor, f));
    }
}

/* Whether the reported energy equals the counts of the peer times its energies per access. */
static void compare_energy(judge *j, const char *what, double ours, double peer)
{
    if (ours - peer <= 1e-9 * peer && peer - ours <= 1e-9 * peer)
        return;
    j->out->verdict = JUDGE_BROKEN;
    say(&j->out->why, "energy of %s: %.12g pJ, the peer says %.12g", what, ours, peer);
}

/* Words in one vector of the level. */
static int64_t block_of(const dfl_tl_file *f, uint32_t level)
{
    const dfl_yaml *block = dfl_tl_get(&dfl_tl_get(f->arch, "storage")->items[level], "block_size");

    return block ? strtoll(block->text, NULL, 10) : 1;
}

static int64_t vectors(int64_t words, int64_t block) { return words / block + (words % block != 0); }

/* The imported energy of a word, times the words that the peer counts: it charges whole vectors. */
static void compare_level_energy(judge *j, uint32_t level, uint32_t tensor)
{
    const dfl_tl_file *f = &j->run->f;
    const peer_counts *peer = &j->run->counts[level][tensor];
    const dfl_memory *m = &j->result->mapping->system->memories[memory_of(j, level)];
    int64_t words = block_of(f, level);
    int64_t moved = vectors(peer->reads, words) + vectors(peer->fills, words) + vectors(peer->updates, words);

    compare_energy(j, f->levels[level].name,
                   m->read_energy * 1e12 * (double)f->word_bits * (double)(moved * words), peer->energy);
    if (m->write_energy != m->read_energy)
        compare_energy(j, "writes", m->write_energy, m->read_energy);
}

/* Whether the closed form of the importer covers the run: no artifacts, and no transfers between neighbours. */
static bool is_counted(const peer_run *run)
{
    if (run->rejected || run->died || run->extrapolated || run->truncated || peer_padded_cycles(run) > 0)
        return false;
    for (uint32_t t = 0; t < run->f.n_tensors; t++) {
        if (dfl_tl_inner_links(&run->f, t) != DFL_TL_LINKS_NONE)
            return false;
        for (uint32_t k = 0; k < run->f.n_levels; k++)
            if (peer_passes(run, t, k))
                return false;
    }
    return true;
}

/* The counts of the peer that the importer computes, to state what the peer charges, must be those of the report. */
static void compare_counts(judge *j)
{
    const peer_run *run = j->run;

    for (uint32_t t = 0; t < run->f.n_tensors && is_counted(run); t++) {
        dfl_tl_counts words[PEER_LEVELS];

        j->out->counted = dfl_tl_count_words(&run->f, t, words);
        for (uint32_t k = 0; j->out->counted && k < run->f.n_levels; k++) {
            const peer_counts *peer = &run->counts[k][t];

            if (!peer->present || (words[k].reads == (double)peer->reads && words[k].fills == (double)peer->fills &&
                                   words[k].updates == (double)peer->updates))
                continue;
            j->out->verdict = JUDGE_BROKEN;
            say(&j->out->why, "%s of %s: the importer counts %.0f reads, %.0f fills, %.0f updates, the peer %lld, %lld, %lld",
                run->f.tensors[t].name, run->f.levels[k].name, words[k].reads, words[k].fills, words[k].updates,
                (long long)peer->reads, (long long)peer->fills, (long long)peer->updates);
            return;
        }
    }
}

static void compare(judge *j)
{
    const dfl_compute *unit = &j->result->mapping->system->computes[0];
    int64_t padded = peer_padded_cycles(j->run);

    number(j, "operations", j->result->einsums[0].points, j->run->points, 0);
    number(j, "compute cycles", j->result->einsums[0].steps, j->run->cycles,
           padded > 0 && padded == j->run->cycles ? 1u << PEER_PADS : 0);
    for (uint32_t k = 0; k < j->run->f.n_levels; k++)
        for (uint32_t t = 0; t < j->run->f.n_tensors; t++)
            compare_tensor(j, k, t);
    compare_counts(j);
    compare_energy(j, "multipliers",
                   (j->run->f.n_tensors == 3 ? unit->mac_energy : unit->flop_energy) * 1e12 * (double)j->run->computes,
                   j->run->energy);
    for (uint32_t k = 0; k < j->run->f.n_levels; k++)
        for (uint32_t t = 0; t < j->run->f.n_tensors; t++)
            if (j->run->counts[k][t].present && memory_of(j, k) != DFL_NONE)
                compare_level_energy(j, k, t);
}

static void note_ways(judge *j, const dfl_mapping *m)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (strcmp(dfl_sym_text(j->names, m->system->memories[i].name), "latch") == 0)
            j->out->ways |= 1u << JUDGE_REUSE;
    if (m->system->computes[0].operand_reuse.n_names > 0)
        j->out->ways |= 1u << JUDGE_REUSE;
    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *l = &m->root->lines[i];
        if (l->kind == DFL_LINE_KEEP && l->mode != DFL_KEEP_EXACT)
            j->out->ways |= l->mode == DFL_KEEP_FRESH ? 1u << JUDGE_FRESH : 1u << JUDGE_WINDOW;
    }
}

static void judge_mapping(judge *j, dfl_session *s, const char *text, int64_t most)
{
    const dfl_mapping *m = s->program->designs[0].mapping;
    const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, m);
    judge_text why = { "" };

    j->names = s->names;
    j->result = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
    note_ways(j, m);
    if (!j->result || j->run->rejected) {
        const dfl_diag *first = dfl_sink_count(s->sink) > 0 ? dfl_sink_at(s->sink, 0) : NULL;
        bool same = first && ((j->run->too_large && first->code == DFL_MAP_CAPACITY) ||
                              (j->run->too_wide && first->code == DFL_MAP_TOO_MANY_INSTANCES));
        j->out->verdict = !j->result && same ? JUDGE_REFUSED : JUDGE_BROKEN;
        say(&j->out->why, "refused %s: %s", j->result ? "by the peer alone" : "by dflc, or for another reason",
            first ? first->message : "no message");
        return;
    }
    if (j->say)
        printf("%s", text);
    if (j->run->died)
        j->out->verdict = JUDGE_DIED;
    else
        compare(j);
    if (!judge_prints_back(s->names, text, j->result, &why) ||
        !judge_proven(s->arena, s->names, m, most, &j->out->whole, &why)) {
        j->out->verdict = JUDGE_BROKEN;
        j->out->why = why;
    }
}

/* The imported text must be laid out and without diagnostics. */
static void judge_imported(judge *j, const char *text, int64_t most)
{
    dfl_session *s = dfl_session_new(NULL);

    if (dfl_session_open_text(s, "case.dfl", text, strlen(text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_count(s->sink) > 0 || s->program->n_designs != 1)
        say(&j->out->why, "the result has diagnostics: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    else if (strcmp(dfl_session_formatted(s, NULL), text) != 0)
        say(&j->out->why, "the result is not laid out");
    else
        judge_mapping(j, s, text, most);
    if (j->out->why.text[0] == '\0' && dfl_sink_count(s->sink) == 0 &&
        (dfl_session_check(s) != DFL_EXIT_OK || dfl_sink_count(s->sink) > 0))
        say(&j->out->why, "the evaluation warns: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    if (j->out->why.text[0] != '\0' && j->out->verdict == JUDGE_EQUAL)
        j->out->verdict = JUDGE_BROKEN;
    dfl_session_free(s);
}

/* Imports the run and reads its parts again for the comparison. NULL with the reason in `why` after a failure. */
static const char *import_run(dfl_session *s, const char *name, const char *yaml, size_t len, peer_run *run,
                              judge_text *why)
{
    dfl_loss_report *report = DFL_NEW(s->arena, dfl_loss_report);
    const char *text = NULL;
    dfl_exit status;

    if (dfl_session_open_text(s, name, yaml, len) == DFL_EXIT_OK)
        text = dfl_session_import_timeloop(s, NULL, 0, &status, NULL);
    dfl_loss_init(report, s->arena, s->sink, s->sources);
    if (!text)
        say(why, "not imported: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    else if (!dfl_tl_open(&run->f, report, (const dfl_source *const[]){ s->root->source }, 1))
        say(why, "imported, but not read again");
    else
        return text;
    return NULL;
}

/* Whether the importer refuses the run for loops that need more instances than a level has. */
static bool is_too_wide(const dfl_session *s)
{
    const dfl_diag *first = dfl_sink_count(s->sink) > 0 ? dfl_sink_at(s->sink, 0) : NULL;

    return first && first->code == DFL_FOREIGN_RANGE && strncmp(first->message, "these factors need", 18) == 0;
}

void judge_run(const char *name, const char *yaml, size_t len, const dfl_json *expected, int64_t most, bool say_all,
               judge_result *out)
{
    dfl_session *s = dfl_session_new(NULL);
    peer_run run = { .rejected = false };
    judge j = { .run = &run, .say = say_all, .out = out };
    const char *text, *wrong;

    *out = (judge_result){ .verdict = JUDGE_BROKEN };
    text = import_run(s, name, yaml, len, &run, &out->why);
    wrong = text || is_too_wide(s) ? peer_read(expected, &run) : NULL;
    if (!text && is_too_wide(s) && !wrong && run.rejected && run.too_wide) {
        *out = (judge_result){ .verdict = JUDGE_REFUSED };
    } else if (wrong) {
        say(&out->why, "cannot be read: %s", wrong);
    } else if (text) {
        out->verdict = JUDGE_EQUAL;
        out->plain = peer_plain(&run);
        judge_imported(&j, text, most);
    }
    dfl_session_free(s);
}

/* ---- mappings that the peer's mapper found ---- */

/* The price by the rules of the peer for the counts of a tensor in a level, after conversion to the counts of the peer. */
static double charge(judge *j, uint32_t level, uint32_t tensor)
{
    const dfl_tl_file *f = &j->run->f;
    uint32_t memory = memory_of(j, level);
    dfl_i128 peak, n = 1, back;
    dfl_counts ours = counts_of(j, memory, tensor, &peak);
    int64_t block = block_of(f, level);

    if (peak == 0)
        return 0;
    for (uint32_t k = level + 1; k < f->n_levels; k++)
        for (uint32_t i = 0; i < f->levels[k].n_spatial; i++)
            n *= f->levels[k].spatial[i].full;
    back = f->tensors[tensor].written ? returned(j, level, tensor, &ours) : 0;
    return (double)(vectors((int64_t)((ours.serve + ours.accumulate + back) / n), block) +
                    vectors((int64_t)((ours.fill + (level + 1 == f->n_levels ? 0 : back)) / n), block) +
                    vectors((int64_t)(ours.update / n), block)) *
           (double)(n * block) * f->levels[level].read_energy;
}

void judge_found(const char *name, const char *yaml, size_t len, judge_best *best)
{
    dfl_session *source = dfl_session_new(NULL), *s = dfl_session_new(NULL);
    peer_run run = { .rejected = false };
    judge_result out = { .verdict = JUDGE_EQUAL };
    judge j = { .run = &run, .out = &out };
    const char *text = import_run(source, name, yaml, len, &run, &best->why);
    const dfl_mapping *m = NULL;
    const dfl_paths *paths;

    if (text && dfl_session_open_text(s, "case.dfl", text, strlen(text)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        s->program->n_designs == 1)
        m = s->program->designs[0].mapping;
    if (m && m->has_holes) {
        const dfl_search_options options = { .size = sizeof options, .imperfect = strstr(yaml, "template: ruby") != NULL };
        dfl_stop stopped;
        dfl_session_set_search(s, &options);
        const dfl_filled *filled = dfl_session_fill(s, m, &stopped);
        m = filled ? filled->mapping : NULL;
        if (filled) {
            best->optimal = filled->search->optimal;
            best->gap = filled->search->value / filled->search->lower_bound - 1;
            best->evaluated = filled->search->evaluated;
        }
    }
    paths = m ? dfl_paths_resolve(s->arena, s->sink, s->names, m) : NULL;
    j.names = s->names;
    j.result = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
    if (j.result) {
        best->cycles = (double)j.result->einsums[0].steps;
        best->energy = j.result->mapping->system->computes[0].mac_energy * 1e12 * (double)j.result->einsums[0].points;
        for (uint32_t k = 0; k < run.f.n_levels; k++)
            for (uint32_t t = 0; t < run.f.n_tensors && memory_of(&j, k) != DFL_NONE; t++)
                best->energy += charge(&j, k, t);
        run.every_step = true;
        for (uint32_t k = 0; k < run.f.n_levels; k++)
            for (uint32_t t = 0; t < run.f.n_tensors; t++)
                for (peer_field f = PEER_READS; f < PEER_CAPACITY && !(run.f.levels[k].bypass >> t & 1); f++)
                    best->causes |= peer_causes_of(&run, k, t, f);
    } else if (text) {
        say(&best->why, "refused: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    }
    dfl_session_free(source);
    dfl_session_free(s);
}
