/* Certificates from JSON. Whatever is missing or of another kind is reported once, by its key. */
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
} reader;

static dfl_json_wanting wanting(dfl_sink *sink, const char *file)
{
    return (dfl_json_wanting){ sink, DFL_CERT_UNREADABLE, file, "is no certificate", true };
}

static double number_of(reader *r, const dfl_json *value, const char *key)
{
    if (value && (value->kind == DFL_JSON_REAL || value->kind == DFL_JSON_INT || value->kind == DFL_JSON_BIG) &&
        value->real >= 0 && isfinite(value->real))
        return value->real;
    dfl_json_refuse(&r->want, key, value ? "is no finite number from 0 on" : "is missing");
    return 0;
}

/* null stands for infinity, where something may be unlimited. */
static double get_number(reader *r, const dfl_json *object, const char *key, bool unlimited)
{
    const dfl_json *value = dfl_json_get(object, key);

    if (unlimited && value && value->kind == DFL_JSON_NULL)
        return INFINITY;
    return number_of(r, value, key);
}

/* What something costs at least, which may be less than nothing. */
static double get_bound(reader *r, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_get(object, key);

    return value && value->kind == DFL_JSON_REAL && value->real < 0 ? value->real : get_number(r, object, key, true);
}

static int64_t get_int(reader *r, const dfl_json *object, const char *key, int64_t least, int64_t most)
{
    const dfl_json *value = dfl_json_want(&r->want, object, key, DFL_JSON_INT, "is no whole number");

    if (!value)
        return least;
    if (value->integer < least || value->integer > most)
        dfl_json_refuse(&r->want, key, "is out of range");
    return value->integer;
}

static bool get_bool(reader *r, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_want(&r->want, object, key, DFL_JSON_BOOL, "is neither true nor false");

    return value && value->boolean;
}

static const dfl_json *get_list(reader *r, const dfl_json *object, const char *key)
{
    static const dfl_json none = { .kind = DFL_JSON_ARRAY };
    const dfl_json *value = dfl_json_want(&r->want, object, key, DFL_JSON_ARRAY, "is no list");

    return value ? value : &none;
}

/* ---- the head ---- */

static void read_space(reader *r, const dfl_json *space, dfl_claims *out)
{
    out->most_loops = (uint32_t)get_int(r, space, "shared_loops", 0, DFL_CLAIM_LOOPS);
    out->most_keeps = (uint32_t)get_int(r, space, "keeps", 1, DFL_CLAIM_KEEPS);
    if (strcmp(dfl_json_want_text(&r->want, space, "tiles"), "divide") != 0)
        dfl_json_refuse(&r->want, "tiles", "is not \"divide\"");
    if (strcmp(dfl_json_want_text(&r->want, space, "spatial"), "sharing") != 0)
        dfl_json_refuse(&r->want, "spatial", "is not \"sharing\"");
}

const dfl_claims *dfl_claims_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len)
{
    reader r = { .arena = arena, .want = wanting(sink, file) };
    dfl_claims *out = DFL_NEW(arena, dfl_claims);
    dfl_json_error error;
    const dfl_json *json = dfl_json_parse(arena, text, len, &error);

    if (!json) {
        dfl_report(sink, DFL_CERT_UNREADABLE, (dfl_span){ 0, 0 }, "`%s` is no certificate: line %u: %s", file, error.line,
                   error.message);
        return NULL;
    }
    if (strcmp(dfl_json_want_text(&r.want, json, "schema"), DFL_CERTIFICATE) != 0)
        dfl_json_refuse(&r.want, "schema", "is not \"" DFL_CERTIFICATE "\"");
    *out = (dfl_claims){ .file = file, .mapping = dfl_json_want_text(&r.want, json, "mapping"),
                         .digest = dfl_json_want_text(&r.want, json, "digest"),
                         .objective = dfl_json_want_text(&r.want, json, "objective"),
                         .best = dfl_json_want_text(&r.want, json, "best"),
                         .value = get_number(&r, json, "value", false), .joules = get_number(&r, json, "energy", false),
                         .seconds = get_number(&r, json, "time", false),
                         .lower_bound = get_number(&r, json, "lower_bound", false),
                         .optimal = get_bool(&r, json, "optimal"),
                         .search = dfl_json_want(&r.want, json, "search", DFL_JSON_OBJECT, "is no object") };
    read_space(&r, dfl_json_want(&r.want, json, "space", DFL_JSON_OBJECT, "is no object"), out);
    return r.want.ok ? out : NULL;
}

