/* Reads certificates from JSON. A key that is missing or of a wrong kind is reported once, as E0801. */
#include "certify/claims.h"

#include <math.h>
#include <string.h>

#include "diag/json_want.h"

typedef struct {
    dfl_arena *arena;
    dfl_json_wanting want;
    const dfl_intern *names;
    const dfl_mapping *m;
    dfl_claim_search *out;
} claim_reader;

static dfl_json_wanting wanting(dfl_sink *sink, const char *file)
{
    return (dfl_json_wanting){ sink, DFL_CERT_UNREADABLE, file, "is not a certificate", true };
}

static double number_of(claim_reader *reader, const dfl_json *value, const char *key)
{
    if (value && (value->kind == DFL_JSON_REAL || value->kind == DFL_JSON_INT || value->kind == DFL_JSON_BIG) &&
        value->real >= 0 && isfinite(value->real))
        return value->real;
    dfl_json_refuse(&reader->want, key, value ? "is not a finite number of at least 0" : "is missing");
    return 0;
}

/* Reads the number with a key of a JSON object. `unlimited`: JSON null stands for infinity. */
static double get_number(claim_reader *reader, const dfl_json *object, const char *key, bool unlimited)
{
    const dfl_json *value = dfl_json_get(object, key);

    if (unlimited && value && value->kind == DFL_JSON_NULL)
        return INFINITY;
    return number_of(reader, value, key);
}

/* Reads a lower bound of a cost. The bound may be negative, since it may subtract more than it adds. */
static double get_bound(claim_reader *reader, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_get(object, key);

    return value && value->kind == DFL_JSON_REAL && value->real < 0 ? value->real : get_number(reader, object, key, true);
}

static int64_t get_int(claim_reader *reader, const dfl_json *object, const char *key, int64_t least, int64_t most)
{
    const dfl_json *value = dfl_json_want(&reader->want, object, key, DFL_JSON_INT, "is not an integer");

    if (!value)
        return least;
    if (value->integer < least || value->integer > most)
        dfl_json_refuse(&reader->want, key, "is out of range");
    return value->integer;
}

static bool get_bool(claim_reader *reader, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_want(&reader->want, object, key, DFL_JSON_BOOL, "is neither true nor false");

    return value && value->boolean;
}

static const dfl_json *get_list(claim_reader *reader, const dfl_json *object, const char *key)
{
    static const dfl_json none = { .kind = DFL_JSON_ARRAY };
    const dfl_json *value = dfl_json_want(&reader->want, object, key, DFL_JSON_ARRAY, "is not a list");

    return value ? value : &none;
}

/* ---- the head ---- */

/* The space of a plan over chips is its text alone. */
static void read_space(claim_reader *reader, const dfl_json *space, dfl_claims *out)
{
    out->space = dfl_json_want_text(&reader->want, space, "text");
    if (out->search != NULL && strcmp(dfl_json_want_text(&reader->want, out->search, "by"), DFL_CERTIFICATE_BY_PLANS) == 0)
        return;
    out->most_loops = (uint32_t)get_int(reader, space, "shared_loops", 0, DFL_CLAIM_LOOPS);
    out->most_keeps = (uint32_t)get_int(reader, space, "keeps", 1, DFL_CLAIM_KEEPS);
    if (strcmp(dfl_json_want_text(&reader->want, space, "tiles"), "divide") != 0)
        dfl_json_refuse(&reader->want, "tiles", "is not \"divide\"");
    if (strcmp(dfl_json_want_text(&reader->want, space, "spatial"), "sharing") != 0)
        dfl_json_refuse(&reader->want, "spatial", "is not \"sharing\"");
}

