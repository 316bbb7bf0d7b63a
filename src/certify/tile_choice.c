/* Mappings of one einsum with open tiles, and what the model says about them. */
#include "certify/tile_choice.h"

#include <string.h>

typedef DFL_VEC(dfl_line) line_vec;

/* Selections by role and name become lists of names, for roles are changed below. */
static dfl_selection by_name(dfl_arena *arena, const dfl_choice *c, const dfl_selection *given)
{
    const dfl_workload *w = c->run->s->asked->workload;
    dfl_sym *names = DFL_NEW_ARRAY(arena, dfl_sym, DFL_FRAME_OPERANDS);
    dfl_selection out = { .names = names };

    for (uint32_t o = 0; o < c->f->n_operands; o++)
        if (dfl_selects(given, &w->tensors[c->f->operand[o].tensor]))
            names[out.n_names++] = w->tensors[c->f->operand[o].tensor].name;
    out.on = out.n_names > 0;
    return out;
}

/* The system without capacities. */
static const dfl_system *open_system(dfl_arena *arena, const dfl_choice *c)
{
    const dfl_system *s = c->run->s->asked->system;
    dfl_system *out = DFL_NEW(arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(arena, dfl_memory, (size_t)s->n_memories + 1);
    dfl_axis *axes = DFL_NEW_ARRAY(arena, dfl_axis, (size_t)s->n_axes + 1);

    *out = *s;
    for (uint32_t i = 0; i < s->n_memories; i++) {
        memories[i] = s->memories[i];
        memories[i].size_bits = -1;
        memories[i].holds = (dfl_selection){ .on = false };
    }
    for (uint32_t i = 0; i < s->n_axes; i++) {
        axes[i] = s->axes[i];
        axes[i].multicast = by_name(arena, c, &s->axes[i].multicast);
        axes[i].reduce = by_name(arena, c, &s->axes[i].reduce);
    }
    out->memories = memories;
    out->axes = axes;
    return out;
}

/* The einsum alone: what it reads is there, what it makes leaves. */
static const dfl_workload *one_einsum(dfl_arena *arena, const dfl_choice *c)
{
    const dfl_workload *w = c->run->s->asked->workload;
    dfl_workload *out = DFL_NEW(arena, dfl_workload);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + 1);
    uint32_t *first = DFL_NEW_ARRAY(arena, uint32_t, 1);

    *out = *w;
    out->einsums = &w->einsums[c->f->einsum];
    out->n_einsums = 1;
    out->tensors = tensors;
    out->carries = false;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        tensors[t] = w->tensors[t];
        tensors[t].role = DFL_ROLE_INPUT;
        tensors[t].n_producers = tensors[t].n_consumers = 0;
    }
    for (uint32_t o = 0; o < c->f->n_operands; o++) {
        dfl_tensor *t = &tensors[c->f->operand[o].tensor];
        if (c->f->operand[o].output) {
            t->role = DFL_ROLE_OUTPUT;
            t->producers = first;
            t->n_producers = 1;
        } else {
            t->consumers = first;
            t->n_consumers = 1;
        }
    }
    return out;
}

/* Ranks that loops in gap `g` may be over. */
static uint32_t allowed(const dfl_choice *c, uint32_t g, bool useful)
{
    const dfl_frame *f = c->f;
    uint32_t all = (1u << f->n_ranks) - 1;
    bool opens = false;

    for (uint32_t i = g; i < c->shared_gaps; i++) {
        const dfl_frame_operand *o = &f->operand[c->form->operand[i]];
        if (!c->home[i])
            continue;
        opens |= o->common == 0 || !c->run->by_time;
        all &= o->plain;
    }
    if (g < c->shared_gaps && !opens)
        return 0;
    if (!useful)
        return all;
    if (g >= c->shared_gaps && g + 1 < c->n_gaps)
        all &= f->operand[c->form->operand[g]].ranks;
    if (g > 0 && !c->home[g - 1])
        all &= ~f->operand[c->form->operand[g - 1]].plain;
    return all;
}

