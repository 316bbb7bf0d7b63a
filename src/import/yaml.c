#include "import/yaml.h"

#include <libfyaml.h>
#include <string.h>

#include "import/dfl_writer.h"
#include "support/utf8.h"
#include "support/limits.h"

enum {
    MOST_COMPARED = 32, /* keys of a map that are compared one by one; more of them are looked up in a table */
    MOST_OPEN = 10000,  /* brackets without an end, those in texts included: libfyaml reads all of them before it counts levels */
};

typedef struct {
    dfl_loss_report *report;
    const dfl_source *source;
    uint32_t nodes; /* nodes so far */
    bool ok;
} reader;

bool dfl_yaml_is_null(const dfl_yaml *at)
{
    static const char *const words[] = { "", "null", "Null", "NULL", "~", "None" };

    for (size_t i = 0; at->kind == DFL_YAML_SCALAR && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(at->text, words[i]) == 0)
            return true;
    }
    return false;
}

const dfl_yaml *dfl_yaml_get(const dfl_yaml *map, const char *key)
{
    for (uint32_t i = 0; map != NULL && map->kind == DFL_YAML_MAP && i < map->n; i++) {
        if (strcmp(map->keys[i].text, key) == 0)
            return &map->items[i];
    }
    return NULL;
}

void dfl_yaml_flow(dfl_arena *arena, const dfl_yaml *at, dfl_strbuf *out)
{
    const char *comma = "";

    if (at->kind == DFL_YAML_SCALAR) {
        dfl_strbuf_z(out, dfl_writer_plain(arena, at->text));
        return;
    }
    dfl_strbuf_z(out, at->kind == DFL_YAML_MAP ? "{" : "[");
    for (uint32_t i = 0; i < at->n; i++, comma = ", ") {
        dfl_strbuf_z(out, comma);
        if (at->kind == DFL_YAML_MAP)
            dfl_strbuf_printf(out, "%s: ", dfl_writer_plain(arena, at->keys[i].text));
        dfl_yaml_flow(arena, &at->items[i], out);
    }
    dfl_strbuf_z(out, at->kind == DFL_YAML_MAP ? "}" : "]");
}

static dfl_span place(const reader *r, size_t start, size_t end)
{
    size_t last = r->source->len;

    start = start < last ? start : last;
    end = end < last ? end : last;
    return (dfl_span){ r->source->base + (uint32_t)start, r->source->base + (uint32_t)(end > start ? end : start) };
}

static dfl_span place_of(const reader *r, struct fy_token *token, dfl_span otherwise)
{
    const struct fy_mark *start = token != NULL ? fy_token_start_mark(token) : NULL;
    const struct fy_mark *end = token != NULL ? fy_token_end_mark(token) : NULL;

    return start != NULL && end != NULL ? place(r, start->input_pos, end->input_pos) : otherwise;
}

static void wrong(reader *r, dfl_span span, const char *what)
{
    if (r->ok)
        dfl_report(r->report->sink, DFL_FOREIGN_SYNTAX, span, "%s", what);
    r->ok = false;
}

static const char *scalar_text(reader *r, struct fy_node *node, dfl_span span)
{
    size_t len = 0;
    const char *text = fy_node_get_scalar(node, &len);

    if (text == NULL)
        return "";
    if (memchr(text, '\0', len) != NULL)
        wrong(r, span, "NUL characters are not supported");
    return dfl_arena_copy(r->report->arena, text, len);
}

static dfl_yaml tree_of(reader *r, struct fy_node *node, dfl_span around, unsigned depth);

/* Reports a key that a map has twice. */
static void refuse_twice(reader *r, const dfl_yaml *map)
{
    dfl_intern *names = map->n > MOST_COMPARED ? dfl_intern_new(r->report->arena) : NULL;

    for (uint32_t i = 0; i < map->n && r->ok; i++) {
        const char *key = map->keys[i].text;
        uint32_t before = 0, first = 0;

        if (names != NULL && key[0] != '\0') {
            before = dfl_intern_count(names);
            dfl_intern_z(names, key);
            if (dfl_intern_count(names) > before)
                continue;
        }
        while (first < i && strcmp(map->keys[first].text, key) != 0)
            first++;
        if (first < i) {
            dfl_diag *d = dfl_report(r->report->sink, DFL_FOREIGN_SYNTAX, map->keys[i].span, "the key `%s` is given twice",
                                     dfl_writer_plain(r->report->arena, key));

            dfl_diag_label(r->report->sink, d, map->keys[first].span, "first given here");
            r->ok = false;
        }
    }
}

