/* The clauses of the search space for several einsums (mapper/problem/space_text.c), read as rules for mappings of the rival. */
#include "tests/mapper/rival.h"

#include <stddef.h>

typedef struct {
    const rival_mapping *m;
    const dfl_mapping *open;
    bool timed;
} space;

static bool is_below(const rival_mapping *m, uint32_t inner, uint32_t outer)
{
    int32_t at = (int32_t)inner;

    while (at > (int32_t)outer)
        at = m->body[at].parent;
    return at == (int32_t)outer;
}

static bool touches(const dfl_einsum *e, uint32_t tensor)
{
    bool found = e->output.tensor == tensor;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        found |= e->inputs[i].tensor == tensor;
    return found;
}

static bool indexes(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (a->index[d].terms[i].rank == rank)
                return true;
    return false;
}

/* Mask of the einsums below a body. */
static uint32_t einsums_below(const space *s, uint32_t body)
{
    uint32_t mask = 0;

    for (uint32_t i = body; i < s->m->n; i++)
        if (s->m->body[i].einsum >= 0 && is_below(s->m, i, body))
            mask |= 1u << s->m->body[i].einsum;
    return mask;
}

/* Einsums of the mask that touch the tensor. */
static uint32_t users_of(const space *s, uint32_t tensor, uint32_t mask)
{
    uint32_t users = 0;

    for (uint32_t e = 0; e < s->open->workload->n_einsums; e++)
        if (mask >> e & 1 && touches(&s->open->workload->einsums[e], tensor))
            users |= 1u << e;
    return users;
}

/* Body and line of the home of a tensor, its first keep on any path. */
static bool find_home(const space *s, uint32_t tensor, uint32_t *body, uint32_t *line)
{
    for (*body = 0; *body < s->m->n; ++*body)
        for (*line = 0; *line < s->m->body[*body].n; ++*line)
            if (s->m->body[*body].line[*line].kind == DFL_LINE_KEEP && s->m->body[*body].line[*line].what == tensor)
                return true;
    return false;
}

/* Whether the memory is the outermost that may hold the tensor, and has room for all tensors. */
static bool holds_whole(const space *s, uint32_t tensor, uint32_t memory)
{
    const dfl_system *chip = s->open->system;
    const dfl_workload *w = s->open->workload;
    double all = 0;

    for (uint32_t i = 0; i < memory; i++)
        if (!chip->memories[i].holds.on || dfl_selects(&chip->memories[i].holds, &w->tensors[tensor]))
            return false;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        double bits = w->tensors[t].type.bits;
        for (uint32_t d = 0; d < w->tensors[t].n_dims; d++)
            bits *= (double)w->tensors[t].extents[d];
        all += bits;
    }
    return chip->memories[memory].size_bits < 0 || all <= (double)chip->memories[memory].size_bits;
}

/* Whether an intermediate is exchanged below line `at` of `body`. A tensor that the outermost memory holds whole is not. */
static bool is_exchanged_below(const space *s, uint32_t tensor, uint32_t body, uint32_t at)
{
    const uint32_t users = users_of(s, tensor, einsums_below(s, body));
    uint32_t home_body, home_line;

    return s->open->workload->tensors[tensor].role == DFL_ROLE_INTERMEDIATE && find_home(s, tensor, &home_body, &home_line) &&
           home_body >= body && is_below(s->m, home_body, body) && !(home_body == body && home_line < at) &&
           (users & (users - 1)) != 0 && !holds_whole(s, tensor, s->m->body[home_body].line[home_line].where);
}

/* Einsums that exchange a tensor below line `at` of `body`, a mask; `*fits`: one such tensor is indexed by the rank. */
static uint32_t exchangers(const space *s, uint32_t body, uint32_t at, uint32_t rank, bool *fits)
{
    const dfl_workload *w = s->open->workload;
    uint32_t below = einsums_below(s, body), all = 0;

    *fits = false;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const uint32_t users = users_of(s, t, below);
        if (!is_exchanged_below(s, t, body, at))
            continue;
        all |= users;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            *fits |= users >> e & 1 && w->einsums[e].output.tensor == t && indexes(&w->einsums[e].output, rank);
    }
    return all;
}