static void order_loops(dfl_choice *c, uint32_t g)
{
    uint32_t moves = g + 1 < c->n_gaps ? c->f->operand[c->form->operand[g]].ranks : 0, n = 0;

    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < c->f->n_ranks; r++)
            if ((moves >> r & 1) == (pass == 0))
                c->order[g][n++] = r;
}

/* Of a loop or a spatial line that is added next to a body. */
static void add_variable(dfl_choice *c, uint32_t r, uint32_t gap, uint32_t axis, const line_vec *lines)
{
    c->at[r][c->n[r]++] = (dfl_choice_variable){ .gap = gap, .axis = axis, .n = 1, .index = (uint32_t)lines->n,
                                                 .body = c->shared_gaps > 0 && gap >= c->shared_gaps };
}

static void add_line(dfl_choice *c, dfl_arena *arena, line_vec *lines, dfl_line line)
{
    line.span = c->run->s->asked->hole_span;
    line.amount_span = (dfl_span){ line.span.start, line.span.start }; /* an amount of its own, even where it is 1 */
    DFL_PUSH(arena, lines, line);
}

/* Lines of gap `g` and the keep behind it. */
static void add_gap(dfl_choice *c, dfl_arena *arena, line_vec *lines, uint32_t g, bool useful)
{
    const dfl_frame *f = c->f;
    uint32_t loops = allowed(c, g, useful);

    for (uint32_t i = 0; i < f->n_ranks; i++) {
        uint32_t r = c->order[g][i];
        if (!(loops >> r & 1) || f->extent[r] == 1)
            continue;
        add_variable(c, r, g, DFL_NONE, lines);
        add_line(c, arena, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = f->rank[r], .by = DFL_BY_SIZE,
                                              .amount = 1 });
    }
    for (uint32_t a = 0; a < f->n_axes; a++)
        for (uint32_t r = 0; r < f->n_ranks && c->axis_gap[a] == g; r++) {
            if (!(f->spread[a] >> r & 1) || f->extent[r] == 1)
                continue;
            add_variable(c, r, g, a, lines);
            add_line(c, arena, lines, (dfl_line){ .kind = DFL_LINE_SPATIAL, .rank = f->rank[r], .axis = f->axis[a],
                                                  .by = DFL_BY_PARTS, .amount = 1 });
        }
    if (g + 1 < c->n_gaps && !c->home[g])
        add_line(c, arena, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = f->operand[c->form->operand[g]].tensor,
                                              .memory = f->memory[c->form->place[g]] });
}

/* Homes, from outer to inner memories. */
static void add_homes(dfl_choice *c, dfl_arena *arena, line_vec *lines)
{
    for (uint32_t p = 0; p < c->f->n_places; p++)
        for (uint32_t o = 0; o < c->f->n_operands; o++)
            if (c->form->exchange[o] == p)
                add_line(c, arena, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = c->f->operand[o].tensor,
                                                      .memory = c->f->memory[p] });
}

static dfl_body *new_body(dfl_arena *arena, const dfl_choice *c, dfl_body *parent, const line_vec *lines)
{
    const dfl_body *root = c->run->s->asked->root;
    uint32_t *einsum = DFL_NEW_ARRAY(arena, uint32_t, 1);
    dfl_body *b = DFL_NEW(arena, dfl_body);

    *b = (dfl_body){ .kind = DFL_BODY_LEAF, .span = root->span, .id = parent ? 1 : 0, .parent = parent,
                     .depth = parent ? 1 : 0, .lines = lines->at, .n_lines = (uint32_t)lines->n, .einsums = einsum,
                     .n_einsums = 1, .compute = c->f->unit, .compute_span = root->span };
    return b;
}

