/* What was chosen for a `?` among loops or keeps, as text in its place; what nothing was chosen for goes, with a comma beside it,
   with its memory or axis if nothing else is there, or with the whole statement. */
#include "api/session.h"

#include <string.h>

#include "fmt/gap.h"

/* One of the names and loops between commas: tokens from `first` to before `end`, with the memory or axis behind it. */
typedef struct {
    uint32_t first, end;
    bool last;                 /* of those in one memory or on one axis */
    bool gone;                 /* a `?` for which nothing was chosen */
} element;

typedef struct {
    dfl_session *s;
    dfl_fmt_input in;
    const dfl_mapping *m;      /* that was found, ... */
    const dfl_body *found;     /* ... and the body of it in which the choice is made, */
    const dfl_body *given;     /* of the one with choices */
    const dfl_line_choice *c;
    uint32_t hole;             /* the token `?` */
    DFL_VEC(element) elements; /* of its statement, ... */
    uint32_t keyword, end;     /* ... and its first and last token */
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

static void add_line(const place *p, dfl_strbuf *out, const dfl_line *l)
{
    const dfl_intern *names = p->s->names;
    const dfl_mapping *m = p->m;

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

/* What stands in the place of a `?`; nothing, if nothing was chosen. */
static void add_chosen(const place *p, const dfl_line_choice *c, dfl_strbuf *out)
{
    const dfl_line *idle = NULL;

    for (uint32_t i = 0; i < p->found->n_lines; i++) {
        if (!is_chosen(&p->found->lines[i], c))
            continue;
        if (is_idle(&p->found->lines[i]))
            idle = &p->found->lines[i];
        else
            add_line(p, out, &p->found->lines[i]);
    }
    if (out->len == 0 && idle != NULL)
        add_line(p, out, idle);
}

/* The words of statements, what stands before the memory or the axis of a part of one, and what ends its parts. */
static const char *const words[] = { "temporal", "spatial", "keep" }, *const owners[] = { NULL, "on", "in" },
                  *const tails[] = { "online", "for", NULL };

/* Whether an element is a `?` for which nothing was chosen. */
static bool is_gone(const place *p, uint32_t first)
{
    const uint32_t at = p->in.tokens[first].span.start;
    dfl_strbuf text;

    dfl_strbuf_init(&text, p->s->arena);
    for (uint32_t i = 0; i < p->given->n_choices; i++)
        if (p->given->choices[i].span.start == at) {
            add_chosen(p, &p->given->choices[i], &text);
            return text.len == 0;
        }
    return false;
}

/* Takes the statement around the `?` apart; false if it does not begin with its word. */
static bool take_apart(place *p)
{
    const char *owner = owners[p->c->kind], *tail = tails[p->c->kind];
    element e = { .first = 0 };
    int depth = 0;

    for (p->keyword = p->hole; !is(p, p->keyword, words[p->c->kind]); p->keyword--)
        if (p->keyword == 0 || is(p, p->keyword, ";"))
            return false;
    e.first = p->keyword + 1;
    for (p->end = e.first; p->end + 1 < p->in.n_tokens && (depth > 0 || !is(p, p->end, ";")); p->end++) {
        const uint32_t i = p->end;
        depth += is(p, i, "{") || is(p, i, "(");
        depth -= is(p, i, "}") || is(p, i, ")");
        e.last |= depth == 0 && owner != NULL && is(p, i, owner);
        if (depth == 0 && e.end == 0 && (is(p, i, ",") || (tail != NULL && is(p, i, tail)))) {
            e.end = i;
            DFL_PUSH(p->s->arena, &p->elements, e);
            e = (element){ .first = i + 1, .end = is(p, i, ",") ? 0 : i };
        }
    }
    e.last = true;
    if (e.end == 0) {
        e.end = p->end;
        DFL_PUSH(p->s->arena, &p->elements, e);
    }
    p->elements.at[p->elements.n - 1].last = true;
    for (size_t i = 0; i < p->elements.n; i++)
        p->elements.at[i].gone = is_gone(p, p->elements.at[i].first);
    return true;
}

/* The whole statement, and its line where nothing else is there, or else a blank. */
static dfl_span statement(const place *p)
{
    const char *text = p->in.source->text;
    dfl_span at = { p->in.tokens[p->keyword].span.start, p->in.tokens[p->end].span.end };
    size_t start = at.start - p->in.source->base, end = at.end - p->in.source->base, blanks;
    bool first, last;
    dfl_strbuf comments;

    dfl_strbuf_init(&comments, p->s->arena);
    dfl_session_add_comments(p->s, &comments, at);
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    blanks = strspn(text + end, " \t\r");
    first = start == 0 || text[start - 1] == '\n';
    last = text[end + blanks] == '\n';
    if (comments.len == 0 && first && last)
        return (dfl_span){ p->in.source->base + (uint32_t)start, p->in.source->base + (uint32_t)(end + blanks) + 1 };
    if (comments.len == 0 && last)
        at.start = p->in.source->base + (uint32_t)start;
    else if (comments.len == 0 && at.start > p->in.source->base + start && text[end] == ' ')
        at.end++;
    return at;
}

/* Whether all elements of a memory or axis are gone, of which number `i` is one, and which is the first of them. */
static bool all_gone(const place *p, size_t i, size_t *first, size_t *end)
{
    bool all = true;

    for (*first = i; *first > 0 && !p->elements.at[*first - 1].last; --*first)
        ;
    for (*end = *first; *end < p->elements.n && (*end == *first || !p->elements.at[*end - 1].last); ++*end)
        all &= p->elements.at[*end].gone;
    return all;
}

/* From the comma before what is gone to its end. */
static dfl_span with_comma_before(const place *p, uint32_t first, uint32_t end)
{
    return (dfl_span){ p->in.tokens[first - 1].span.start, p->in.tokens[end - 1].span.end };
}

/* To the end of the comma behind what is gone, and the blanks behind that unless comments stay there. */
static dfl_span with_comma_behind(const place *p, uint32_t first, uint32_t comma)
{
    const dfl_span at = { p->in.tokens[first].span.start, p->in.tokens[comma].span.end };
    const char *behind = p->in.source->text + (at.end - p->in.source->base);
    dfl_strbuf comments;

    dfl_strbuf_init(&comments, p->s->arena);
    dfl_session_add_comments(p->s, &comments, at);
    return (dfl_span){ at.start, at.end + (comments.len > 0 ? 0 : (uint32_t)strspn(behind, " ")) };
}

/* Whether anything stays of the elements before number `end`, from `first` on. */
static bool any_stays(const place *p, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!p->elements.at[i].gone)
            return true;
    return false;
}

/* What goes with element `i`, for which nothing was chosen. Of a memory or axis, or a statement, of which nothing stays the first
   element takes all along, and the others nothing. */
static dfl_span gone_with(const place *p, size_t i)
{
    const dfl_token *token = p->in.tokens;
    const element *all = p->elements.at;
    const dfl_span none = { token[p->hole].span.start, token[p->hole].span.start };
    size_t first, end;

    if (!any_stays(p, 0, p->elements.n))
        return i == 0 ? statement(p) : none;
    if (!all_gone(p, i, &first, &end)) /* the memory or axis stays */
        return any_stays(p, first, i) ? with_comma_before(p, p->hole, p->hole + 1) : with_comma_behind(p, p->hole, all[i].end);
    if (i > first)
        return none;
    return any_stays(p, 0, first) ? with_comma_before(p, p->hole, all[end - 1].end)
                                  : with_comma_behind(p, p->hole, all[end - 1].end);
}

bool dfl_session_choice_text(dfl_session *s, const dfl_mapping *found, const dfl_body *body, const dfl_body *given,
                             const dfl_line_choice *c, dfl_span *at, dfl_strbuf *text)
{
    place p = { .s = s, .c = c, .m = found, .found = body, .given = given,
                .in = dfl_fmt_input_of(dfl_session_after(s), dfl_loaded_syntax(s, s->root)) };
    size_t i = 0;

    if (!find_hole(&p))
        return false;
    add_chosen(&p, c, text);
    *at = p.in.tokens[p.hole].span;
    if (text->len > 0)
        return true;
    if (!take_apart(&p))
        return false;
    while (i < p.elements.n && p.elements.at[i].first != p.hole)
        i++;
    if (i == p.elements.n)
        return false;
    *at = gone_with(&p, i);
    return true;
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
