#include "certify/tile_choice.h"

#include <string.h>

#include "certify/cost.h"

typedef DFL_VEC(dfl_line) line_vec;

/* Copies a selection, by the names of the operands only: the roles of the operands differ in the workload of
   one_einsum(). */
static dfl_selection list_names(dfl_arena *arena, const dfl_tile_choice *choice, const dfl_selection *given)
{
    const dfl_workload *w = choice->run->search->asked->workload;
    dfl_sym *names = DFL_NEW_ARRAY(arena, dfl_sym, DFL_CERTIFY_OPERANDS);
    dfl_selection out = { .names = names };

    for (uint32_t o = 0; o < choice->problem->n_operands; o++)
        if (dfl_selects(given, &w->tensors[choice->problem->operand[o].tensor]))
            names[out.n_names++] = w->tensors[choice->problem->operand[o].tensor].name;
    out.on = out.n_names > 0;
    return out;
}

/* A copy of the system without capacities and `holds`, so that the model evaluates tiles of every size. */
static const dfl_system *open_system(dfl_arena *arena, const dfl_tile_choice *choice)
{
    const dfl_system *s = choice->run->search->asked->system;
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
        axes[i].multicast = list_names(arena, choice, &s->axes[i].multicast);
        axes[i].reduce = list_names(arena, choice, &s->axes[i].reduce);
    }
    out->memories = memories;
    out->axes = axes;
    return out;
}