/* ---- names ---- */

static uint32_t find_memory(reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->m->system->n_memories; i++)
        if (strcmp(dfl_sym_text(r->names, r->m->system->memories[i].name), name) == 0)
            return i;
    dfl_json_refuse(&r->want, name, "is no memory of the system");
    return 0;
}

static uint32_t find_place(reader *r, const dfl_frame *f, const char *name)
{
    uint32_t memory = find_memory(r, name);

    for (uint32_t p = 0; p < f->n_places; p++)
        if (f->memory[p] == memory)
            return p;
    dfl_json_refuse(&r->want, name, "is no memory that the unit sees");
    return 0;
}

static uint32_t find_operand(reader *r, const dfl_frame *f, const char *name)
{
    for (uint32_t o = 0; o < f->n_operands; o++)
        if (strcmp(dfl_sym_text(r->names, r->m->workload->tensors[f->operand[o].tensor].name), name) == 0)
            return o;
    dfl_json_refuse(&r->want, name, "is no tensor of the einsum");
    return 0;
}

static uint32_t find_rank(reader *r, const dfl_frame *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_ranks; i++)
        if (strcmp(dfl_sym_text(r->names, r->m->workload->ranks[f->rank[i]].name), name) == 0)
            return i;
    dfl_json_refuse(&r->want, name, "is no rank of the einsum");
    return 0;
}

static const dfl_frame *find_unit(reader *r, uint32_t einsum, const char *name)
{
    const dfl_frames *all = &r->out->frames[einsum];

    for (size_t i = 0; i < all->n; i++)
        if (strcmp(dfl_sym_text(r->names, r->m->system->computes[all->at[i]->unit].name), name) == 0)
            return all->at[i];
    dfl_json_refuse(&r->want, name, "is no unit that can run the einsum");
    return all->at[0];
}

/* ---- classes ---- */

static void read_template(reader *r, dfl_claim_class *c, const dfl_json *json, uint32_t pattern, bool useless)
{
    const dfl_json *keeps = get_list(r, json, "keeps");
    const dfl_frame *f = find_unit(r, c->einsums[0], dfl_json_want_text(&r->want, json, "unit"));
    const dfl_claim_pattern *p = &c->patterns.at[pattern];
    dfl_claim_template t = { .frame = f, .pattern = pattern, .useless = useless };

    if (!useless) {
        t.joules = get_bound(r, json, "energy");
        t.seconds = get_bound(r, json, "time");
    }
    t.form.unit = (uint8_t)f->unit;
    if (r->out->rows && !useless)
        t.searched = get_bool(r, json, "searched");
    if (keeps->len > DFL_CLAIM_KEEPS)
        dfl_json_refuse(&r->want, "keeps", "has more of them than there are");
    for (size_t i = 0; i < keeps->len && r->want.ok; i++) {
        const dfl_json *home = dfl_json_get(&keeps->items[i], "home");
        uint32_t o = find_operand(r, f, dfl_json_want_text(&r->want, &keeps->items[i], "tensor"));
        uint32_t place = find_place(r, f, dfl_json_want_text(&r->want, &keeps->items[i], "memory"));
        if ((home != NULL) != (dfl_frame_exchanged(&f->operand[o]) && place != f->operand[o].home &&
                               p->memory[o] == f->memory[place]))
            dfl_json_refuse(&r->want, "home", "is not what the exchange says");
        t.form.operand[t.form.n_keeps] = (uint8_t)o;
        t.form.place[t.form.n_keeps++] = (uint8_t)place;
    }
    for (uint32_t o = 0; o < f->n_operands; o++) {
        t.form.exchange[o] = (uint8_t)f->operand[o].home;
        for (uint32_t i = 0; i < f->n_places; i++)
            if (f->memory[i] == p->memory[o])
                t.form.exchange[o] = (uint8_t)i;
    }
    DFL_PUSH(r->arena, &c->templates, t);
}