static void read_items(reader *r, struct fy_node *node, dfl_yaml *out, unsigned depth)
{
    bool map = out->kind == DFL_YAML_MAP;
    int n = map ? fy_node_mapping_item_count(node) : fy_node_sequence_item_count(node);
    dfl_yaml *items = DFL_NEW_ARRAY(r->report->arena, dfl_yaml, (size_t)(n > 0 ? n : 0) + 1);
    dfl_yaml *keys = map ? DFL_NEW_ARRAY(r->report->arena, dfl_yaml, (size_t)(n > 0 ? n : 0) + 1) : NULL;
    void *at = NULL;

    for (; r->ok && out->n < (uint32_t)(n > 0 ? n : 0); out->n++) {
        struct fy_node_pair *pair = map ? fy_node_mapping_iterate(node, &at) : NULL;
        struct fy_node *value = map ? pair != NULL ? fy_node_pair_value(pair) : NULL
                                    : fy_node_sequence_iterate(node, &at);
        dfl_span span = out->span;

        if (map) {
            struct fy_node *key = pair != NULL ? fy_node_pair_key(pair) : NULL;

            keys[out->n] = tree_of(r, key, out->span, depth + 1);
            span = keys[out->n].span;
            if (keys[out->n].kind != DFL_YAML_SCALAR)
                wrong(r, span, "a key must be a scalar");
        }
        items[out->n] = tree_of(r, value, span, depth + 1);
        out->anchored |= items[out->n].anchored;
        if (out->n == 0 && out->tag[0] == '\0')
            out->span = map ? keys[0].span : items[0].span;
    }
    out->items = items;
    out->keys = keys;
    if (map)
        refuse_twice(r, out);
}

static bool is_merge(const dfl_yaml *key)
{
    return strcmp(key->text, "<<") == 0 || strcmp(key->text, "<<<") == 0;
}

/* A map while keys are merged into it; there is room for them. */
typedef struct {
    dfl_yaml *keys, *items;
    uint32_t n;
} merged_map;

static dfl_yaml merge_maps(reader *r, const dfl_yaml *inner, const dfl_yaml *outer);

/* Adds the keys of a map that `out` lacks; `deep` = and merges maps that both have under one key. */
static void merge(reader *r, merged_map *out, const dfl_yaml *from, bool deep)
{
    for (uint32_t i = 0; i < from->n && r->ok; i++) {
        uint32_t k = 0;

        while (k < out->n && strcmp(out->keys[k].text, from->keys[i].text) != 0)
            k++;
        if (k == out->n) {
            out->keys[out->n] = from->keys[i];
            out->items[out->n++] = from->items[i];
        } else if (deep && out->items[k].kind == DFL_YAML_MAP && from->items[i].kind == DFL_YAML_MAP) {
            out->items[k] = merge_maps(r, &out->items[k], &from->items[i]);
        }
    }
}

/* Room for the keys of a map, `more` of which are merged into it; NULL in `keys` after reporting too many. */
static merged_map room_for(reader *r, const dfl_yaml *map, size_t more)
{
    merged_map out = { NULL, NULL, 0 };

    r->nodes += more < DFL_IMPORT_YAML_MERGED ? (uint32_t)more : DFL_IMPORT_YAML_MERGED;
    if (map->n + more >= DFL_IMPORT_YAML_MERGED)
        wrong(r, map->span, dfl_arena_printf(r->report->arena, "a map with merged keys has more than %d keys",
                                             DFL_IMPORT_YAML_MERGED));
    else if (r->nodes > DFL_IMPORT_YAML_NODES)
        wrong(r, map->span, dfl_arena_printf(r->report->arena, "the file has more than %d nodes", DFL_IMPORT_YAML_NODES));
    if (!r->ok)
        return out;
    out.keys = DFL_NEW_ARRAY(r->report->arena, dfl_yaml, map->n + more + 1);
    out.items = DFL_NEW_ARRAY(r->report->arena, dfl_yaml, map->n + more + 1);
    return out;
}

/* The map `inner` with the keys of `outer` that it lacks, in maps in it likewise. */
static dfl_yaml merge_maps(reader *r, const dfl_yaml *inner, const dfl_yaml *outer)
{
    merged_map both = room_for(r, inner, outer->n);
    dfl_yaml out = *inner;

    if (!r->ok)
        return out;
    merge(r, &both, inner, false);
    merge(r, &both, outer, true);
    out.keys = both.keys;
    out.items = both.items;
    out.n = both.n;
    return out;
}

