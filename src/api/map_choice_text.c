/* What was chosen for a `?` among loops or keeps, as text in its place. */
#include "api/session.h"

#include <string.h>

#include "fmt/gap.h"

typedef struct {
    dfl_session *s;
    dfl_fmt_input in;
    const dfl_line_choice *c;
    uint32_t hole;             /* the token `?` */
} place;

/* Whether token `i` is this word or sign. */
static bool is(const place *p, uint32_t i, const char *text)
{
    const dfl_span at = p->in.tokens[i].span;
    const size_t len = strlen(text);

    return at.end - at.start == len && memcmp(p->in.source->text + (at.start - p->in.source->base), text, len) == 0;
}

/* False if the `?` is not in the file. */
static bool find_hole(place *p)
{
    while (p->hole + 1 < p->in.n_tokens && p->in.tokens[p->hole].span.start < p->c->span.start)
        p->hole++;
    return p->hole > 0 && p->in.tokens[p->hole].span.start == p->c->span.start && is(p, p->hole, "?");
}

/* Whether a line that was found is of the choice. */
static bool is_chosen(const dfl_line *l, const dfl_line_choice *c)
{
    return l->kind == c->kind && l->span.start == c->span.start && l->span.end == c->span.end && l->axis == c->axis &&
           l->memory == c->memory;
}

/* Loops that spread nothing need not be told. */
static bool is_idle(const dfl_line *l) { return l->kind == DFL_LINE_SPATIAL && l->amount == 1; }

static void add_line(const place *p, const dfl_mapping *m, dfl_strbuf *out, const dfl_line *l)
{
    const dfl_intern *names = p->s->names;

    if (out->len > 0 && l->kind == DFL_LINE_SPATIAL)
        dfl_strbuf_printf(out, " on %s", dfl_sym_text(names, m->system->axes[l->axis].name));
    if (out->len > 0)
        dfl_strbuf_z(out, ", ");
    if (l->kind == DFL_LINE_KEEP)
        dfl_strbuf_z(out, dfl_sym_text(names, m->workload->tensors[l->tensor].name));
    else
        dfl_strbuf_printf(out, "%s%c%lld", dfl_sym_text(names, m->workload->ranks[l->rank].name),
                          l->by == DFL_BY_PARTS ? '/' : ':', (long long)l->amount);
}

/* What stands in the place of the `?`; nothing, if nothing was chosen. */
static void add_chosen(const place *p, const dfl_mapping *m, const dfl_body *found, dfl_strbuf *out)
{
    const dfl_line *idle = NULL;

    for (uint32_t i = 0; i < found->n_lines; i++) {
        if (!is_chosen(&found->lines[i], p->c))
            continue;
        if (is_idle(&found->lines[i]))
            idle = &found->lines[i];
        else
            add_line(p, m, out, &found->lines[i]);
    }
    if (out->len == 0 && idle != NULL)
        add_line(p, m, out, idle);
}

/* The words of statements, and what stands before the memory or the axis of a part of one. */
static const char *const words[] = { "temporal", "spatial", "keep" }, *const owners[] = { NULL, "on", "in" };

/* The whole statement around the `?`, up to the token `last`, and its line where nothing else is there, or else a blank. */
static dfl_span statement(const place *p, uint32_t last)
{
    const char *text = p->in.source->text;
    dfl_span at = { p->in.tokens[p->hole - 1].span.start, p->in.tokens[last].span.end };
    size_t start = at.start - p->in.source->base, end = at.end - p->in.source->base, blanks;
    dfl_strbuf comments;

    dfl_strbuf_init(&comments, p->s->arena);
    dfl_session_add_comments(p->s, &comments, at);
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    blanks = strspn(text + end, " \t\r");
    if (comments.len == 0 && (start == 0 || text[start - 1] == '\n') && text[end + blanks] == '\n')
        return (dfl_span){ p->in.source->base + (uint32_t)start, p->in.source->base + (uint32_t)(end + blanks) + 1 };
    if (comments.len == 0 && at.start > p->in.source->base + start && text[end] == ' ')
        at.end++;
    return at;
}