/* The first loop of the body below line `at`; the number of lines if there is none. */
static uint32_t find_loop_below(const space *s, uint32_t body, uint32_t at)
{
    uint32_t i = at + 1;

    while (i < s->m->body[body].n && s->m->body[body].line[i].kind == DFL_LINE_KEEP)
        i++;
    return i;
}

/* Whether a loop of the body stands below line `at`. */
static bool has_loop_below(const space *s, uint32_t body, uint32_t at)
{
    return find_loop_below(s, body, at) < s->m->body[body].n;
}

/* The rank of einsum `e` that a loop above a branch over `below` cuts: that of the loop, or the one in the same dimension of a
   tensor that another einsum indexes by it. DFL_NONE = none. */
static uint32_t cut_of(const dfl_workload *w, uint32_t below, uint32_t e, uint32_t rank)
{
    if (dfl_einsum_has_rank(&w->einsums[e], rank))
        return rank;
    for (uint32_t f = 0; f < w->n_einsums; f++)
        for (uint32_t i = 0; f != e && below >> f & 1 && i <= w->einsums[f].n_inputs; i++)
            for (uint32_t o = 0; o <= w->einsums[e].n_inputs; o++) {
                const dfl_access *other = i < w->einsums[f].n_inputs ? &w->einsums[f].inputs[i] : &w->einsums[f].output;
                const dfl_access *own = o < w->einsums[e].n_inputs ? &w->einsums[e].inputs[o] : &w->einsums[e].output;
                uint32_t x, y;
                for (uint32_t d = 0; other->tensor == own->tensor && d < own->n_dims; d++)
                    if (dfl_index_is_bare(&other->index[d], &x) && x == rank && dfl_index_is_bare(&own->index[d], &y))
                        return y;
            }
    return DFL_NONE;
}

/* Whether a loop over `rank` above a branch over `below` cuts a rank of an einsum that a loop over `other` above `all` cuts. */
static bool cut_alike(const dfl_workload *w, uint32_t below, uint32_t rank, uint32_t all, uint32_t other)
{
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const uint32_t cut = below >> e & 1 ? cut_of(w, below, e, rank) : DFL_NONE;
        if (cut != DFL_NONE && cut == cut_of(w, all, e, other))
            return true;
    }
    return false;
}

static const char *judge_loop(const space *s, uint32_t body, uint32_t at)
{
    const rival_line *l = &s->m->body[body].line[at];
    uint32_t below = einsums_below(s, body), n = 0, same = 0, those;
    bool fits;

    if (l->kind == DFL_LINE_SPATIAL)
        return "an axis above a branch";
    for (int32_t b = (int32_t)body; b >= 0; b = s->m->body[b].parent)
        for (uint32_t i = 0; i < s->m->body[b].n; i++) {
            n += s->m->body[b].line[i].kind != DFL_LINE_KEEP;
            same += s->m->body[b].line[i].kind != DFL_LINE_KEEP &&
                    cut_alike(s->open->workload, below, l->what, einsums_below(s, (uint32_t)b), s->m->body[b].line[i].what);
        }
    if (n > 4 || same > 1)
        return "shared loops";
    those = exchangers(s, body, at, l->what, &fits);
    if (!fits)
        return "a shared loop over a rank of no exchanged tensor";
    for (uint32_t e = 0; e < 32; e++)
        if (below >> e & 1 && ((those & ((2u << e) - 1)) == 0 || those >> e == 0))
            return "a loop shared with an einsum that exchanges nothing";
    return NULL;
}

/* Whether a loop stands above line `at` of `body`. */
static bool has_loop_above(const space *s, uint32_t body, uint32_t at)
{
    for (int32_t b = (int32_t)body; b >= 0; b = s->m->body[b].parent)
        for (uint32_t i = 0; i < (b == (int32_t)body ? at : s->m->body[b].n); i++)
            if (s->m->body[b].line[i].kind != DFL_LINE_KEEP)
                return true;
    return false;
}