const dfl_claims *dfl_claims_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len)
{
    claim_reader reader = { .arena = arena, .want = wanting(sink, file) };
    dfl_claims *out = DFL_NEW(arena, dfl_claims);
    dfl_json_error error;
    const dfl_json *json = dfl_json_parse(arena, text, len, &error);

    if (!json) {
        dfl_report(sink, DFL_CERT_UNREADABLE, (dfl_span){ 0, 0 }, "`%s` is not a certificate: line %u: %s", file, error.line,
                   error.message);
        return NULL;
    }
    if (strcmp(dfl_json_want_text(&reader.want, json, "schema"), DFL_CERTIFICATE) != 0)
        dfl_json_refuse(&reader.want, "schema", "is not \"" DFL_CERTIFICATE "\"");
    *out = (dfl_claims){ .file = file, .mapping = dfl_json_want_text(&reader.want, json, "mapping"),
                         .digest = dfl_json_want_text(&reader.want, json, "digest"),
                         .objective = dfl_json_want_text(&reader.want, json, "objective"),
                         .best = dfl_json_want_text(&reader.want, json, "best"),
                         .value = get_number(&reader, json, "value", false), .joules = get_number(&reader, json, "energy", false),
                         .seconds = get_number(&reader, json, "time", false),
                         .lower_bound = get_number(&reader, json, "lower_bound", false),
                         .optimal = get_bool(&reader, json, "optimal"),
                         .search = dfl_json_want(&reader.want, json, "search", DFL_JSON_OBJECT, "is not an object") };
    read_space(&reader, dfl_json_want(&reader.want, json, "space", DFL_JSON_OBJECT, "is not an object"), out);
    return reader.want.ok ? out : NULL;
}

/* ---- names ---- */

static uint32_t find_memory(claim_reader *reader, const char *name)
{
    for (uint32_t i = 0; i < reader->m->system->n_memories; i++)
        if (strcmp(dfl_sym_text(reader->names, reader->m->system->memories[i].name), name) == 0)
            return i;
    dfl_json_refuse(&reader->want, name, "is not a memory of the system");
    return 0;
}

static uint32_t find_level(claim_reader *reader, const dfl_certify_problem *problem, const char *name)
{
    uint32_t memory = find_memory(reader, name);

    for (uint32_t p = 0; p < problem->n_levels; p++)
        if (problem->memory[p] == memory)
            return p;
    dfl_json_refuse(&reader->want, name, "is not a memory that the unit reaches");
    return 0;
}

static uint32_t find_operand(claim_reader *reader, const dfl_certify_problem *problem, const char *name)
{
    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (strcmp(dfl_sym_text(reader->names, reader->m->workload->tensors[problem->operand[o].tensor].name), name) == 0)
            return o;
    dfl_json_refuse(&reader->want, name, "is not a tensor of the einsum");
    return 0;
}

static uint32_t find_rank(claim_reader *reader, const dfl_certify_problem *problem, const char *name)
{
    for (uint32_t i = 0; i < problem->n_ranks; i++)
        if (strcmp(dfl_sym_text(reader->names, reader->m->workload->ranks[problem->rank[i]].name), name) == 0)
            return i;
    dfl_json_refuse(&reader->want, name, "is not a rank of the einsum");
    return 0;
}

static const dfl_certify_problem *find_unit(claim_reader *reader, uint32_t einsum, const char *name)
{
    const dfl_certify_problems *all = &reader->out->problems[einsum];

    for (size_t i = 0; i < all->n; i++)
        if (strcmp(dfl_sym_text(reader->names, reader->m->system->computes[all->at[i]->unit].name), name) == 0)
            return all->at[i];
    dfl_json_refuse(&reader->want, name, "is not a unit that can run the einsum");
    return all->at[0];
}

/* ---- classes ---- */

static void read_skeleton(claim_reader *reader, dfl_claim_class *c, const dfl_json *json, uint32_t pattern, bool useless)
{
    const dfl_json *keeps = get_list(reader, json, "keeps");
    const dfl_certify_problem *problem = find_unit(reader, c->einsums[0], dfl_json_want_text(&reader->want, json, "unit"));
    const dfl_claim_pattern *p = &c->patterns.at[pattern];
    dfl_claim_skeleton t = { .problem = problem, .pattern = pattern, .useless = useless };

    if (!useless) {
        t.joules = get_bound(reader, json, "energy");
        t.seconds = get_bound(reader, json, "time");
    }
    t.form.unit = (uint8_t)problem->unit;
    if (reader->out->has_rows && !useless)
        t.searched = get_bool(reader, json, "searched");
    if (keeps->len > DFL_CLAIM_KEEPS)
        dfl_json_refuse(&reader->want, "keeps", "has too many of them");
    for (size_t i = 0; i < keeps->len && reader->want.ok; i++) {
        const dfl_json *home = dfl_json_get(&keeps->items[i], "home");
        uint32_t o = find_operand(reader, problem, dfl_json_want_text(&reader->want, &keeps->items[i], "tensor"));
        uint32_t level = find_level(reader, problem, dfl_json_want_text(&reader->want, &keeps->items[i], "memory"));
        if ((home != NULL) != (dfl_certify_is_exchanged(&problem->operand[o]) && level != problem->operand[o].home &&
                               p->memory[o] == problem->memory[level]))
            dfl_json_refuse(&reader->want, "home", "is not what the exchange says");
        t.form.operand[t.form.n_keeps] = (uint8_t)o;
        t.form.level[t.form.n_keeps++] = (uint8_t)level;
    }
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        t.form.exchange[o] = (uint8_t)problem->operand[o].home;
        for (uint32_t i = 0; i < problem->n_levels; i++)
            if (problem->memory[i] == p->memory[o])
                t.form.exchange[o] = (uint8_t)i;
    }
    DFL_PUSH(reader->arena, &c->skeletons, t);
}