/* Replaces the merge keys of a map by the keys of the maps behind them. */
static void merge_keys(reader *r, dfl_yaml *out)
{
    size_t more = 0;
    merged_map all;

    for (uint32_t i = 0; i < out->n; i++) {
        const dfl_yaml *from = &out->items[i];

        for (uint32_t m = 0; is_merge(&out->keys[i]) && from->kind == DFL_YAML_LIST && m < from->n; m++)
            more += from->items[m].n;
        more += is_merge(&out->keys[i]) ? from->n : 0;
    }
    all = room_for(r, out, more);
    if (!r->ok)
        return;
    for (uint32_t i = 0; i < out->n; i++) {
        if (!is_merge(&out->keys[i])) {
            all.keys[all.n] = out->keys[i];
            all.items[all.n++] = out->items[i];
        }
    }
    for (uint32_t i = 0; i < out->n; i++) {
        const dfl_yaml *from = &out->items[i];
        bool deep = strcmp(out->keys[i].text, "<<<") == 0;

        if (!is_merge(&out->keys[i]))
            continue;
        for (uint32_t m = 0; from->kind == DFL_YAML_LIST && m < from->n; m++) {
            if (from->items[m].kind == DFL_YAML_MAP)
                merge(r, &all, &from->items[m], deep);
        }
        if (from->kind == DFL_YAML_MAP)
            merge(r, &all, from, deep);
    }
    out->keys = all.keys;
    out->items = all.items;
    out->n = all.n;
}

/* The node that an alias stands for. */
static dfl_yaml alias_of(reader *r, struct fy_node *node, dfl_span span, unsigned depth)
{
    struct fy_node *target = fy_node_resolve_alias(node);

    dfl_yaml out;

    if (target == NULL)
        wrong(r, span, "no anchor has the name of this alias");
    out = tree_of(r, target, span, depth + 1);
    out.anchored = false;
    return out;
}

static dfl_yaml tree_of(reader *r, struct fy_node *node, dfl_span around, unsigned depth)
{
    dfl_budget *budget = dfl_arena_budget(r->report->arena);
    dfl_yaml out = { .kind = DFL_YAML_SCALAR, .tag = "", .text = "", .span = around };
    size_t len = 0;
    const char *tag;

    if (node == NULL || !r->ok)
        return out;
    out.anchored = fy_node_get_anchor(node) != NULL;
    tag = fy_node_get_tag(node, &len);
    if (tag != NULL) {
        out.span = place_of(r, fy_node_get_tag_token(node), out.span);
        while (len > 0 && tag[0] == '!') {
            tag++;
            len--;
        }
        out.tag = dfl_arena_copy(r->report->arena, tag, len);
    }
    if (budget != NULL && !dfl_budget_ok(budget)) {
        r->ok = dfl_report_stop(r->report->sink, budget);
    } else if (depth > DFL_IMPORT_YAML_DEPTH) {
        wrong(r, out.span, dfl_arena_printf(r->report->arena,
                "the file is nested deeper than %d levels", DFL_IMPORT_YAML_DEPTH));
    } else if (++r->nodes > DFL_IMPORT_YAML_NODES) {
        wrong(r, out.span, dfl_arena_printf(r->report->arena, "the file has more than %d nodes", DFL_IMPORT_YAML_NODES));
    } else if (fy_node_is_alias(node)) {
        out = alias_of(r, node, place_of(r, fy_node_get_scalar_token(node), out.span), depth);
    } else if (fy_node_is_scalar(node)) {
        dfl_span span = place_of(r, fy_node_get_scalar_token(node), out.span);

        out.span = span.end > span.start ? span : out.span;
        out.text = scalar_text(r, node, out.span);
    } else {
        out.kind = fy_node_is_mapping(node) ? DFL_YAML_MAP : DFL_YAML_LIST;
        read_items(r, node, &out, depth);
        for (uint32_t i = 0; r->ok && out.kind == DFL_YAML_MAP && i < out.n; i++) {
            if (is_merge(&out.keys[i])) {
                merge_keys(r, &out);
                break;
            }
        }
    }
    return out;
}

/* Drops a message of libfyaml: report_errors reports the message with its place. */
static void drop_message(struct fy_diag *diag, void *user, const char *text, size_t len)
{
    (void)diag, (void)user, (void)text, (void)len;
}

