#include "api/given.h"

#include <string.h>

#include "api/session.h"

enum { PARAM_LENGTH = 6 }; /* of `param ` */

void dfl_session_set_param(dfl_session *s, const char *name, const char *value)
{
    const dfl_given given = { dfl_arena_copy(s->arena, name, strlen(name)), dfl_arena_copy(s->arena, value, strlen(value)) };
    bool *is_found = DFL_NEW(s->arena, bool);

    DFL_PUSH(s->arena, &s->given, given);
    DFL_PUSH(s->arena, &s->given_found, is_found);
    s->analysed = false;
}

/* Whether the tokens of a source begin with `param NAME =` with the whole name as one word; reports another name. */
static bool check_name(dfl_session *s, const dfl_source *source, const dfl_token *tokens, const char *name, bool has_alias)
{
    const dfl_span written = { source->base + PARAM_LENGTH, source->base + PARAM_LENGTH + (uint32_t)strlen(name) };
    const dfl_span word = tokens[1].span;
    dfl_diag *d;

    if (dfl_token_is_name(tokens[1].kind) && word.start == written.start && word.end == written.end && has_alias)
        return true;
    d = dfl_report(s->sink, DFL_SYNTAX_UNEXPECTED, written, "expected the name of a `param`");
    dfl_diag_help(s->sink, d, "write NAME=VALUE or ALIAS.NAME=VALUE, without blanks around `=`: `--set seq=4096`");
    return false;
}

/* Parses one given value: the source of the value is the declaration `param NAME = VALUE;`. Reduces the text of the value to the
   expression, without comments around it. False after reporting. */
static bool parse_value(dfl_session *s, dfl_given *given, dfl_sema_given *out)
{
    const char *dot = strrchr(given->name, '.'), *own = dot ? dot + 1 : given->name;
    const char *end = strstr(given->value, "//") ? "\n" : ""; /* of a comment, which would contain the semicolon */
    const char *text = dfl_arena_printf(s->arena, "param %s = %s%s;\n", own, given->value, end);
    const char *title = dfl_arena_printf(s->arena, "--set %s", given->name);
    const dfl_source *source = dfl_source_add(s->sources, title, text, strlen(text));
    const dfl_ast_node *node;
    const dfl_token *tokens;
    dfl_syntax syntax;
    dfl_span value;
    uint32_t n;

    if (!source) {
        dfl_report(s->sink, DFL_LIMIT_COUNT, (dfl_span){ 0, 0 }, "`%s` does not fit: all files together are larger than 4 GiB",
                   title);
        return false;
    }
    tokens = dfl_syntax_tokens(s->arena, source, &n);
    if (!check_name(s, source, tokens, own, dot != given->name))
        return false;
    syntax = dfl_syntax_parse(s->arena, s->names, s->sink, source);
    node = syntax.file->items;
    if (!syntax.ok)
        return false;
    if (!node || node->kind != DFL_AST_PARAM || node->next || node->more->domain) {
        dfl_report(s->sink, DFL_SYNTAX_UNEXPECTED, (dfl_span){ source->base, source->base + (uint32_t)source->len - 1 },
                   "expected a name and one expression");
        return false;
    }
    value = (dfl_span){ tokens[3].span.start, tokens[n - 3].span.end }; /* param, name, = and, behind it, ; and the end */
    given->value = dfl_arena_copy(s->arena, source->text + (value.start - source->base), value.end - value.start);
    *out = (dfl_sema_given){ .name = node->name.sym, .span = node->name.span, .value = node->value,
                             .is_optional = s->is_lenient };
    if (dot)
        out->alias = dfl_intern_z(s->names, dfl_arena_copy(s->arena, given->name, (size_t)(dot - given->name)));
    return true;
}

bool dfl_given_parse(dfl_session *s, dfl_sema_input *input)
{
    dfl_sema_given *all = DFL_NEW_ARRAY(s->arena, dfl_sema_given, s->given.n + 1);
    bool ok = true;

    for (size_t i = 0; i < s->given.n; i++) {
        ok &= parse_value(s, &s->given.at[i], &all[i]);
        *s->given_found.at[i] = false;
        all[i].is_found = s->given_found.at[i];
    }
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
