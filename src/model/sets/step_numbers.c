/* Numbers of the steps of all paths of a mapping. */
#include "model/sets/step_numbers.h"

#include "support/vec.h"

/* Numbers the lines of body `body`; the lines of the bodies around it already have their numbers. `kept`: for each
   tensor, the run with its last keep; runs are counted from 1 over all bodies, and `runs` is the last number. */
static void number_lines(dfl_arena *arena, dfl_step_numbers *numbers, const dfl_body *body, uint32_t *kept, uint32_t *runs)
{
    uint32_t *step = DFL_NEW_ARRAY(arena, uint32_t, body->n_lines + 1);
    bool open = false; /* the line before `i` belongs to a run of keeps */

    step[0] = numbers->above[body->id] = body->parent ? numbers->step[body->parent->id][body->parent->n_lines] : 0;
    for (uint32_t i = 0; i < body->n_lines; i++) {
        const dfl_line *line = &body->lines[i];
        bool keep = line->kind == DFL_LINE_KEEP;
        bool joins = keep && open && kept[line->tensor] != *runs;
        *runs += keep && !joins;
        if (keep)
            kept[line->tensor] = *runs;
        step[i] -= joins;
        step[i + 1] = step[i] + 1;
        open = keep;
    }
    numbers->step[body->id] = step;
}

static void fold_path(dfl_arena *arena, dfl_step_numbers *numbers, const dfl_path *from, uint32_t output, dfl_path *to)
{
    *to = *from;
    to->n_steps = numbers->step[from->leaf->id][from->leaf->n_lines];
    to->steps = DFL_NEW_ARRAY(arena, dfl_path_step, to->n_steps);
    to->n_above = 0;
    for (uint32_t i = 0; i < from->n_steps; i++) {
        const dfl_path_step *s = &from->steps[i];
        uint32_t at = numbers->step[s->body->id][s->line - s->body->lines];
        bool mine = s->line->kind == DFL_LINE_KEEP && s->line->tensor == output;
        if (mine || !to->steps[at].line)
            to->steps[at] = *s;
        if (s->line->kind != DFL_LINE_KEEP)
            numbers->loops[numbers->n_loops++] = (dfl_numbered_loop){ &to->steps[at], s };
        if (i < from->n_above)
            to->n_above = at + 1;
    }
}

dfl_step_numbers *dfl_step_numbers_make(dfl_arena *arena, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_workload *w = m->workload;
    dfl_step_numbers *numbers = DFL_NEW(arena, dfl_step_numbers);
    uint32_t *kept = DFL_NEW_ARRAY(arena, uint32_t, w->n_tensors + 1), runs = 0, n_loops = 0;

    *numbers = (dfl_step_numbers){ .paths.mapping = m, .paths.place = paths->place,
                                   .paths.paths = DFL_NEW_ARRAY(arena, dfl_path, w->n_einsums + 1),
                                   .above = DFL_NEW_ARRAY(arena, uint32_t, m->n_bodies + 1),
                                   .step = DFL_NEW_ARRAY(arena, uint32_t *, m->n_bodies + 1) };
    for (uint32_t b = 0; b < m->n_bodies; b++)
        number_lines(arena, numbers, m->bodies[b], kept, &runs);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < paths->paths[e].n_steps; i++)
            n_loops += paths->paths[e].steps[i].line->kind != DFL_LINE_KEEP;
    numbers->loops = DFL_NEW_ARRAY(arena, dfl_numbered_loop, n_loops + 1);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        fold_path(arena, numbers, &paths->paths[e], w->einsums[e].output.tensor, &numbers->paths.paths[e]);
    return numbers;
}

void dfl_step_numbers_read(const dfl_step_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->n_loops; i++) {
        const dfl_path_step *from = numbers->loops[i].from;
        int64_t tile = from->tile, nominal = from->nominal;
        numbers->loops[i].to->tile = tile;
        numbers->loops[i].to->nominal = nominal;
    }
}