static void read_pattern(reader *r, dfl_claim_class *c, const dfl_json *json)
{
    const dfl_frame *f = r->out->frames[c->einsums[0]].at[0];
    const dfl_json *exchange = dfl_json_want(&r->want, json, "exchange", DFL_JSON_OBJECT, "is no object");
    const dfl_json *templates = get_list(r, json, "templates"), *useless = get_list(r, json, "useless");
    dfl_claim_pattern p = { .joules = 0 };

    if (r->out->rows) {
        p.joules = get_number(r, json, "energy", true);
        p.seconds = get_number(r, json, "time", true);
    }
    for (uint32_t o = 0; o < DFL_FRAME_OPERANDS; o++)
        p.memory[o] = DFL_NONE;
    for (size_t i = 0; exchange && i < exchange->len && r->want.ok; i++) {
        uint32_t o = find_operand(r, f, exchange->keys[i]);
        if (!dfl_frame_exchanged(&f->operand[o]))
            dfl_json_refuse(&r->want, exchange->keys[i], "is exchanged with no other einsum");
        p.memory[o] = find_memory(r, dfl_json_want_text(&r->want, exchange, exchange->keys[i]));
    }
    for (uint32_t o = 0; o < f->n_operands && r->want.ok; o++)
        if (dfl_frame_exchanged(&f->operand[o]) && p.memory[o] == DFL_NONE)
            dfl_json_refuse(&r->want, "exchange", "leaves out a tensor");
    DFL_PUSH(r->arena, &c->patterns, p);
    for (size_t i = 0; i < templates->len && r->want.ok; i++)
        read_template(r, c, &templates->items[i], (uint32_t)c->patterns.n - 1, false);
    for (size_t i = 0; i < useless->len && r->want.ok; i++)
        read_template(r, c, &useless->items[i], (uint32_t)c->patterns.n - 1, true);
}

static void read_row(reader *r, dfl_claim_class *c, const dfl_json *json)
{
    const dfl_frame *f = r->out->frames[c->einsums[0]].at[0];
    const dfl_json *loops = get_list(r, json, "loops"), *room = get_list(r, json, "room");
    const dfl_json *exchange = dfl_json_want(&r->want, json, "exchange", DFL_JSON_OBJECT, "is no object");
    dfl_claim_row row;

    memset(&row, 0, sizeof row);
    row.joules = get_number(r, json, "energy", false);
    row.seconds = get_number(r, json, "time", false);
    if (loops->len > r->out->head->most_loops)
        dfl_json_refuse(&r->want, "loops", "has more of them than the space");
    for (size_t i = 0; i < loops->len && r->want.ok; i++) {
        row.way.rank[i] = (uint8_t)find_rank(r, f, dfl_json_want_text(&r->want, &loops->items[i], "rank"));
        row.way.trips[i] = get_int(r, &loops->items[i], "trips", 2, INT64_MAX);
        row.way.n_loops++;
    }
    for (size_t i = 0; exchange && i < exchange->len && r->want.ok; i++) {
        uint32_t o = find_operand(r, f, exchange->keys[i]);
        row.way.memory[o] = find_memory(r, dfl_json_want_text(&r->want, &exchange->items[i], "memory"));
        row.way.depth[o] = (uint8_t)get_int(r, &exchange->items[i], "depth", 0, row.way.n_loops);
    }
    if (exchange && r->want.ok && room->len != r->out->n_tracks)
        dfl_json_refuse(&r->want, "room", "is not for every track");
    for (size_t t = 0; t < room->len && r->want.ok; t++)
        for (uint32_t d = 0; d <= row.way.n_loops; d++)
            row.room[t][d] = number_of(r, dfl_json_at(&room->items[t], d), "room");
    DFL_PUSH(r->arena, &c->rows, row);
}