/* Whether a comma stands between what is of one memory or axis and what is of another. */
static bool parts_groups(const place *p, uint32_t comma)
{
    const char *owner = owners[p->c->kind];
    uint32_t i = comma - 1;

    while (owner != NULL && i > 0 && !is(p, i, ",") && !is(p, i, owner) && !is(p, i, words[p->c->kind]))
        i--;
    return owner != NULL && is(p, i, owner);
}

/* Up to a comma and the blanks behind it. */
static dfl_span with_comma(const place *p, uint32_t comma)
{
    const uint32_t end = p->in.tokens[comma].span.end;

    return (dfl_span){ p->in.tokens[p->hole].span.start,
                       end + (uint32_t)strspn(p->in.source->text + (end - p->in.source->base), " ") };
}

/* What goes when nothing is chosen: the `?` with a comma beside it, with its memory or axis if it is alone there, or its
   statement. False if that is none of these. */
static bool take_hole(const place *p, dfl_span *at)
{
    const dfl_token *t = p->in.tokens;
    const uint32_t h = p->hole;
    uint32_t last = h;

    while (last + 1 < p->in.n_tokens && !is(p, last, ";") && !is(p, last, ","))
        last++;
    if (is(p, h - 1, ",") && !parts_groups(p, h - 1))
        *at = (dfl_span){ t[h - 1].span.start, t[h].span.end };
    else if (is(p, h + 1, ","))
        *at = with_comma(p, h + 1);
    else if (is(p, h - 1, ","))
        *at = (dfl_span){ t[h - 1].span.start, t[last - 1].span.end };
    else if (is(p, last, ",") && is(p, h - 1, words[p->c->kind]))
        *at = with_comma(p, last);
    else if (is(p, last, ";") && is(p, h - 1, words[p->c->kind]))
        *at = statement(p, last);
    else
        return false;
    return true;
}

bool dfl_session_choice_text(dfl_session *s, const dfl_mapping *found, const dfl_body *body, const dfl_line_choice *c,
                             dfl_span *at, dfl_strbuf *text)
{
    place p = { .s = s, .c = c, .in = dfl_fmt_input_of(dfl_session_after(s), dfl_loaded_syntax(s, s->root)) };

    if (!find_hole(&p))
        return false;
    add_chosen(&p, found, body, text);
    *at = p.in.tokens[p.hole].span;
    return text->len > 0 || take_hole(&p, at);
}

const char *dfl_session_target(dfl_session *s, const dfl_mapping *m)
{
    place p = { .s = s, .in = dfl_fmt_input_of(dfl_session_after(s), dfl_loaded_syntax(s, s->root)) };
    uint32_t first = 0, last;
    dfl_strbuf out, comments;

    while (first + 1 < p.in.n_tokens && (p.in.tokens[first].span.start < m->text.start || !is(&p, first, "for")))
        first++;
    for (last = first; last + 1 < p.in.n_tokens && !is(&p, last, "{") && !is(&p, last, ";"); last++)
        ;
    if (last <= first + 1 || p.in.tokens[last].span.end > m->text.end)
        return NULL;
    dfl_strbuf_init(&out, s->arena);
    dfl_strbuf_init(&comments, s->arena);
    dfl_session_add_comments(s, &comments, (dfl_span){ p.in.tokens[first].span.start, p.in.tokens[last].span.end });
    for (uint32_t i = first + 1; i < last; i++) {
        const dfl_span at = p.in.tokens[i].span;
        if (i > first + 1 && at.start > p.in.tokens[i - 1].span.end)
            dfl_strbuf_char(&out, ' ');
        dfl_strbuf_add(&out, p.in.source->text + (at.start - p.in.source->base), at.end - at.start);
    }
    return comments.len == 0 ? out.text : NULL;
}