/* Whether the file has no node: comments at most. Libfyaml makes no document of it, and has no message. */
static bool is_empty(const reader *r, struct fy_diag *diag)
{
    const char *c = r->source->text, *end = c + r->source->len;
    void *at = NULL;

    while (c < end && (strchr(" \t\r\n", *c) != NULL || *c == '#')) {
        const char *line = *c == '#' ? memchr(c, '\n', (size_t)(end - c)) : c;

        c = line != NULL ? line + 1 : end;
    }
    return c >= end && fy_diag_errors_iterate(diag, &at) == NULL;
}

static void report_errors(reader *r, struct fy_diag *diag)
{
    void *at = NULL;
    struct fy_diag_error *error = fy_diag_errors_iterate(diag, &at);
    const char *what = "not YAML";
    dfl_span span = place(r, 0, 0);

    if (error != NULL) {
        span = place_of(r, error->fyt, span);
        if (error->msg != NULL)
            what = dfl_arena_printf(r->report->arena, "not YAML: %s", dfl_writer_plain(r->report->arena, error->msg));
    }
    wrong(r, span, what);
}

/* Whether a line is a mark of three characters. */
static bool is_mark(const char *line, size_t len, const char *mark)
{
    return len >= 3 && strncmp(line, mark, 3) == 0 && (len == 3 || strchr(" \t\r\n", line[3]) != NULL);
}

/* Refuses a file of several documents: a line that begins or ends one stands at the margin, in any context. */
static bool is_one_document(reader *r)
{
    const char *text = r->source->text;
    size_t len = r->source->len, next;
    bool begun = false, ended = false;

    for (size_t at = 0; r->ok && at < len; at = next) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t first = at + strspn(text + at, " \t\r");
        bool blank = first >= len || text[first] == '\n' || text[first] == '#';

        next = end != NULL ? (size_t)(end - text) + 1 : len;
        if (ended && !blank && !is_mark(text + at, len - at, "..."))
            wrong(r, place(r, at, at + 3), "a second document begins here: put it into a file of its own");
        else if (is_mark(text + at, len - at, "---") && begun)
            wrong(r, place(r, at, at + 3), "a second document begins here: put it into a file of its own");
        ended |= begun && is_mark(text + at, len - at, "...");
        begun |= !blank;
    }
    return r->ok;
}

/* Refuses directives, control characters, invalid UTF-8 and endless brackets: libfyaml does not survive them, and no
   specification has them. */
static bool is_safe(reader *r)
{
    const char *text = r->source->text;
    size_t len = r->source->len, valid = dfl_utf8_check(text, len), open = 0; /* brackets and braces that are open */

    for (size_t i = 0; r->ok && i < valid; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            wrong(r, place(r, i, i + 1), "control characters are not supported");
        else if (c == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r'))
            wrong(r, place(r, i, i + 1), "directives are not supported");
        open += c == '[' || c == '{';
        open -= (c == ']' || c == '}') && open > 0;
        if (open > MOST_OPEN)
            wrong(r, place(r, i, i + 1), dfl_arena_printf(r->report->arena, "the file is nested deeper than %d levels",
                                                          DFL_IMPORT_YAML_DEPTH));
    }
    if (valid < len)
        wrong(r, place(r, valid, valid + 1), "these bytes are not UTF-8");
    return r->ok;
}

const dfl_yaml *dfl_yaml_parse(dfl_loss_report *report, const dfl_source *source)
{
    const struct fy_diag_cfg quiet = { .output_fn = drop_message, .level = FYET_ERROR, .module_mask = ~0u };
    /* Libfyaml compares each key with all others; refuse_twice does not. */
    struct fy_parse_cfg config = { .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS };
    reader r = { .report = report, .source = source, .ok = true };
    struct fy_document *document;
    dfl_yaml *root = NULL;

    if (!is_safe(&r) || !is_one_document(&r))
        return NULL;
    config.diag = fy_diag_create(&quiet);
    fy_diag_set_collect_errors(config.diag, true);
    document = fy_document_build_from_string(&config, source->text, source->len);
    root = DFL_NEW(report->arena, dfl_yaml);
    if (document == NULL && is_empty(&r, config.diag)) {
        *root = (dfl_yaml){ .kind = DFL_YAML_SCALAR, .tag = "", .text = "", .span = place(&r, 0, 0) };
    } else if (document == NULL) {
        report_errors(&r, config.diag);
    } else {
        *root = tree_of(&r, fy_document_root(document), place(&r, 0, 0), 0);
        fy_document_destroy(document);
    }
    fy_diag_destroy(config.diag);
    return r.ok ? root : NULL;
}