static void read_class(reader *r, const dfl_json *json)
{
    const dfl_json *einsums = get_list(r, json, "einsums"), *patterns = get_list(r, json, "patterns");
    const dfl_workload *w = r->m->workload;
    dfl_claim_class c = { .einsums = DFL_NEW_ARRAY(r->arena, uint32_t, einsums->len + 1) };

    for (size_t i = 0; i < einsums->len && r->want.ok; i++) {
        const char *name = dfl_json_text(&einsums->items[i]);
        uint32_t e = 0;
        while (e < w->n_einsums && name && strcmp(dfl_sym_text(r->names, w->einsums[e].name), name) != 0)
            e++;
        if (!name || e == w->n_einsums)
            dfl_json_refuse(&r->want, name ? name : "einsums", "is no einsum of the workload");
        else if (r->out->of[e] != DFL_NONE)
            dfl_json_refuse(&r->want, name, "is in two classes");
        else
            r->out->of[e] = (uint32_t)r->out->classes.n;
        c.einsums[c.n_einsums++] = e;
    }
    if (c.n_einsums == 0)
        dfl_json_refuse(&r->want, "einsums", "is empty");
    for (size_t i = 0; i < patterns->len && r->want.ok; i++)
        read_pattern(r, &c, &patterns->items[i]);
    if (r->want.ok && r->out->rows) {
        const dfl_json *rows = get_list(r, json, "rows");
        c.wave = (uint32_t)get_int(r, json, "wave", 0, UINT32_MAX);
        for (size_t i = 0; i < rows->len && r->want.ok; i++)
            read_row(r, &c, &rows->items[i]);
    }
    DFL_PUSH(r->arena, &r->out->classes, c);
}

static void make_frames(reader *r)
{
    const dfl_workload *w = r->m->workload;
    const bool *ample = dfl_frame_ample(r->arena, r->m);

    r->out->frames = DFL_NEW_ARRAY(r->arena, dfl_frames, (size_t)w->n_einsums + 1);
    r->out->of = DFL_NEW_ARRAY(r->arena, uint32_t, (size_t)w->n_einsums + 1);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        r->out->of[e] = DFL_NONE;
        for (uint32_t u = 0; u < r->m->system->n_computes; u++) {
            dfl_frame *f = DFL_NEW(r->arena, dfl_frame);
            bool fine = true;
            if (dfl_frame_make(r->names, r->m, ample, e, u, f, &fine))
                DFL_PUSH(r->arena, &r->out->frames[e], f);
        }
        if (r->out->frames[e].n == 0)
            dfl_json_refuse(&r->want, dfl_sym_text(r->names, w->einsums[e].name), "is an einsum that no search takes");
    }
}

/* All einsums that read a tensor, on all units that can run them, have it in the same home and touch as much of it. */
static bool is_common(const reader *r, uint32_t tensor)
{
    const dfl_tensor *t = &r->m->workload->tensors[tensor];
    double bits = -1;
    uint32_t home = DFL_NONE;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        for (size_t u = 0; u < r->out->frames[t->consumers[i]].n; u++) {
            const dfl_frame *f = r->out->frames[t->consumers[i]].at[u];
            const dfl_frame_operand *o = &f->operand[dfl_frame_operand_of(f, tensor)];
            if (o->ranks != o->plain || (home != DFL_NONE && (f->memory[o->home] != home || o->bits != bits)))
                return false;
            home = f->memory[o->home];
            bits = o->bits;
        }
    return t->n_producers == 0 && t->n_consumers > 1;
}

