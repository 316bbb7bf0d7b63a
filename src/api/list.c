/* `dflc list`: the declarations of a file, as they are written. Nothing is analysed, so a file with errors has a list, too. */
#include "api/session.h"

#include <string.h>

#include "support/json_write.h"

typedef struct {
    dfl_session *s;
    dfl_strbuf out;
    dfl_json_writer json;
    size_t widest; /* longest name, bytes */
} lister;

static const char *kind_of(const dfl_ast_node *node)
{
    switch ((int)node->kind) {
    case DFL_AST_PARAM:    return "param";
    case DFL_AST_LET:      return "let";
    case DFL_AST_OP:       return "op";
    case DFL_AST_WORKLOAD: return "workload";
    case DFL_AST_SYSTEM:   return "system";
    case DFL_AST_MAPPING:  return "mapping";
    case DFL_AST_SWEEP:    return "sweep";
    default:               return NULL;
    }
}

/* The source text of a span on one line, each white space as one blank; NULL for "nowhere". */
static const char *slice(const lister *l, dfl_span span)
{
    const dfl_source *source = span.end > span.start ? dfl_source_of(l->s->sources, span) : NULL;
    dfl_strbuf out;
    bool blank = false;

    if (!source)
        return NULL;
    dfl_strbuf_init(&out, l->s->arena);
    for (const char *at = source->text + (span.start - source->base); at < source->text + (span.end - source->base); at++) {
        const bool is_blank = strchr(" \t\r\n", *at) != NULL;

        if (!is_blank && blank)
            dfl_strbuf_char(&out, ' ');
        blank = is_blank;
        if (!is_blank)
            dfl_strbuf_char(&out, *at);
    }
    return out.text;
}

static const char *ref_text(const lister *l, const dfl_ast_ref *ref)
{
    return ref && ref->path->n > 0 ? slice(l, ref->span) : NULL;
}

static const char *expr_text(const lister *l, const dfl_expr *expr)
{
    return expr ? slice(l, expr->span) : NULL;
}

static const char *name_text(const lister *l, const dfl_ast_node *node)
{
    return dfl_sym_text(l->s->names, node->name.sym);
}

/* ---- text ---- */

static void put_text(lister *l, const char *before, const char *text)
{
    if (text)
        dfl_strbuf_printf(&l->out, "%s%s", before, text);
}

static void put_params(lister *l, const dfl_ast_node *node)
{
    const char *comma = "(";

    for (const dfl_ast_node *p = node->more->params; p; p = p->next) {
        dfl_strbuf_printf(&l->out, "%s%s", comma, name_text(l, p));
        put_text(l, " = ", expr_text(l, p->value));
        comma = ", ";
    }
    dfl_strbuf_z(&l->out, node->more->params ? ")" : "");
}

static void put_line(lister *l, const dfl_ast_node *node)
{
    const size_t start = l->out.len;

    dfl_strbuf_printf(&l->out, "%-9s %-*s ", kind_of(node), (int)l->widest, name_text(l, node));
    put_params(l, node);
    put_text(l, l->out.text[l->out.len - 1] == ' ' ? "= " : " = ",
             node->value ? expr_text(l, node->value) : ref_text(l, node->more->ref));
    put_text(l, " in ", expr_text(l, node->more->domain));
    put_text(l, l->out.text[l->out.len - 1] == ' ' ? "for " : " for ", ref_text(l, node->more->work));
    put_text(l, " on ", ref_text(l, node->more->machine));
    while (l->out.len > start && l->out.text[l->out.len - 1] == ' ')
        l->out.text[--l->out.len] = '\0';
    dfl_strbuf_char(&l->out, '\n');
}

static void measure_line(lister *l, const dfl_ast_node *node)
{
    const size_t len = strlen(name_text(l, node));

    l->widest = len > l->widest ? len : l->widest;
}

/* ---- JSON ---- */

static void put_pair(lister *l, const char *key, const char *text)
{
    if (!text)
        return;
    dfl_json_key(&l->json, key);
    dfl_json_string(&l->json, text);
}

static void put_object(lister *l, const dfl_ast_node *node)
{
    dfl_json_object(&l->json);
    put_pair(l, "kind", kind_of(node));
    put_pair(l, "name", name_text(l, node));
    dfl_json_key(&l->json, "line");
    dfl_json_int(&l->json, dfl_place_of(l->s->sources, node->name.span.start).line);
    put_pair(l, "doc", node->more->doc);
    put_pair(l, "value", expr_text(l, node->value));
    put_pair(l, "domain", expr_text(l, node->more->domain));
    put_pair(l, "from", ref_text(l, node->more->ref));
    put_pair(l, "workload", ref_text(l, node->more->work));
    put_pair(l, "system", ref_text(l, node->more->machine));
    if (node->more->params) {
        dfl_json_key(&l->json, "parameters");
        dfl_json_array(&l->json);
        for (const dfl_ast_node *p = node->more->params; p; p = p->next) {
            dfl_json_object(&l->json);
            put_pair(l, "name", name_text(l, p));
            put_pair(l, "value", expr_text(l, p->value));
            dfl_json_end_object(&l->json);
        }
        dfl_json_end_array(&l->json);
    }
    dfl_json_end_object(&l->json);
}

/* Calls `put` for each declaration of the file, and for each mapping that a system contains. */
static void each_declaration(lister *l, void (*put)(lister *l, const dfl_ast_node *node))
{
    for (const dfl_ast_node *node = dfl_loaded_syntax(l->s, l->s->root)->file->items; node; node = node->next) {
        if (kind_of(node))
            put(l, node);
        for (const dfl_ast_node *m = node->kind == DFL_AST_SYSTEM ? node->body : NULL; m; m = m->next)
            if (m->kind == DFL_AST_MAPPING)
                put(l, m);
    }
}

const char *dfl_session_list(dfl_session *s, dfl_format format, size_t *len)
{
    lister l = { .s = s };

    if (!s->root || (format != DFL_FORMAT_TEXT && format != DFL_FORMAT_JSON))
        return NULL;
    dfl_strbuf_init(&l.out, s->arena);
    if (format == DFL_FORMAT_TEXT) {
        each_declaration(&l, measure_line);
        each_declaration(&l, put_line);
        return dfl_session_give(&l.out, len);
    }
    dfl_json_start(&l.json, &l.out, 2);
    dfl_json_object(&l.json);
    put_pair(&l, "schema", "dfl-list/1");
    put_pair(&l, "file", dfl_report_file(s->root->source->name));
    dfl_json_key(&l.json, "declarations");
    dfl_json_array(&l.json);
    each_declaration(&l, put_object);
    dfl_json_end_array(&l.json);
    dfl_json_end_object(&l.json);
    dfl_strbuf_char(&l.out, '\n');
    return dfl_session_give(&l.out, len);
}
