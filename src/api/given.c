#include "api/given.h"

#include <string.h>

#include "api/session.h"

void dfl_session_set_param(dfl_session *s, const char *name, const char *value)
{
    const dfl_given given = { dfl_arena_copy(s->arena, name, strlen(name)), dfl_arena_copy(s->arena, value, strlen(value)) };

    DFL_PUSH(s->arena, &s->given, given);
    s->analysed = false;
}

/* Parses one given value: the source of the value is the declaration `param NAME = VALUE;`. False after reporting. */
static bool parse_value(dfl_session *s, const dfl_given *given, dfl_sema_given *out)
{
    const char *dot = strrchr(given->name, '.'), *own = dot ? dot + 1 : given->name;
    const char *text = dfl_arena_printf(s->arena, "param %s = %s;\n", own, given->value);
    const char *title = dfl_arena_printf(s->arena, "--set %s", given->name);
    const dfl_source *source = dfl_source_add(s->sources, title, text, strlen(text));
    const dfl_ast_node *node;
    dfl_syntax syntax;

    if (!source) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, (dfl_span){ 0, 0 }, "`%s` does not fit: all files together are larger than 4 GiB",
                   title);
        return false;
    }
    syntax = dfl_syntax_parse(s->arena, s->names, s->sink, source);
    node = syntax.file->items;
    if (!syntax.ok)
        return false;
    if (!node || node->kind != DFL_AST_PARAM || node->next || node->more->domain) {
        dfl_report(s->sink, DFL_SYNTAX_UNEXPECTED, (dfl_span){ source->base, source->base + (uint32_t)source->len - 1 },
                   "expected a name and one expression");
        return false;
    }
    *out = (dfl_sema_given){ .name = node->name.sym, .span = node->name.span, .value = node->value };
    if (dot)
        out->alias = dfl_intern_z(s->names, dfl_arena_copy(s->arena, given->name, (size_t)(dot - given->name)));
    return true;
}

bool dfl_given_parse(dfl_session *s, dfl_sema_input *input)
{
    dfl_sema_given *all = DFL_NEW_ARRAY(s->arena, dfl_sema_given, s->given.n + 1);
    bool ok = true;

    for (size_t i = 0; i < s->given.n; i++)
        ok &= parse_value(s, &s->given.at[i], &all[i]);
    input->given = all;
    input->n_given = s->given.n;
    return ok;
}

const char *dfl_given_text(const dfl_given_list *given, const char *name)
{
    for (size_t i = 0; i < given->n; i++)
        if (strcmp(given->at[i].name, name) == 0)
            return given->at[i].value;
    return NULL;
}