static void read_pattern(claim_reader *reader, dfl_claim_class *c, const dfl_json *json)
{
    const dfl_certify_problem *problem = reader->out->problems[c->einsums[0]].at[0];
    const dfl_json *exchange = dfl_json_want(&reader->want, json, "exchange", DFL_JSON_OBJECT, "is not an object");
    const dfl_json *templates = get_list(reader, json, "templates"), *useless = get_list(reader, json, "useless");
    dfl_claim_pattern p = { .joules = 0 };

    if (reader->out->has_rows) {
        p.joules = get_number(reader, json, "energy", true);
        p.seconds = get_number(reader, json, "time", true);
    }
    for (uint32_t o = 0; o < DFL_CERTIFY_OPERANDS; o++)
        p.memory[o] = DFL_NONE;
    for (size_t i = 0; exchange && i < exchange->len && reader->want.ok; i++) {
        uint32_t o = find_operand(reader, problem, exchange->keys[i]);
        if (!dfl_certify_is_exchanged(&problem->operand[o]))
            dfl_json_refuse(&reader->want, exchange->keys[i], "is exchanged with no other einsum");
        p.memory[o] = find_memory(reader, dfl_json_want_text(&reader->want, exchange, exchange->keys[i]));
    }
    for (uint32_t o = 0; o < problem->n_operands && reader->want.ok; o++)
        if (dfl_certify_is_exchanged(&problem->operand[o]) && p.memory[o] == DFL_NONE)
            dfl_json_refuse(&reader->want, "exchange", "leaves out a tensor");
    DFL_PUSH(reader->arena, &c->patterns, p);
    for (size_t i = 0; i < templates->len && reader->want.ok; i++)
        read_skeleton(reader, c, &templates->items[i], (uint32_t)c->patterns.n - 1, false);
    for (size_t i = 0; i < useless->len && reader->want.ok; i++)
        read_skeleton(reader, c, &useless->items[i], (uint32_t)c->patterns.n - 1, true);
}

static void read_row(claim_reader *reader, dfl_claim_class *c, const dfl_json *json)
{
    const dfl_certify_problem *problem = reader->out->problems[c->einsums[0]].at[0];
    const dfl_json *loops = get_list(reader, json, "loops"), *room = get_list(reader, json, "room");
    const dfl_json *exchange = dfl_json_want(&reader->want, json, "exchange", DFL_JSON_OBJECT, "is not an object");
    dfl_claim_row row;

    memset(&row, 0, sizeof row);
    row.joules = get_number(reader, json, "energy", false);
    row.seconds = get_number(reader, json, "time", false);
    if (loops->len > reader->out->head->most_loops)
        dfl_json_refuse(&reader->want, "loops", "has more of them than the search space");
    for (size_t i = 0; i < loops->len && reader->want.ok; i++) {
        row.interface.rank[i] = (uint8_t)find_rank(reader, problem, dfl_json_want_text(&reader->want, &loops->items[i], "rank"));
        row.interface.trips[i] = get_int(reader, &loops->items[i], "trips", 2, INT64_MAX);
        row.interface.n_loops++;
    }
    for (size_t i = 0; exchange && i < exchange->len && reader->want.ok; i++) {
        uint32_t o = find_operand(reader, problem, exchange->keys[i]);
        row.interface.memory[o] = find_memory(reader, dfl_json_want_text(&reader->want, &exchange->items[i], "memory"));
        row.interface.depth[o] = (uint8_t)get_int(reader, &exchange->items[i], "depth", 0, row.interface.n_loops);
    }
    if (exchange && reader->want.ok && room->len != reader->out->n_tracks)
        dfl_json_refuse(&reader->want, "room", "is not for every track");
    for (size_t t = 0; t < room->len && reader->want.ok; t++)
        for (uint32_t d = 0; d <= row.interface.n_loops; d++)
            row.room[t][d] = number_of(reader, dfl_json_at(&room->items[t], d), "room");
    DFL_PUSH(reader->arena, &c->rows, row);
}

