/* The judge of a front of mappings with written lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "ir/mapping_open.h"
#include "model/model.h"
#include "tests/mapper/enumerate.h"
#include "tests/mapper/judge.h"

enum { WHY = sizeof ((judge *)0)->why, MOST_POINTS = 256 };

/* What is known of a front; `memory` DFL_NONE: the second figure is the latency. */
typedef struct {
    double joules[MOST_POINTS], other[MOST_POINTS];
    uint32_t n, memory;
    double weight;              /* of the second figure */
} front;

static double other_of(const front *f, const dfl_result *r)
{
    return f->memory == DFL_NONE ? r->seconds : (double)r->memories[f->memory].peak_bits;
}

/* 0 if nothing of the front is at most the mapping in both figures, else 1. */
static double undercut(const void *context, const dfl_result *r)
{
    const front *f = context;

    for (uint32_t i = 0; i < f->n; i++)
        if (f->joules[i] <= r->joules * (1 + 1e-9) && f->other[i] <= other_of(f, r) * (1 + 1e-9))
            return 1;
    return 0;
}

static double weighted(const void *context, double joules, double seconds)
{
    return joules + ((const front *)context)->weight * seconds;
}

static bool read_front(dfl_session *s, front *out)
{
    for (size_t i = 0; i < s->filled.n && i < MOST_POINTS; i++) {
        const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->filled.at[i].mapping);
        const dfl_result *r = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
        if (!r)
            return false;
        out->joules[i] = r->joules;
        out->other[i] = other_of(out, r);
        for (uint32_t k = 0; k < i; k++)
            if (out->joules[k] <= out->joules[i] && out->other[k] <= out->other[i])
                return false;
        out->n++;
    }
    return true;
}

/* Whether the enumeration finds less of some weighted sum than the front has. */
static bool sums_fail(dfl_session *s, const dfl_mapping *open, front *f, enumerate_options *options)
{
    for (uint32_t i = 0; i < f->n; i++) {
        double least = INFINITY;
        enumerate_result r;
        f->weight = i + 1 < f->n ? (f->joules[i] - f->joules[i + 1]) / (f->other[i + 1] - f->other[i]) : 0;
        for (uint32_t k = 0; k < f->n; k++)
            least = fmin(least, weighted(f, f->joules[k], f->other[k]));
        options->of = NULL;
        options->value = weighted;
        options->limit = least * (1 - 1e-9);
        options->start = s->filled.at[i].mapping;
        enumerate_braces(s->arena, s->names, open, options, &r);
        if (r.mapping)
            return true;
    }
    return false;
}

bool judge_front_fails(judge *j, const char *text, const char *by)
{
    const char *end = strstr(text, "minimize ");
    char *all = NULL;
    size_t len;
    FILE *out = open_memstream(&all, &len);
    dfl_session *s = judge_session(false, false);
    front *f = calloc(1, sizeof *f);
    enumerate_options options = { .objective = f, .most = j->most, .seed = j->seed, .of = undercut };
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_mapping *open;
    bool fails = false;

    fprintf(out, "%.*spareto energy, %s%s", (int)(end - text), text, by, strchr(end, ';'));
    fclose(out);
    fails = dfl_session_open_text(s, "tiny.dfl", all, strlen(all)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
            dfl_sink_errors(s->sink) > 0;
    snprintf(j->why, WHY, "unread: %s", dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL));
    open = fails ? NULL : s->program->designs[0].mapping;
    f->memory = strcmp(by, "latency") == 0 ? DFL_NONE : 1;
    if (!fails && dfl_session_fill(s, open, &stopped)) {
        snprintf(j->why, WHY, "the front over energy and %s: a point is undercut", by);
        fails = !read_front(s, f);
        if (!fails && s->filled.at[0].search->optimal) {
            enumerate_result r = { .mapping = NULL };
            snprintf(j->why, WHY, "the front over energy and %s has not all", by);
            options.limit = 0.5;
            if (dfl_mapping_has_open_branches(open))
                fails = sums_fail(s, open, f, &options);
            else
                enumerate_between(s->arena, s->names, open, &options, &r);
            fails |= r.mapping != NULL;
            j->fronts++;
        }
    }
    dfl_session_free(s);
    free(f);
    free(all);
    return fails;
}