/* Inputs that a keep may hold for several einsums, wherever it stands outside of arrays. */
static void read_common(reader *r, const dfl_json *list)
{
    const dfl_workload *w = r->m->workload;

    for (size_t i = 0; i < list->len && r->want.ok; i++) {
        const char *name = dfl_json_text(&list->items[i]);
        uint32_t tensor = 0;
        while (name && tensor < w->n_tensors && strcmp(dfl_sym_text(r->names, w->tensors[tensor].name), name) != 0)
            tensor++;
        if (!name || tensor == w->n_tensors || !is_common(r, tensor)) {
            dfl_json_refuse(&r->want, name ? name : "common", "is no input that several einsums read alike");
            return;
        }
        for (uint32_t e = 0; e < w->n_einsums; e++)
            for (size_t u = 0; u < r->out->frames[e].n; u++) {
                dfl_frame *f = r->out->frames[e].at[u];
                uint32_t o = dfl_frame_operand_of(f, tensor);
                for (uint32_t p = 0; p < f->n_places && o < f->n_operands; p++)
                    f->operand[o].common |= f->operand[o].places & (uint32_t)(f->around[p] == 0) << p;
            }
    }
}

/* Every einsum is in a class, with others that are like it. */
static void check_classes(reader *r)
{
    dfl_claim_search *s = r->out;

    for (uint32_t e = 0; e < r->m->workload->n_einsums && r->want.ok; e++) {
        const char *name = dfl_sym_text(r->names, r->m->workload->einsums[e].name);
        bool same = true;
        if (s->of[e] == DFL_NONE) {
            dfl_report(r->want.sink, DFL_CERT_TEMPLATES, (dfl_span){ 0, 0 }, "`%s` leaves out einsum `%s`",
                       r->want.file, name);
            r->want.ok = false;
            return;
        }
        const dfl_frames *mine = &s->frames[e], *first = &s->frames[s->classes.at[s->of[e]].einsums[0]];
        same = mine->n == first->n;
        for (size_t i = 0; i < mine->n && same; i++)
            same = dfl_frame_alike(r->names, r->m, mine->at[i], first->at[i], false);
        if (!same) {
            dfl_report(r->want.sink, DFL_CERT_TEMPLATES, (dfl_span){ 0, 0 },
                       "`%s` has einsum `%s` in a class with `%s`", r->want.file, name,
                       dfl_sym_text(r->names, r->m->workload->einsums[first->at[0]->einsum].name));
            r->want.ok = false;
        }
    }
}

const dfl_claim_search *dfl_claims_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names,
                                          const dfl_claims *head, const dfl_mapping *asked)
{
    dfl_claim_search *out = DFL_NEW(arena, dfl_claim_search);
    reader r = { .arena = arena, .want = wanting(sink, head->file), .names = names, .m = asked, .out = out };
    const char *by = dfl_json_want_text(&r.want, head->search, "by");
    const dfl_json *classes = get_list(&r, head->search, "classes");

    out->asked = asked;
    out->head = head;
    out->limit = INFINITY;
    out->rows = strcmp(by, "rows") == 0;
    if (!out->rows && strcmp(by, "templates") != 0)
        dfl_json_refuse(&r.want, "by", "is neither \"rows\" nor \"templates\"");
    if (out->rows) {
        const dfl_json *tracks = get_list(&r, head->search, "tracks");
        const dfl_json *least = dfl_json_want(&r.want, head->search, "least", DFL_JSON_OBJECT, "is no object");
        out->limit = get_number(&r, head->search, "limit", true);
        out->joined = get_number(&r, head->search, "joined", false);
        out->least_joules = get_number(&r, least, "energy", false);
        out->least_seconds = get_number(&r, least, "time", false);
        if (tracks->len > DFL_CLAIM_TRACKS)
            dfl_json_refuse(&r.want, "tracks", "has more memories than a search follows");
        for (size_t i = 0; i < tracks->len && r.want.ok; i++) {
            const char *name = dfl_json_text(&tracks->items[i]);
            out->track[out->n_tracks++] = find_memory(&r, name ? name : "tracks");
        }
    }
    make_frames(&r);
    if (r.want.ok)
        read_common(&r, get_list(&r, head->search, "common"));
    for (size_t i = 0; i < classes->len && r.want.ok; i++)
        read_class(&r, &classes->items[i]);
    check_classes(&r);
    return r.want.ok ? out : NULL;
}