static const char *judge_keep(const space *s, uint32_t body, uint32_t at)
{
    const rival_line *l = &s->m->body[body].line[at];
    uint32_t home_body, home_line, users = users_of(s, l->what, einsums_below(s, body));
    bool fits;

    if (find_home(s, l->what, &home_body, &home_line) && home_body == body && home_line == at) {
        if (l->where == 0 && s->open->system->memories[0].size_bits < 0 && has_loop_above(s, body, at))
            return "a part exchanged in the outermost memory, which holds all";
        return s->open->system->memories[l->where].element > 0 ? "an exchange inside of an array" : NULL;
    }
    if (!has_loop_below(s, body, at))
        return "a keep above a branch without a shared loop between";
    if (s->open->system->memories[l->where].element > 0)
        return "a keep inside of an array above a shared loop";
    if (s->timed && (exchangers(s, body, find_loop_below(s, body, at), 0, &fits) & users) != users)
        return "a keep above loops in which its einsum exchanges nothing";
    if ((users & (users - 1)) != 0 && s->open->workload->tensors[l->what].role != DFL_ROLE_INPUT &&
        s->open->workload->tensors[l->what].role != DFL_ROLE_WEIGHT)
        return "a second keep of an exchanged tensor for several einsums";
    return NULL;
}

/* Whether a keep inside of an array stands above a keep of an exchanged tensor. */
static bool is_turned(const space *s, const rival_body *b)
{
    bool inside = false;

    for (uint32_t i = 0; i < b->n; i++) {
        const rival_line *l = &b->line[i];
        if (l->kind != DFL_LINE_KEEP)
            continue;
        if (inside && s->open->workload->tensors[l->what].role == DFL_ROLE_INTERMEDIATE)
            return true;
        inside |= s->open->system->memories[l->where].element > 0;
    }
    return false;
}

const char *rival_outside(const rival *k, const rival_mapping *from, bool timed)
{
    rival_mapping trimmed = *from, *m = &trimmed;
    const space s = { .m = m, .open = k->open, .timed = timed };
    const char *why = NULL;

    rival_trim(k, m);
    for (uint32_t b = 0; b < m->n && why == NULL; b++) {
        if (m->body[b].einsum >= 0 && m->n > 1 && is_turned(&s, &m->body[b]))
            why = "a keep inside of an array above an exchanged tensor";
        for (uint32_t i = 0; i < m->body[b].n && why == NULL && m->body[b].einsum < 0; i++)
            why = m->body[b].line[i].kind == DFL_LINE_KEEP ? judge_keep(&s, b, i) : judge_loop(&s, b, i);
    }
    return why;
}

/* Whether each of the einsums exchanges, below the first loop under line `at`, a tensor that the rank of the loop indexes. */
static bool share_loop(const space *s, uint32_t body, uint32_t at, uint32_t users)
{
    const dfl_workload *w = s->open->workload;
    const uint32_t loop = find_loop_below(s, body, at);
    uint32_t those = 0;

    if (loop == s->m->body[body].n)
        return false;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const uint32_t touching = users_of(s, t, einsums_below(s, body));
        bool fits = false;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            fits |= w->einsums[e].output.tensor == t && indexes(&w->einsums[e].output, s->m->body[body].line[loop].what);
        those |= fits && is_exchanged_below(s, t, body, loop) ? touching : 0;
    }
    return (those & users) == users;
}

bool rival_lifts_keeps(const rival *k, const rival_mapping *from)
{
    rival_mapping trimmed = *from, *m = &trimmed;
    const space s = { .m = m, .open = k->open };

    rival_trim(k, m);
    for (uint32_t b = 0; b < m->n; b++)
        for (uint32_t i = 0; i < m->body[b].n; i++) {
            const rival_line *l = &m->body[b].line[i];
            uint32_t home_body, home_line, users = users_of(&s, l->what, einsums_below(&s, b));
            bool home = find_home(&s, l->what, &home_body, &home_line) && home_body == b && home_line == i;
            if (l->kind != DFL_LINE_KEEP || m->body[b].einsum >= 0)
                continue;
            if (s.open->system->memories[l->where].element > 0 || (!home && !share_loop(&s, b, i, users)))
                return true;
        }
    return false;
}