static void read_class(claim_reader *reader, const dfl_json *json)
{
    const dfl_json *einsums = get_list(reader, json, "einsums"), *patterns = get_list(reader, json, "patterns");
    const dfl_workload *w = reader->m->workload;
    dfl_claim_class c = { .einsums = DFL_NEW_ARRAY(reader->arena, uint32_t, einsums->len + 1) };

    for (size_t i = 0; i < einsums->len && reader->want.ok; i++) {
        const char *name = dfl_json_text(&einsums->items[i]);
        uint32_t e = 0;
        while (e < w->n_einsums && name && strcmp(dfl_sym_text(reader->names, w->einsums[e].name), name) != 0)
            e++;
        if (!name || e == w->n_einsums)
            dfl_json_refuse(&reader->want, name ? name : "einsums", "is not an einsum of the workload");
        else if (reader->out->class_of[e] != DFL_NONE)
            dfl_json_refuse(&reader->want, name, "is in two classes");
        else
            reader->out->class_of[e] = (uint32_t)reader->out->classes.n;
        c.einsums[c.n_einsums++] = e;
    }
    if (c.n_einsums == 0)
        dfl_json_refuse(&reader->want, "einsums", "is empty");
    for (size_t i = 0; i < patterns->len && reader->want.ok; i++)
        read_pattern(reader, &c, &patterns->items[i]);
    if (reader->want.ok && reader->out->has_rows) {
        const dfl_json *rows = get_list(reader, json, "rows");
        c.wave = (uint32_t)get_int(reader, json, "wave", 0, UINT32_MAX);
        for (size_t i = 0; i < rows->len && reader->want.ok; i++)
            read_row(reader, &c, &rows->items[i]);
    }
    DFL_PUSH(reader->arena, &reader->out->classes, c);
}

static void make_problems(claim_reader *reader)
{
    const dfl_workload *w = reader->m->workload;
    const bool *ample = dfl_certify_ample_memories(reader->arena, reader->m);

    reader->out->problems = DFL_NEW_ARRAY(reader->arena, dfl_certify_problems, (size_t)w->n_einsums + 1);
    reader->out->class_of = DFL_NEW_ARRAY(reader->arena, uint32_t, (size_t)w->n_einsums + 1);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        reader->out->class_of[e] = DFL_NONE;
        for (uint32_t u = 0; u < reader->m->system->n_computes; u++) {
            dfl_certify_problem *problem = DFL_NEW(reader->arena, dfl_certify_problem);
            bool fine = true;
            if (dfl_certify_problem_make(reader->names, reader->m, ample, e, u, problem, &fine))
                DFL_PUSH(reader->arena, &reader->out->problems[e], problem);
        }
        if (reader->out->problems[e].n == 0)
            dfl_json_refuse(&reader->want, dfl_sym_text(reader->names, w->einsums[e].name),
                            "is an einsum that the search does not support");
    }
}

/* Whether a keep may hold a tensor for several einsums. The tensor must be an input with several readers and have no
   sum of ranks in its indices. On all units that can run the readers, it must have one home, and the readers must touch
   equally many bits of the tensor. */
static bool is_common(const claim_reader *reader, uint32_t tensor)
{
    const dfl_tensor *t = &reader->m->workload->tensors[tensor];
    double bits = -1;
    uint32_t home = DFL_NONE;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < reader->out->problems[t->consumers[i]].n; u++) {
            const dfl_certify_problem *problem = reader->out->problems[t->consumers[i]].at[u];
            const dfl_certify_operand *operand = &problem->operand[dfl_certify_operand_of(problem, tensor)];
            if (operand->ranks != operand->plain ||
                (home != DFL_NONE && (problem->memory[operand->home] != home || operand->bits != bits)))
                return false;
            home = problem->memory[operand->home];
            bits = operand->bits;
        }
    return t->n_producers == 0 && t->n_consumers > 1;
}

/* Reads the inputs that a keep may hold for several einsums. Such a keep may stand in every memory outside of
   arrays. */
