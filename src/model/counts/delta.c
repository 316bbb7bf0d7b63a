/* Combining the groups of a point. */
#include "model/counts/delta.h"

#include "model/counts/group_sums.h"
#include "model/counts/product_form.h"
#include "support/vec.h"

static bool dfl_sharing_equal(const dfl_sharing *a, const dfl_sharing *b)
{
    return a->united == b->united && a->inside == b->inside && a->first_only == b->first_only && a->forward == b->forward &&
           a->anew == b->anew && a->box == b->box && a->made == b->made;
}

/* The slot of a group's sums. */
static dfl_kept_sums *sums_of(dfl_setting *set, dfl_group *g, const dfl_sharing *how)
{
    uint64_t mine = 0;
    dfl_sharing part = *how;

    for (uint32_t k = 0; k < g->n_spatial; k++)
        mine |= UINT64_C(1) << g->spatial[k];
    part.united &= mine;
    part.inside &= mine;
    part.first_only &= mine;
    if (part.forward != DFL_NONE && !(mine >> part.forward & 1)) {
        part.forward = DFL_NONE;
        part.anew = false;
    }
    for (dfl_kept_sums *k = g->kept; k; k = k->next)
        if (dfl_sharing_equal(&k->how, &part))
            return k;
    dfl_kept_sums *fresh = DFL_NEW(set->arena, dfl_kept_sums);
    *fresh = (dfl_kept_sums){ .how = part, .next = g->kept,
                              .sums.hold = DFL_NEW_ARRAY(set->arena, dfl_pair, 2 * (g->n_lines + 1)) };
    fresh->sums.adv = fresh->sums.hold + g->n_lines + 1;
    g->kept = fresh;
    return fresh;
}

/* The sums at the present sizes; NULL when the budget stopped. */
static const dfl_sums *fill_sums(dfl_setting *set, const dfl_point *point, dfl_group *g, dfl_kept_sums *k)
{
    if (k->run == set->run)
        return &k->sums;
    if (g->run != set->run)
        dfl_group_resize(set, point, g);
    if (!dfl_group_sums(set, point, g, &k->how, &k->sums)) {
        dfl_report_stop(set->sink, dfl_arena_budget(set->arena));
        return NULL;
    }
    k->run = set->run;
    return &k->sums;
}

dfl_moves *dfl_present_of(dfl_setting *set, dfl_point *point, const dfl_sharing *asked)
{
    dfl_moves *m;
    dfl_sharing how = *asked;

    if (!point->groups) {
        if (!dfl_groups_make(set, point))
            return NULL;
        dfl_closed_find(set, point);
        point->next = set->points;
        set->points = point;
    }
    how.inside &= point->spatial;
    how.first_only &= point->spatial & ~how.inside;
    how.united &= point->spatial & ~(how.inside | how.first_only);
    if (point->closed.possible && !how.box)
        how.united &= ~point->closed.dims; /* nothing to share: their tiles are disjoint */
    for (m = point->moves; m && !dfl_sharing_equal(&m->how, &how);)
        m = m->next;
    if (!m) {
        m = DFL_NEW(set->arena, dfl_moves);
        *m = (dfl_moves){ .point = point, .how = how, .next = point->moves };
        point->moves = m;
        dfl_closed_share(set, m);
        m->parts = DFL_NEW_ARRAY(set->arena, dfl_kept_sums *, point->n_groups + 1);
        for (uint32_t g = 0; g < point->n_groups; g++)
            m->parts[g] = sums_of(set, &point->groups[g], &how);
    }
    return m;
}

dfl_moves *dfl_moves_of(dfl_setting *set, dfl_point *point, const dfl_sharing *how, bool by_loop)
{
    dfl_moves *m = dfl_present_of(set, point, how);

    if (!m)
        return NULL;
    m->moving = true;
    if (by_loop && !m->by_enter) {
        m->by_enter = DFL_NEW_ARRAY(set->arena, dfl_i128, 2 * (point->n + 1));
        m->by_leave = m->by_enter + point->n + 1;
    }
    return m;
}

typedef struct { dfl_i128 enter, kept, leave, left_kept; } product;

static void times(product *p, const dfl_pair *q, bool *over)
{
    *over |= dfl_mul(p->enter, q->enter, &p->enter);
    *over |= dfl_mul(p->kept, q->kept, &p->kept);
    *over |= dfl_mul(p->leave, q->leave, &p->leave);
    *over |= dfl_mul(p->left_kept, q->left_kept, &p->left_kept);
}