/* A workload of one einsum alone: its operands are inputs and an output of the workload. */
static const dfl_workload *one_einsum(dfl_arena *arena, const dfl_tile_choice *choice)
{
    const dfl_workload *w = choice->run->search->asked->workload;
    dfl_workload *out = DFL_NEW(arena, dfl_workload);
    dfl_tensor *tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + 1);
    uint32_t *first = DFL_NEW_ARRAY(arena, uint32_t, 1);

    *out = *w;
    out->einsums = &w->einsums[choice->problem->einsum];
    out->n_einsums = 1;
    out->tensors = tensors;
    out->n_carries = 0;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        tensors[t] = w->tensors[t];
        tensors[t].role = DFL_ROLE_INPUT;
        tensors[t].n_producers = tensors[t].n_consumers = 0;
    }
    for (uint32_t o = 0; o < choice->problem->n_operands; o++) {
        dfl_tensor *t = &tensors[choice->problem->operand[o].tensor];
        if (choice->problem->operand[o].output) {
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

/* Mask of the ranks that loops in slot `g` may iterate. `useful`: omits loops that cannot help. */
static uint32_t find_ranks(const dfl_tile_choice *choice, uint32_t g, bool useful)
{
    const dfl_certify_problem *problem = choice->problem;
    uint32_t all = (1u << problem->n_ranks) - 1;
    bool opens = false;

    for (uint32_t i = g; i < choice->shared_slots; i++) {
        const dfl_certify_operand *operand = &problem->operand[choice->form->operand[i]];
        if (!choice->home[i])
            continue;
        opens |= operand->common == 0 || !choice->run->time_counts;
        all &= operand->plain;
    }
    if (g < choice->shared_slots && !opens)
        return 0;
    if (!useful)
        return all;
    if (g >= choice->shared_slots && g + 1 < choice->n_slots)
        all &= problem->operand[choice->form->operand[g]].ranks;
    if (g > 0 && !choice->home[g - 1])
        all &= ~problem->operand[choice->form->operand[g - 1]].plain;
    return all;
}

static void order_loops(dfl_tile_choice *choice, uint32_t g)
{
    uint32_t moves = g + 1 < choice->n_slots ? choice->problem->operand[choice->form->operand[g]].ranks : 0, n = 0;

    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < choice->problem->n_ranks; r++)
            if ((moves >> r & 1) == (pass == 0))
                choice->order[g][n++] = r;
}

/* Adds the variable of the next loop or spatial line that is appended to `lines`. */
static void add_variable(dfl_tile_choice *choice, uint32_t r, uint32_t slot, uint32_t axis, const line_vec *lines)
{
    choice->at[r][choice->n[r]++] = (dfl_tile_variable){ .slot = slot, .axis = axis, .n = 1, .index = (uint32_t)lines->n,
                                                 .body = choice->shared_slots > 0 && slot >= choice->shared_slots };
}

static void add_line(dfl_tile_choice *choice, dfl_arena *arena, line_vec *lines, dfl_line line)
{
    line.span = choice->run->search->asked->hole_span;
    line.amount_span = (dfl_span){ line.span.start, line.span.start }; /* unlike `span`, so that an amount of 1 also counts as
                                                                          written */
    DFL_PUSH(arena, lines, line);
}

/* Adds the lines of slot `g` and the keep below it. */
static void add_slot(dfl_tile_choice *choice, dfl_arena *arena, line_vec *lines, uint32_t g, bool useful)
{
    const dfl_certify_problem *problem = choice->problem;
    uint32_t loops = find_ranks(choice, g, useful);

    for (uint32_t i = 0; i < problem->n_ranks; i++) {
        uint32_t r = choice->order[g][i];
        if (!(loops >> r & 1) || problem->extent[r] == 1)
            continue;
        add_variable(choice, r, g, DFL_NONE, lines);
        add_line(choice, arena, lines, (dfl_line){ .kind = DFL_LINE_TEMPORAL, .rank = problem->rank[r], .by = DFL_BY_SIZE,
                                              .amount = 1 });
    }
    for (uint32_t a = 0; a < problem->n_axes; a++)
        for (uint32_t r = 0; r < problem->n_ranks && choice->axis_slot[a] == g; r++) {
            if (!(problem->spread[a] >> r & 1) || problem->extent[r] == 1)
                continue;
            add_variable(choice, r, g, a, lines);
            add_line(choice, arena, lines,
                     (dfl_line){ .kind = DFL_LINE_SPATIAL,
                                 .rank = problem->rank[r],
                                 .axis = problem->axis[a],
                                 .by = DFL_BY_PARTS,
                                 .amount = 1 });
        }
    if (g + 1 < choice->n_slots && !choice->home[g])
        add_line(choice, arena, lines,
                 (dfl_line){ .kind = DFL_LINE_KEEP,
                             .tensor = problem->operand[choice->form->operand[g]].tensor,
                             .memory = problem->memory[choice->form->level[g]] });
}

/* Adds the homes, from outer to inner memories. */
static void add_homes(dfl_tile_choice *choice, dfl_arena *arena, line_vec *lines)
{
    for (uint32_t p = 0; p < choice->problem->n_levels; p++)
        for (uint32_t o = 0; o < choice->problem->n_operands; o++)
            if (choice->form->exchange[o] == p)
                add_line(choice, arena, lines, (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = choice->problem->operand[o].tensor,
                                                      .memory = choice->problem->memory[p] });
}

static dfl_body *new_body(dfl_arena *arena, const dfl_tile_choice *choice, dfl_body *parent, const line_vec *lines)
{
    const dfl_body *root = choice->run->search->asked->root;
    uint32_t *einsum = DFL_NEW_ARRAY(arena, uint32_t, 1);
    dfl_body *b = DFL_NEW(arena, dfl_body);

    *b = (dfl_body){ .kind = DFL_BODY_LEAF, .span = root->span, .id = parent ? 1 : 0, .parent = parent,
                     .depth = parent ? 1 : 0, .lines = lines->at, .n_lines = (uint32_t)lines->n, .einsums = einsum,
                     .n_einsums = 1, .compute = choice->problem->unit, .compute_span = root->span };
    return b;
}

static void make_mapping(dfl_arena *arena, dfl_tile_choice *choice, bool useful)
{
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 2), **child = DFL_NEW_ARRAY(arena, dfl_body *, 1);
    line_vec above = { .n = 0 }, below = { .n = 0 };

    add_homes(choice, arena, &above);
    for (uint32_t g = 0; g < choice->n_slots; g++)
        add_slot(choice, arena, g < choice->shared_slots || choice->shared_slots == 0 ? &above : &below, g, useful);
    bodies[0] = new_body(arena, choice, NULL, &above);
    choice->m = DFL_NEW(arena, dfl_mapping);
    *choice->m = *choice->run->search->asked;
    choice->m->workload = one_einsum(arena, choice);
    choice->m->system = open_system(arena, choice);
    choice->m->root = bodies[0];
    choice->m->bodies = bodies;
    choice->m->n_bodies = 1;
    choice->m->has_holes = false;
    choice->m->options.overlap_perfect = true;
    if (choice->shared_slots > 0) {
        bodies[1] = child[0] = new_body(arena, choice, bodies[0], &below);
        bodies[0]->kind = DFL_BODY_FUSE;
        bodies[0]->compute = DFL_NONE;
        bodies[0]->children = child;
        bodies[0]->n_children = 1;
        choice->m->n_bodies = 2;
    }
}

bool dfl_tile_choice_make(dfl_arena *home, dfl_arena *scratch, dfl_certify_run *run, const dfl_certify_problem *problem,
                     const dfl_claim_form *form, bool useful, dfl_tile_choice *choice)
{
    *choice = (dfl_tile_choice){ .run = run, .problem = problem, .form = form, .n_slots = form->n_keeps + 1u, .scratch = scratch,
                          .home_arena = home };
    for (uint32_t i = 0; i < form->n_keeps; i++) {
        const dfl_certify_operand *operand = &problem->operand[form->operand[i]];
        choice->home[i] = form->level[i] == form->exchange[form->operand[i]] && form->level[i] != operand->home;
        if (choice->home[i])
            choice->shared_slots = i + 1;
    }
    for (uint32_t a = 0; a < problem->n_axes; a++)
        while (choice->axis_slot[a] < form->n_keeps && !(problem->axes_around[form->level[choice->axis_slot[a]]] >> a & 1))
            choice->axis_slot[a]++;
    for (uint32_t g = 0; g < choice->n_slots; g++)
        order_loops(choice, g);
    make_mapping(home, choice, useful);
    choice->quiet = dfl_sink_quiet(home);
    choice->paths = dfl_paths_bind(home, choice->quiet, run->task->names, choice->m);
    return choice->paths != NULL;
}

