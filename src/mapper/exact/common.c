/* Which inputs may be kept for several einsums, and what it costs to fetch them. */
#include "mapper/exact/common.h"

#include <math.h>

#include "mapper/exact/join.h"
#include "mapper/exact/tracks.h"

/* Places outside of arrays. */
static uint32_t open_places(const dfl_job *job)
{
    uint32_t open = 0;

    for (uint32_t p = 0; p < job->n_places; p++)
        open |= (uint32_t)(job->place[p].axes == 0) << p;
    return open;
}

/* Whether every einsum that reads the tensor has the same home for it, touches as much of it, and every rank in it is alone. */
static bool is_common(const dfl_classes *k, const dfl_tensor *t, uint32_t tensor)
{
    const dfl_job *first = NULL;
    const dfl_job_operand *like = NULL;

    if (t->n_producers > 0 || t->n_consumers < 2)
        return false;
    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < k->jobs[t->consumers[i]].n; u++) {
            dfl_job *job = k->jobs[t->consumers[i]].at[u];
            const dfl_job_operand *o = &job->operand[dfl_job_find_operand(job, tensor)];
            if (first == NULL) {
                first = job;
                like = o;
            }
            if (o->plain != o->ranks || o->elements != like->elements ||
                job->place[o->home].memory != first->place[like->home].memory)
                return false;
        }
    return true;
}

static void set_common(dfl_classes *k, const dfl_tensor *t, uint32_t tensor, bool on, bool loops)
{
    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < k->jobs[t->consumers[i]].n; u++) {
            dfl_job *job = k->jobs[t->consumers[i]].at[u];
            dfl_job_operand *o = &job->operand[dfl_job_find_operand(job, tensor)];
            o->common = on ? o->places & open_places(job) : 0;
            job->common_loops = on && loops;
        }
}

/* Whether the join can follow all that is alive at once, in all memories and `counted` (1 + number, 0 = none). */
static bool has_room(const dfl_classes *k, uint32_t counted)
{
    const dfl_workload *w = k->m->workload;
    const dfl_system *s = k->m->system;
    uint32_t tracks = 0;

    for (uint32_t m = 0; m < s->n_memories; m++)
        tracks += m + 1 == counted || dfl_tracks_needed(k, m);
    if (tracks > DFL_ROW_TRACKS)
        return false;
    for (uint32_t e = 0; e < k->n; e++) {
        uint32_t alive = 0;
        for (uint32_t t = 0; t < w->n_tensors; t++) {
            const dfl_tensor *x = &w->tensors[t];
            if (x->n_consumers > 0 && (x->n_producers > 0 || x->n_consumers > 1))
                alive += (x->n_producers > 0 ? x->producers[0] : x->consumers[0]) <= e &&
                         x->consumers[x->n_consumers - 1] > e;
        }
        if (alive > DFL_JOIN_LIVE)
            return false;
    }
    return true;
}

/* Whether lines of some einsum are written. */
static bool has_lines(const dfl_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        for (size_t u = 0; u < k->jobs[e].n; u++)
            if (k->jobs[e].at[u]->given != NULL)
                return true;
    return false;
}

void dfl_common_find(dfl_classes *k, const dfl_job_limits *limits)
{
    const dfl_workload *w = k->m->workload;
    bool any = false;

    if (has_lines(k))
        return;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (is_common(k, &w->tensors[t], t)) {
            set_common(k, &w->tensors[t], t, true, limits->common_loops);
            any = true;
        }
    if (any && !limits->unjoined && !has_room(k, limits->counted))
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (w->tensors[t].n_producers == 0)
                set_common(k, &w->tensors[t], t, false, limits->common_loops);
}

bool dfl_common_served(const dfl_job *job, const dfl_tiling_template *t, uint32_t operand)
{
    return job->operand[operand].common != 0 && t->exchange[operand] != job->operand[operand].home;
}

double dfl_common_joules(const dfl_job *job, const dfl_tiling_template *t, uint32_t operand)
{
    const dfl_job_operand *o = &job->operand[operand];

    return dfl_common_served(job, t, operand)
               ? o->elements * o->bits * (job->place[o->home].read_joules + job->place[t->exchange[operand]].write_joules) : 0;
}

double dfl_common_seconds(const dfl_job *job, const dfl_tiling_template *t, uint32_t operand)
{
    const dfl_job_operand *o = &job->operand[operand];

    return dfl_common_served(job, t, operand)
               ? o->elements * o->bits * fmax(job->place[o->home].read_seconds, job->place[t->exchange[operand]].write_seconds)
               : 0;
}
