#include "solve/choice_rewrite.h"

#include <string.h>

/* One element of a statement, a tensor name or a loop between commas: the tokens `first` to `end` - 1. */
typedef struct {
    uint32_t first, end;
    bool ends_group;           /* the last element of a group: the memory or axis of the group follows it */
    bool is_gone;              /* the element is a `?` that the search filled with no lines */
} element;

/* A structural choice and the statement that contains its `?`. */
typedef struct {
    const dfl_edited_file *file;
    const dfl_filled *filled;
    const dfl_body *given, *found; /* the body with the choice: in the mapping with holes, and in the filled mapping */
    const dfl_line_choice *choice;
    uint32_t hole;             /* index of the token `?` */
    uint32_t keyword, end;     /* indices of the first and last token of the statement */
    DFL_VEC(element) elements;
} statement;

/* For each kind of line: the keyword of the statement, the word before the memory or axis of a group, and the word after
   all groups; NULL = no such word. */
static const char *const keywords[] = { "temporal", "spatial", "keep" }, *const group_words[] = { NULL, "on", "in" },
                  *const tail_words[] = { "online", "for", NULL };

static bool is_token(const statement *st, uint32_t i, const char *word)
{
    return dfl_edited_is_token(st->file, i, word);
}

static dfl_span token_span(const statement *st, uint32_t i) { return st->file->in.tokens[i].span; }

/* Finds the token `?` of the choice. False if the `?` is not in the file. */
static bool find_hole(statement *st)
{
    const dfl_fmt_input *in = &st->file->in;

    while (st->hole + 1 < in->n_tokens && token_span(st, st->hole).start < st->choice->span.start)
        st->hole++;
    return st->hole > 0 && token_span(st, st->hole).start == st->choice->span.start && is_token(st, st->hole, "?");
}

/* ---- the lines of a choice ---- */

static bool is_line_of(const dfl_line *line, const dfl_line_choice *choice)
{
    return line->kind == choice->kind && line->span.start == choice->span.start && line->span.end == choice->span.end &&
           line->axis == choice->axis && line->memory == choice->memory;
}

/* Whether a line is a spatial loop over one instance. Such a line is written only if its choice has no other line. */
static bool is_idle(const dfl_line *line) { return line->kind == DFL_LINE_SPATIAL && line->amount == 1; }

static void add_line(const statement *st, dfl_strbuf *out, const dfl_line *line)
{
    const dfl_intern *names = st->file->names;
    const dfl_mapping *m = st->filled->mapping;

    if (out->len > 0 && line->kind == DFL_LINE_SPATIAL)
        dfl_strbuf_printf(out, " on %s", dfl_sym_text(names, m->system->axes[line->axis].name));
    if (out->len > 0)
        dfl_strbuf_z(out, ", ");
    if (line->kind == DFL_LINE_KEEP)
        dfl_strbuf_z(out, dfl_sym_text(names, m->workload->tensors[line->tensor].name));
    else
        dfl_strbuf_printf(out, "%s%c%lld", dfl_sym_text(names, m->workload->ranks[line->rank].name),
                          line->by == DFL_BY_PARTS ? '/' : ':', (long long)line->amount);
}

/* The text of the lines that the search made for a choice; "" = no lines. */
static const char *choice_text(const statement *st, const dfl_line_choice *choice)
{
    const dfl_line *idle = NULL;
    dfl_strbuf out;

    dfl_strbuf_init(&out, st->file->arena);
    dfl_strbuf_z(&out, "");
    for (uint32_t i = 0; i < st->found->n_lines; i++) {
        if (!is_line_of(&st->found->lines[i], choice))
            continue;
        if (is_idle(&st->found->lines[i]))
            idle = &st->found->lines[i];
        else
            add_line(st, &out, &st->found->lines[i]);
    }
    if (out.len == 0 && idle != NULL)
        add_line(st, &out, idle);
    return out.text;
}

/* ---- the statement around it ---- */

/* Whether the element that starts at token `first` is a `?` that the search filled with no lines. */
static bool is_gone(const statement *st, uint32_t first)
{
    for (uint32_t i = 0; i < st->given->n_choices; i++)
        if (st->given->choices[i].span.start == token_span(st, first).start)
            return choice_text(st, &st->given->choices[i])[0] == '\0';
    return false;
}

/* Finds the keyword and the elements of the statement around the `?`. False if no statement with the keyword of the choice
   surrounds the `?`. */
static bool split_statement(statement *st)
{
    const char *group_word = group_words[st->choice->kind], *tail_word = tail_words[st->choice->kind];
    element e = { .first = 0 };
    int depth = 0;

    for (st->keyword = st->hole; !is_token(st, st->keyword, keywords[st->choice->kind]); st->keyword--)
        if (st->keyword == 0 || is_token(st, st->keyword, ";"))
            return false;
    e.first = st->keyword + 1;
    for (st->end = e.first; st->end + 1 < st->file->in.n_tokens && (depth > 0 || !is_token(st, st->end, ";")); st->end++) {
        const uint32_t i = st->end;

        depth += is_token(st, i, "{") || is_token(st, i, "(");
        depth -= is_token(st, i, "}") || is_token(st, i, ")");
        e.ends_group |= depth == 0 && group_word != NULL && is_token(st, i, group_word);
        if (depth == 0 && e.end == 0 && (is_token(st, i, ",") || (tail_word != NULL && is_token(st, i, tail_word)))) {
            e.end = i;
            DFL_PUSH(st->file->arena, &st->elements, e);
            e = (element){ .first = i + 1, .end = is_token(st, i, ",") ? 0 : i };
        }
    }
    e.ends_group = true;
    if (e.end == 0) {
        e.end = st->end;
        DFL_PUSH(st->file->arena, &st->elements, e);
    }
    st->elements.at[st->elements.n - 1].ends_group = true;
    for (size_t i = 0; i < st->elements.n; i++)
        st->elements.at[i].is_gone = is_gone(st, st->elements.at[i].first);
    return true;
}