static void read_common(claim_reader *reader, const dfl_json *list)
{
    const dfl_workload *w = reader->m->workload;

    for (size_t i = 0; i < list->len && reader->want.ok; i++) {
        const char *name = dfl_json_text(&list->items[i]);
        uint32_t tensor = 0;
        while (name && tensor < w->n_tensors && strcmp(dfl_sym_text(reader->names, w->tensors[tensor].name), name) != 0)
            tensor++;
        if (!name || tensor == w->n_tensors || !is_common(reader, tensor)) {
            dfl_json_refuse(&reader->want, name ? name : "common",
                            "is not an input that several einsums read with equal accesses");
            return;
        }
        for (uint32_t e = 0; e < w->n_einsums; e++)
            for (size_t u = 0; u < reader->out->problems[e].n; u++) {
                dfl_certify_problem *problem = reader->out->problems[e].at[u];
                uint32_t o = dfl_certify_operand_of(problem, tensor);
                for (uint32_t p = 0; p < problem->n_levels && o < problem->n_operands; p++)
                    problem->operand[o].common |= problem->operand[o].levels & (uint32_t)(problem->axes_around[p] == 0) << p;
            }
    }
}

/* Every einsum must be in a class, and have the same choices as the first einsum of its class. */
static void check_classes(claim_reader *reader)
{
    dfl_claim_search *search = reader->out;

    for (uint32_t e = 0; e < reader->m->workload->n_einsums && reader->want.ok; e++) {
        const char *name = dfl_sym_text(reader->names, reader->m->workload->einsums[e].name);
        bool same = true;
        if (search->class_of[e] == DFL_NONE) {
            dfl_report(reader->want.sink, DFL_CERT_TEMPLATES, (dfl_span){ 0, 0 }, "`%s` leaves out einsum `%s`",
                       reader->want.file, name);
            reader->want.ok = false;
            return;
        }
        const dfl_certify_problems *mine = &search->problems[e],
                                   *first = &search->problems[search->classes.at[search->class_of[e]].einsums[0]];
        same = mine->n == first->n;
        for (size_t i = 0; i < mine->n && same; i++)
            same = dfl_certify_problem_is_alike(reader->names, reader->m, mine->at[i], first->at[i], false);
        if (!same) {
            dfl_report(reader->want.sink, DFL_CERT_TEMPLATES, (dfl_span){ 0, 0 },
                       "`%s` has einsum `%s` in a class with `%s`", reader->want.file, name,
                       dfl_sym_text(reader->names, reader->m->workload->einsums[first->at[0]->einsum].name));
            reader->want.ok = false;
        }
    }
}

const dfl_claim_search *dfl_claims_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                          const dfl_claims *head, const dfl_mapping *asked)
{
    dfl_claim_search *out = DFL_NEW(arena, dfl_claim_search);
    claim_reader reader = { .arena = arena, .want = wanting(sink, head->file), .names = names, .m = asked, .out = out };
    const char *by = dfl_json_want_text(&reader.want, head->search, "by");
    const dfl_json *classes = get_list(&reader, head->search, "classes");

    out->asked = asked;
    out->head = head;
    out->cutoff = INFINITY;
    out->has_rows = strcmp(by, "rows") == 0;
    if (!out->has_rows && strcmp(by, "templates") != 0)
        dfl_json_refuse(&reader.want, "by", "is neither \"rows\" nor \"templates\"");
    if (out->has_rows) {
        const dfl_json *tracks = get_list(&reader, head->search, "tracks");
        const dfl_json *least = dfl_json_want(&reader.want, head->search, "least", DFL_JSON_OBJECT, "is not an object");
        out->cutoff = get_number(&reader, head->search, "limit", true);
        out->joined = get_number(&reader, head->search, "joined", false);
        out->least_joules = get_number(&reader, least, "energy", false);
        out->least_seconds = get_number(&reader, least, "time", false);
        if (tracks->len > DFL_CLAIM_TRACKS)
            dfl_json_refuse(&reader.want, "tracks", "has more memories than the search tracks");
        for (size_t i = 0; i < tracks->len && reader.want.ok; i++) {
            const char *name = dfl_json_text(&tracks->items[i]);
            out->track[out->n_tracks++] = find_memory(&reader, name ? name : "tracks");
        }
    }
    make_problems(&reader);
    if (reader.want.ok)
        read_common(&reader, get_list(&reader, head->search, "common"));
    for (size_t i = 0; i < classes->len && reader.want.ok; i++)
        read_class(&reader, &classes->items[i]);
    check_classes(&reader);
    return reader.want.ok ? out : NULL;
}
