/* The judge of what a search charges: no mapping may cost more in the search than in the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "ir/print_mapping.h"
#include "mapper/portfolio.h"
#include "model/model.h"
#include "tests/mapper/judge.h"

enum { WHY = sizeof ((judge *)0)->why, KINDS = 8 };

/* The text with another objective, and without stalls; owned by the caller. */
static char *with_objective(const char *text, const char *what)
{
    static const char line[] = "on chip {\n";
    const char *begin = strstr(text, line) + strlen(line), *end = strstr(text, "minimize ");
    char *all = NULL;
    size_t len;
    FILE *out = open_memstream(&all, &len);

    fprintf(out, "%.*s", (int)(begin - text), text);
    if (strstr(text, "overlap = perfect") == NULL)
        fprintf(out, "    option overlap = perfect;\n");
    fprintf(out, "%.*sminimize %s%s", (int)(end - begin), begin, what, strchr(end, ';'));
    fclose(out);
    return all;
}

/* Compares the best mapping of one kind with the best of all kinds, which is worth `least` in the search, or with its bound.
   True if the model finds less. */
static bool is_below(judge *j, dfl_session *s, const dfl_objective *o, const dfl_map_point *p, double least)
{
    const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, p->mapping);
    const dfl_result *r = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
    dfl_strbuf text;

    if (r == NULL || least <= dfl_objective_value(o, r->joules, r->seconds) * (1 + 1e-9))
        return false;
    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print(&text, s->names, p->mapping, DFL_PRINT_INDENT);
    snprintf(j->why, WHY, "%s: nothing is below %.12g; the search counts %.12g J and %.12g s, the model %.12g J "
             "and %.12g s: %s", o->text, least, p->joules, p->seconds, r->joules, r->seconds, text.text);
    return true;
}

static bool objective_fails(judge *j, const char *text, const char *what)
{
    dfl_session *s = judge_session(false, j->sharing);
    char *all = with_objective(text, what);
    bool fits = true, fails = false;
    double least = 0;
    const dfl_map_result *found = NULL;
    dfl_objective objective;

    if (dfl_session_open_text(s, "tiny.dfl", all, strlen(all)) == DFL_EXIT_OK && dfl_session_analyse(s) &&
        dfl_sink_errors(s->sink) == 0 && dfl_objective_make(s->sink, s->names, s->program->designs[0].mapping, &objective)) {
        const dfl_map_options options = { .objective = &objective, .top = KINDS,
                                          .space = { .any_spread = !j->sharing, .max_shared_loops = DFL_NONE } };
        found = dfl_mapper_run(s->arena, s->sink, s->names, s->program->designs[0].mapping, &options, &fits);
    }
    if (found != NULL && found->n_front > 0) /* where windows slide, costs are upper limits, and not what the bound is made of */
        least = found->windows ? found->lower_bound
                               : dfl_objective_value(&objective, found->front[0].joules, found->front[0].seconds);
    for (uint32_t i = 0; found != NULL && i < found->n_front && !fails; i++)
        fails = is_below(j, s, &objective, &found->front[i], least);
    j->charged += found != NULL ? found->n_front : 0;
    dfl_session_free(s);
    free(all);
    return fails;
}

bool judge_charges_fail(judge *j, const char *text)
{
    return objective_fails(j, text, "energy") || objective_fails(j, text, "latency") ||
           objective_fails(j, text, "energy * latency");
}