static bool has_comments(const statement *st, dfl_span span)
{
    dfl_strbuf comments;

    dfl_strbuf_init(&comments, st->file->arena);
    dfl_edited_add_comments(st->file, span, &comments);
    return comments.len > 0;
}

/* The span to delete for a whole statement: with its line if the statement is alone on the line, else with one adjacent blank. */
static dfl_span whole_statement(const statement *st)
{
    const dfl_source *source = st->file->in.source;
    const char *text = source->text;
    dfl_span at = { token_span(st, st->keyword).start, token_span(st, st->end).end };
    size_t start = at.start - source->base, end = at.end - source->base, blanks;
    bool starts_line, ends_line;

    if (has_comments(st, at))
        return at;
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    blanks = strspn(text + end, " \t\r");
    starts_line = start == 0 || text[start - 1] == '\n';
    ends_line = text[end + blanks] == '\n';
    if (starts_line && ends_line)
        return (dfl_span){ source->base + (uint32_t)start, source->base + (uint32_t)(end + blanks) + 1 };
    if (ends_line)
        at.start = source->base + (uint32_t)start;
    else if (at.start > source->base + start && text[end] == ' ')
        at.end++;
    return at;
}

/* Whether all elements of the group of element `i` are deleted. The group has the elements `*first` to `*end` - 1. */
static bool is_group_gone(const statement *st, size_t i, size_t *first, size_t *end)
{
    bool all_gone = true;

    for (*first = i; *first > 0 && !st->elements.at[*first - 1].ends_group; --*first)
        ;
    for (*end = *first; *end < st->elements.n && (*end == *first || !st->elements.at[*end - 1].ends_group); ++*end)
        all_gone &= st->elements.at[*end].is_gone;
    return all_gone;
}

/* The span from the comma before token `first` to the end of token `end` - 1. */
static dfl_span span_with_comma_before(const statement *st, uint32_t first, uint32_t end)
{
    return (dfl_span){ token_span(st, first - 1).start, token_span(st, end - 1).end };
}

/* The span from token `first` to the end of token `comma`, and of the blanks after the comma unless the span contains
   comments. */
static dfl_span span_with_comma_behind(const statement *st, uint32_t first, uint32_t comma)
{
    const dfl_span at = { token_span(st, first).start, token_span(st, comma).end };
    const char *behind = st->file->in.source->text + (at.end - st->file->in.source->base);

    return (dfl_span){ at.start, at.end + (has_comments(st, at) ? 0 : (uint32_t)strspn(behind, " ")) };
}

/* Whether at least one of the elements `first` to `end` - 1 is not deleted. */
static bool has_remaining(const statement *st, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!st->elements.at[i].is_gone)
            return true;
    return false;
}

/* The span to delete for the deleted element `i`. If all elements of a group or statement are deleted, the first one
   deletes the whole group or statement, and the span of the others is empty. */
static dfl_span gone_span(const statement *st, size_t i)
{
    const element *all = st->elements.at;
    const uint32_t start = token_span(st, st->hole).start;
    const dfl_span nothing = { start, start };
    size_t first, end;

    if (!has_remaining(st, 0, st->elements.n))
        return i == 0 ? whole_statement(st) : nothing;
    if (!is_group_gone(st, i, &first, &end))
        return has_remaining(st, first, i) ? span_with_comma_before(st, st->hole, st->hole + 1)
                                       : span_with_comma_behind(st, st->hole, all[i].end);
    if (i > first)
        return nothing;
    return has_remaining(st, 0, first) ? span_with_comma_before(st, st->hole, all[end - 1].end)
                                   : span_with_comma_behind(st, st->hole, all[end - 1].end);
}

bool dfl_choice_rewrite(dfl_text_edits *edits, const dfl_filled *filled, uint32_t body, const dfl_line_choice *choice)
{
    statement st = { .file = edits->file, .filled = filled, .given = filled->given->bodies[body],
                     .found = filled->mapping->bodies[body], .choice = choice };
    const char *text;
    dfl_span at;
    size_t i = 0;

    if (!find_hole(&st))
        return false;
    text = choice_text(&st, choice);
    at = token_span(&st, st.hole);
    if (text[0] == '\0') {
        if (!split_statement(&st))
            return false;
        while (i < st.elements.n && st.elements.at[i].first != st.hole)
            i++;
        if (i == st.elements.n)
            return false;
        at = gone_span(&st, i);
    }
    if (at.end > at.start)
        dfl_text_edits_add(edits, at, text);
    return true;
}