static void make_mapping(dfl_arena *arena, dfl_choice *c, bool useful)
{
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 2), **child = DFL_NEW_ARRAY(arena, dfl_body *, 1);
    line_vec above = { .n = 0 }, below = { .n = 0 };

    add_homes(c, arena, &above);
    for (uint32_t g = 0; g < c->n_gaps; g++)
        add_gap(c, arena, g < c->shared_gaps || c->shared_gaps == 0 ? &above : &below, g, useful);
    bodies[0] = new_body(arena, c, NULL, &above);
    c->m = DFL_NEW(arena, dfl_mapping);
    *c->m = *c->run->s->asked;
    c->m->workload = one_einsum(arena, c);
    c->m->system = open_system(arena, c);
    c->m->root = bodies[0];
    c->m->bodies = bodies;
    c->m->n_bodies = 1;
    c->m->has_holes = false;
    c->m->options.overlap_perfect = true;
    if (c->shared_gaps > 0) {
        bodies[1] = child[0] = new_body(arena, c, bodies[0], &below);
        bodies[0]->kind = DFL_BODY_FUSE;
        bodies[0]->compute = DFL_NONE;
        bodies[0]->children = child;
        bodies[0]->n_children = 1;
        c->m->n_bodies = 2;
    }
}

bool dfl_choice_make(dfl_arena *home, dfl_arena *scratch, dfl_certify_run *run, const dfl_frame *f,
                     const dfl_claim_form *form, bool useful, dfl_choice *out)
{
    *out = (dfl_choice){ .run = run, .f = f, .form = form, .n_gaps = form->n_keeps + 1u, .scratch = scratch,
                          .home_arena = home };
    for (uint32_t i = 0; i < form->n_keeps; i++) {
        const dfl_frame_operand *o = &f->operand[form->operand[i]];
        out->home[i] = form->place[i] == form->exchange[form->operand[i]] && form->place[i] != o->home;
        if (out->home[i])
            out->shared_gaps = i + 1;
    }
    for (uint32_t a = 0; a < f->n_axes; a++)
        while (out->axis_gap[a] < form->n_keeps && !(f->around[form->place[out->axis_gap[a]]] >> a & 1))
            out->axis_gap[a]++;
    for (uint32_t g = 0; g < out->n_gaps; g++)
        order_loops(out, g);
    make_mapping(home, out, useful);
    out->quiet = dfl_sink_new(home, NULL);
    dfl_sink_limit(out->quiet, 0);
    out->paths = dfl_paths_bind(home, out->quiet, run->task->names, out->m);
    return out->paths != NULL;
}

/* Amounts of the lines from the variables. */
static void set_lines(dfl_choice *c)
{
    for (uint32_t r = 0; r < c->f->n_ranks; r++) {
        int64_t left = c->f->extent[r];
        for (uint32_t i = 0; i < c->n[r]; i++) {
            const dfl_choice_variable *v = &c->at[r][i];
            dfl_line *line = &c->m->bodies[v->body]->lines[v->index];
            left /= v->n;
            line->amount = v->axis == DFL_NONE ? left : v->n;
        }
    }
}

void dfl_choice_piece(const dfl_choice *c, uint32_t keep, int64_t *piece)
{
    for (uint32_t r = 0; r < c->f->n_ranks; r++) {
        piece[r] = c->f->extent[r];
        for (uint32_t i = 0; i < c->n[r] && c->at[r][i].gap <= keep; i++)
            piece[r] /= c->at[r][i].n;
    }
}