/* Sets the amounts of the lines: the tile size of each loop, the parts of each spatial line. */
static void set_lines(dfl_tile_choice *choice)
{
    for (uint32_t r = 0; r < choice->problem->n_ranks; r++) {
        int64_t left = choice->problem->extent[r];
        for (uint32_t i = 0; i < choice->n[r]; i++) {
            const dfl_tile_variable *v = &choice->at[r][i];
            dfl_line *line = &choice->m->bodies[v->body]->lines[v->index];
            left /= v->n;
            line->amount = v->axis == DFL_NONE ? left : v->n;
        }
    }
}

void dfl_tile_choice_piece(const dfl_tile_choice *choice, uint32_t keep, int64_t *piece)
{
    const uint32_t around = choice->problem->axes_around[choice->form->level[keep]];

    for (uint32_t r = 0; r < choice->problem->n_ranks; r++) {
        piece[r] = choice->problem->extent[r];
        for (uint32_t i = 0; i < choice->n[r] && choice->at[r][i].slot <= keep; i++) {
            const dfl_tile_variable *v = &choice->at[r][i];
            if (v->axis == DFL_NONE || (around >> v->axis & 1))
                piece[r] /= v->n;
        }
    }
}

/* Sets the bits of all tiles by level. For keeps these are the model's peaks; for a home on the chip, the tile of its
   operand at its slot. */
static void find_room(const dfl_tile_choice *choice, const dfl_result *costs, double *room)
{
    memset(room, 0, DFL_CERTIFY_LEVELS * sizeof *room);
    for (uint32_t i = 0; i < choice->form->n_keeps; i++) {
        uint32_t level = choice->form->level[i], o = choice->form->operand[i];
        if (choice->home[i]) {
            int64_t piece[DFL_CERTIFY_RANKS];
            dfl_tile_choice_piece(choice, i, piece);
            room[level] += dfl_certify_tile_bits(choice->run->search->asked, choice->problem, o, piece) *
                           dfl_certify_buffers(choice->run, choice->problem, o, level);
            continue;
        }
        for (uint32_t k = 0; k < costs->n_traffic; k++)
            if (costs->traffic[k].memory == choice->problem->memory[level] &&
                costs->traffic[k].tensor == choice->problem->operand[o].tensor)
                room[level] += dfl_i128_double(costs->traffic[k].peak_bits);
    }
}

bool dfl_tile_choice_evaluate(dfl_tile_choice *choice, dfl_tile_choice_cost *cost)
{
    const dfl_intern *names = choice->run->task->names;
    const dfl_result *costs = NULL;

    set_lines(choice);
    dfl_arena_reset(choice->scratch);
    if (dfl_paths_resize(choice->scratch, choice->quiet, names, choice->paths)) {
        if (!choice->model)
            choice->model = dfl_model_prepare(choice->home_arena, choice->quiet, names, choice->paths);
        costs = choice->model ? dfl_model_run(choice->model, choice->scratch) : NULL;
    }
    if (!costs)
        return false;
    cost->joules = costs->joules - costs->leakage_joules;
    cost->seconds = costs->seconds;
    find_room(choice, costs, cost->room);
    return true;
}

/* Whether the innermost loop between the brace and keep `i` moves the keep; true if no loop stands there. */
static bool is_moved(const dfl_tile_choice *choice, uint32_t i)
{
    uint32_t ranks = choice->problem->operand[choice->form->operand[i]].ranks;

    for (uint32_t g = i + 1; g-- > 0;) {
        for (uint32_t a = 0; a < choice->problem->n_axes; a++)
            if (choice->axis_slot[a] == g)
                return true;
        for (uint32_t k = choice->problem->n_ranks; k-- > 0;) {
            uint32_t r = choice->order[g][k];
            for (uint32_t v = 0; v < choice->n[r]; v++)
                if (choice->at[r][v].slot == g && choice->at[r][v].axis == DFL_NONE && choice->at[r][v].n > 1)
                    return ranks >> r & 1;
        }
        if (g == choice->shared_slots)
            return true;
    }
    return true;
}

bool dfl_tile_choice_is_plain(const dfl_tile_choice *choice)
{
    for (uint32_t i = 0; i < choice->form->n_keeps; i++)
        if (!choice->home[i] && !is_moved(choice, i))
            return false;
    return true;
}

const char *dfl_tile_choice_text(const dfl_tile_choice *choice, dfl_arena *arena)
{
    const dfl_mapping *m = choice->run->search->asked;
    const dfl_intern *names = choice->run->task->names;
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    for (uint32_t b = 0; b < choice->m->n_bodies; b++)
        for (uint32_t i = 0; i < choice->m->bodies[b]->n_lines; i++) {
            const dfl_line *line = &choice->m->bodies[b]->lines[i];
            int64_t n = 1;
            for (uint32_t r = 0; r < choice->problem->n_ranks; r++)
                for (uint32_t v = 0; v < choice->n[r]; v++)
                    if (choice->at[r][v].body == b && choice->at[r][v].index == i)
                        n = choice->at[r][v].n;
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