/* The steps of loop `j`: its group advances, the others hold. */
static product advance(const dfl_point *point, const dfl_sums *const *sums, uint32_t j, bool *over)
{
    product p = { 1, 1, 1, 1 };

    for (uint32_t g = 0; g < point->n_groups; g++) {
        const dfl_group *group = &point->groups[g];
        uint32_t k = 0;
        while (k < group->n_lines && group->lines[k] <= j)
            k++;
        times(&p, point->line_group[j] == g ? &sums[g]->adv[k] : &sums[g]->hold[k], over);
    }
    return p;
}

static bool dfl_moves_combine(dfl_setting *set, dfl_moves *m)
{
    dfl_point *point = m->point;
    const dfl_path *p = &set->paths->paths[point->einsum];
    const dfl_sums **sums = DFL_NEW_ARRAY(set->arena, const dfl_sums *, point->n_groups + 1);
    product first = { 1, 1, 1, 1 };
    uint64_t covering = UINT64_MAX;
    uint32_t unequal = 0;
    bool over = false;

    m->present = m->most = 1;
    m->active = m->whole = 0;
    m->late = m->widened = m->falling = false;
    for (uint32_t g = 0; g < point->n_groups; g++) {
        sums[g] = fill_sums(set, point, &point->groups[g], m->parts[g]);
        if (!sums[g])
            return false;
        covering &= sums[g]->covering;
        unequal += !sums[g]->equal;
        over |= sums[g]->overflow;
        m->late |= sums[g]->late;
        m->widened |= sums[g]->widened;
        times(&first, &sums[g]->hold[0], &over);
        over |= dfl_mul(m->present, sums[g]->present, &m->present);
        over |= dfl_mul(m->most, sums[g]->most, &m->most);
    }
    if (unequal > 1 && covering == 0) {
        dfl_setting_refuse(set, point->span, "a tile that is no product of intervals (its readers want different parts)",
                           "keep the tensor in the branches of its readers");
        return false;
    }
    m->enter = first.enter;
    m->leave = first.leave;
    for (uint32_t j = 0; j < point->n; j++) {
        if (p->steps[j].line->kind != DFL_LINE_TEMPORAL || point->line_group[j] == DFL_NONE)
            continue;
        product at = advance(point, sums, j, &over);
        bool anew = j < point->restart;
        dfl_i128 enter = at.enter - (anew ? 0 : at.kept), leave = at.leave - (anew ? 0 : at.left_kept);
        over |= dfl_add(m->enter, enter, &m->enter);
        over |= dfl_add(m->leave, leave, &m->leave);
        m->active |= enter != 0 || leave != 0 ? UINT64_C(1) << j : 0;
        m->whole |= anew || at.kept == 0 ? UINT64_C(1) << j : 0;
        if (m->by_enter) {
            m->by_enter[j] = enter;
            m->by_leave[j] = leave;
        }
    }
    if (m->by_enter) {
        m->by_enter[point->n] = first.enter;
        m->by_leave[point->n] = first.leave;
    }
    return over ? dfl_flow_too_big(set, point->span) : true;
}

bool dfl_moves_count(dfl_setting *set, dfl_moves *m)
{
    m->even = false;
    if (!dfl_closed_chains(set, m) && !dfl_moves_combine(set, m))
        return false;
    m->run = set->run;
    return true;
}

bool dfl_moves_stay(const dfl_setting *set, const dfl_moves *m)
{
    const dfl_point *point = m->point;
    uint64_t loops = 0;

    if (m->closed)
        loops = point->closed.lines & set->sizes[point->closed.einsum].moving;
    for (uint32_t g = 0; g < point->n_groups && !m->closed; g++)
        for (uint32_t k = 0; k < point->groups[g].n_lines; k++)
            loops |= UINT64_C(1) << point->groups[g].lines[k];
    return (loops & ~m->whole) != 0;
}

bool dfl_moves_apart(dfl_setting *set, dfl_moves *m, dfl_i128 *out)
{
    dfl_point *point = m->point;
    bool over = false;

    if (!dfl_moves_fill(set, m))
        return false;
    if (dfl_closed_apart(set, m, out))
        return true;
    *out = 1;
    for (uint32_t g = 0; g < point->n_groups; g++) {
        if (point->groups[g].dim == DFL_NO_DIM)
            continue;
        const dfl_sums *sums = fill_sums(set, point, &point->groups[g], m->parts[g]);
        if (!sums)
            return false;
        over |= dfl_mul(*out, sums->present, out);
    }
    return over ? dfl_flow_too_big(set, point->span) : true;
}

int64_t dfl_moves_most(dfl_setting *set, const dfl_moves *m, uint32_t group)
{
    const dfl_sums *s = fill_sums(set, m->point, &m->point->groups[group], m->parts[group]);

    return s ? s->most : 0;
}