/* What the tiles take in each place: what the model says of keeps, and the tile of a home where the loops leave it. */
static void find_room(const dfl_choice *c, const dfl_result *costs, double *room)
{
    memset(room, 0, DFL_FRAME_PLACES * sizeof *room);
    for (uint32_t i = 0; i < c->form->n_keeps; i++) {
        uint32_t place = c->form->place[i], o = c->form->operand[i];
        if (c->home[i]) {
            int64_t piece[DFL_FRAME_RANKS];
            dfl_choice_piece(c, i, piece);
            room[place] += dfl_frame_tile(c->run->s->asked, c->f, o, piece) * dfl_certify_buffers(c->run, c->f, o, place);
            continue;
        }
        for (uint32_t k = 0; k < costs->n_traffic; k++)
            if (costs->traffic[k].memory == c->f->memory[place] && costs->traffic[k].tensor == c->f->operand[o].tensor)
                room[place] += dfl_i128_double(costs->traffic[k].peak_bits);
    }
}

bool dfl_choice_evaluate(dfl_choice *c, dfl_choice_cost *out)
{
    const dfl_intern *names = c->run->task->names;
    const dfl_result *costs = NULL;

    set_lines(c);
    dfl_arena_reset(c->scratch);
    if (dfl_paths_resize(c->scratch, c->quiet, names, c->paths)) {
        if (!c->model)
            c->model = dfl_model_prepare(c->home_arena, c->quiet, names, c->paths);
        costs = c->model ? dfl_model_run(c->model, c->scratch) : NULL;
    }
    if (!costs)
        return false;
    out->joules = costs->joules - costs->leakage_joules;
    out->seconds = costs->seconds;
    find_room(c, costs, out->room);
    return true;
}

/* Whether the innermost loop between the brace and keep `i` moves it, if there is one. */
static bool is_moved(const dfl_choice *c, uint32_t i)
{
    uint32_t ranks = c->f->operand[c->form->operand[i]].ranks;

    for (uint32_t g = i + 1; g-- > 0;) {
        for (uint32_t a = 0; a < c->f->n_axes; a++)
            if (c->axis_gap[a] == g)
                return true;
        for (uint32_t k = c->f->n_ranks; k-- > 0;) {
            uint32_t r = c->order[g][k];
            for (uint32_t v = 0; v < c->n[r]; v++)
                if (c->at[r][v].gap == g && c->at[r][v].axis == DFL_NONE && c->at[r][v].n > 1)
                    return ranks >> r & 1;
        }
        if (g == c->shared_gaps)
            return true;
    }
    return true;
}

bool dfl_choice_plain(const dfl_choice *c)
{
    for (uint32_t i = 0; i < c->form->n_keeps; i++)
        if (!c->home[i] && !is_moved(c, i))
            return false;
    return true;
}

const char *dfl_choice_text(const dfl_choice *c, dfl_arena *arena)
{
    const dfl_mapping *m = c->run->s->asked;
    const dfl_intern *names = c->run->task->names;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (uint32_t b = 0; b < c->m->n_bodies; b++)
        for (uint32_t i = 0; i < c->m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &c->m->bodies[b]->lines[i];
            int64_t n = 1;
            for (uint32_t r = 0; r < c->f->n_ranks; r++)
                for (uint32_t v = 0; v < c->n[r]; v++)
                    if (c->at[r][v].body == b && c->at[r][v].index == i)
                        n = c->at[r][v].n;
            if (line->kind == DFL_LINE_KEEP)
                dfl_strbuf_printf(&out, "keep %s in %s; ", dfl_sym_text(names, m->workload->tensors[line->tensor].name),
                                  dfl_sym_text(names, m->system->memories[line->memory].name));
            else if (line->kind == DFL_LINE_TEMPORAL && n > 1)
                dfl_strbuf_printf(&out, "temporal %s:%lld; ", dfl_sym_text(names, m->workload->ranks[line->rank].name),
                                  (long long)line->amount);
            else if (n > 1)
                dfl_strbuf_printf(&out, "spatial %s/%lld on %s; ", dfl_sym_text(names, m->workload->ranks[line->rank].name),
                                  (long long)n, dfl_sym_text(names, m->system->axes[line->axis].name));
        }
    while (out.len > 0 && out.text[out.len - 1] == ' ')
        out.len--;
    return dfl_arena_copy(arena, out.text, out.len);
}
