#include "solve/rewrite.h"

#include <string.h>

#include "fmt/fmt.h"
#include "ir/mapping_open.h"
#include "ir/print_check.h"
#include "ir/print_mapping.h"
#include "solve/choice_rewrite.h"

static bool is_inside(dfl_span inner, dfl_span outer)
{
    return inner.start >= outer.start && inner.end <= outer.end;
}

/* ---- holes that are filled in place ---- */

/* Replaces each `?` of a tile size by the number found. False if a `?` is not in the text of the mapping but in a template. */
static bool edit_tile_sizes(const dfl_rewrite *rewrite, const dfl_filled *f, dfl_text_edits *edits)
{
    for (uint32_t b = 0; b < f->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < f->mapping->bodies[b]->n_lines; i++) {
            const dfl_line *line = &f->mapping->bodies[b]->lines[i];

            if (!line->hole || !dfl_line_is_first(f->mapping->bodies[b], i) ||
                (line->amount_span.end == 0 && f->chosen != NULL)) /* a line without a span belongs to a structural choice */
                continue;
            if (!is_inside(line->amount_span, f->given->text))
                return false;
            dfl_text_edits_add(edits, line->amount_span,
                               dfl_arena_printf(rewrite->file->arena, "%lld", (long long)line->amount));
        }
    return true;
}

/* The values of all decisions of a plan at one place: "gpipe", "8", "A, B". */
static const char *decision_text(const dfl_rewrite *rewrite, const dfl_filled *f, dfl_span at)
{
    const dfl_mapping *m = f->mapping;
    const char *out = "";
    bool is_set = false;

    for (uint32_t d = 0; d < m->n_decisions; d++) {
        const dfl_decision *open = &m->decisions[d];
        const dfl_tensor_set *set = open->kind == DFL_DECISION_RECOMPUTE ? &open->sets[m->decided[d]] : NULL;

        if (open->span.start != at.start)
            continue;
        if (open->kind == DFL_DECISION_RANK)
            return dfl_sym_text(rewrite->file->names, m->workload->ranks[m->decided[d]].name);
        if (open->kind == DFL_DECISION_HOME)
            return dfl_sym_text(rewrite->file->names, m->system->memories[m->decided[d]].name);
        if (set == NULL)
            return open->kind == DFL_DECISION_SCHEDULE ? dfl_schedule_name((dfl_schedule)m->decided[d])
                                                       : dfl_arena_printf(rewrite->file->arena, "%lld", (long long)m->decided[d]);
        is_set = true;
        for (uint32_t i = 0; i < set->n; i++)
            out = dfl_arena_printf(rewrite->file->arena, "%s%s%s", out, *out != 0 ? ", " : "",
                                   dfl_sym_text(rewrite->file->names, m->workload->tensors[set->tensors[i]].name));
    }
    return is_set && *out == 0 ? "none" : out;
}

/* Replaces the open decisions of a plan by the values found. False if one is not in the text of the mapping. */
static bool edit_decisions(const dfl_rewrite *rewrite, const dfl_filled *f, dfl_text_edits *edits)
{
    for (uint32_t d = 0; d < f->mapping->n_decisions && f->mapping->decided != NULL; d++) {
        const dfl_span at = f->mapping->decisions[d].span;
        bool is_first = true;

        for (uint32_t k = 0; k < d; k++)
            is_first &= f->mapping->decisions[k].span.start != at.start;
        if (!is_inside(at, f->given->text))
            return false;
        if (is_first)
            dfl_text_edits_add(edits, at, decision_text(rewrite, f, at));
    }
    return true;
}

/* Replaces each `?` among loops or keeps by the lines of its structural choice. False if a `?` is not in the text of the
   mapping. */
static bool edit_choices(const dfl_filled *f, dfl_text_edits *edits)
{
    for (uint32_t b = 0; b < f->given->n_bodies && f->chosen != NULL; b++)
        for (uint32_t i = 0; i < f->given->bodies[b]->n_choices; i++) {
            const dfl_line_choice *choice = &f->given->bodies[b]->choices[i];

            if (!is_inside(choice->span, f->given->text) || !dfl_choice_rewrite(edits, f, b, choice))
                return false;
        }
    return true;
}

/* Extends the span of a `...` by the comment that ends its line, and writes the comment before the lines that replace the
   `...`. */
static void move_comment(const dfl_edited_file *file, dfl_span *at, size_t column, dfl_strbuf *out)
{
    const char *comment;
    const size_t len = dfl_edited_line_comment(file, at->end, &comment);
    const char *end = file->in.source->text + (at->end - file->in.source->base);

    if (len == 0)
        return;
    dfl_strbuf_add(out, comment, len - (size_t)(comment - end));
    dfl_strbuf_printf(out, "\n%*s", (int)column, "");
    at->end += (uint32_t)len;
}

/* Replaces the `...` at `at` by the statements of a body, with the indentation of the `...`. Sets `*needs_layout` if the `...`
   does not start its line. */
static void edit_place(const dfl_rewrite *rewrite, const dfl_filled *f, const dfl_body *root, dfl_text_edits *edits,
                       dfl_span at, bool *needs_layout)
{
    const dfl_edited_file *file = rewrite->file;
    size_t column;
    const bool starts_line = dfl_edited_starts_line(file, at.start, &column);
    dfl_strbuf lines, text;
    dfl_mapping below = *f->mapping;
    dfl_body copy = *root;

    below.root = &copy;
    dfl_strbuf_init(&lines, file->arena);
    dfl_strbuf_init(&text, file->arena);
    dfl_mapping_print_lines(&lines, file->names, &below, DFL_FMT_INDENT);
    dfl_strbuf_z(&text, "");
    if (starts_line && lines.len > 0)
        move_comment(file, &at, column, &text);
    dfl_edited_add_lines(&text, &lines, column);
    if (lines.len == 0 && starts_line) { /* delete the whole line if the `...` is alone on it */
        const char *next = file->in.source->text + (at.end - file->in.source->base);
        const uint32_t end = *next == '\n' ? 1 : next[0] == '\r' && next[1] == '\n' ? 2 : 0;

        at.start -= end > 0 ? (uint32_t)column : 0;
        at.end += end;
    }
    *needs_layout |= !starts_line;
    dfl_text_edits_add(edits, at, text.text);
}

/* Replaces each `...` of a body by the lines found. Lines found between two written lines belong to the first `...` between
   these. False if a `...` is not in the text of the mapping. */
static bool edit_body(const dfl_rewrite *rewrite, const dfl_filled *f, const dfl_body *given, const dfl_body *found,
                      dfl_text_edits *edits, bool *needs_layout)
{
    /* If only homes are written, the homes are the first lines of the body, and all other lines replace the `...`. */
    const bool homes = dfl_mapping_all_lines_open(f->chosen != NULL ? f->chosen : f->given);
    uint32_t line = 0, seen = 0;

    for (uint32_t o = 0; o < given->n_opens; o++) {
        dfl_body part = *found;

        for (; line < found->n_lines && seen < given->opens[o].at; line++)
            seen += homes || found->lines[line].given;
        part.lines += line;
        for (part.n_lines = 0; line < found->n_lines && (homes || !found->lines[line].given); line++)
            part.n_lines++;
        if (o > 0 || given->compute != DFL_NONE)
            part.compute = DFL_NONE;
        if (!is_inside(given->opens[o].span, f->given->text))
            return false;
        edit_place(rewrite, f, &part, edits, given->opens[o].span, needs_layout);
    }
    return true;
}

/* Replaces each `...` of a body and of all nested bodies by the lines found. False if a `...` stands among branches. */
static bool edit_bodies(const dfl_rewrite *rewrite, const dfl_filled *f, const dfl_body *given, const dfl_body *found,
                        dfl_text_edits *edits, bool *needs_layout)
{
    if (given->open_children || !edit_body(rewrite, f, given, found, edits, needs_layout))
        return false;
    for (uint32_t c = 0; c < given->n_children; c++)
        if (!edit_bodies(rewrite, f, given->children[c], found->children[c], edits, needs_layout))
            return false;
    return true;
}

/* ---- mappings that are written anew ---- */

/* The workload and system of a mapping with their arguments, as the text of its declaration has them: "W(M = 8) on S". NULL
   if this text contains comments, or if the declaration is not in the file. */
static const char *target_text(const dfl_edited_file *file, const dfl_mapping *m)
{
    const dfl_fmt_input *in = &file->in;
    uint32_t first = 0, last;
    dfl_strbuf out, comments;

    while (first + 1 < in->n_tokens &&
           (in->tokens[first].span.start < m->text.start || !dfl_edited_is_token(file, first, "for")))
        first++;
    for (last = first; last + 1 < in->n_tokens && !dfl_edited_is_token(file, last, "{") &&
                       !dfl_edited_is_token(file, last, ";"); last++)
        ;
    if (last <= first + 1 || in->tokens[last].span.end > m->text.end)
        return NULL;
    dfl_strbuf_init(&out, file->arena);
    dfl_strbuf_init(&comments, file->arena);
    dfl_edited_add_comments(file, (dfl_span){ in->tokens[first].span.start, in->tokens[last].span.end }, &comments);
    for (uint32_t i = first + 1; i < last; i++) {
        const dfl_span at = in->tokens[i].span;

        if (i > first + 1 && at.start > in->tokens[i - 1].span.end)
            dfl_strbuf_char(&out, ' ');
        dfl_strbuf_add(&out, in->source->text + (at.start - in->source->base), at.end - at.start);
    }
    return comments.len == 0 ? out.text : NULL;
}

/* Adds the checks of the mapping: each `require`, and with `all` also each `expect` and `assume`. */
static void add_checks(const dfl_rewrite *rewrite, const dfl_filled *f, bool all, dfl_strbuf *lines)
{
    for (uint32_t i = 0; i < rewrite->program->n_checks; i++) {
        const dfl_check *c = &rewrite->program->checks[i];

        if (c->scope != f->given->name || (c->kind != DFL_CHECK_REQUIRE && !all))
            continue;
        dfl_strbuf_printf(lines, "%*s", DFL_FMT_INDENT, "");
        if (is_inside(c->span, f->given->text))
            dfl_strbuf_printf(lines, "%s%s\n", c->text, c->text[strlen(c->text) - 1] == ';' ? "" : ";");
        else
            dfl_check_write(lines, rewrite->file->names, c);
    }
}

/* Adds the declaration of a filled mapping. */
static void add_mapping(const dfl_rewrite *rewrite, const dfl_filled *f, bool all_checks, dfl_strbuf *out)
{
    dfl_mapping m = *f->mapping;
    const char *target = target_text(rewrite->file, f->given);
    dfl_strbuf lines;

    if (target != NULL)
        m.target = target;
    dfl_strbuf_init(&lines, rewrite->file->arena);
    dfl_mapping_print(&lines, rewrite->file->names, &m, DFL_FMT_INDENT);
    lines.len -= strlen("}\n");
    add_checks(rewrite, f, all_checks, &lines);
    dfl_strbuf_z(&lines, "}\n");
    dfl_edited_add_lines(out, &lines, 0);
}

/* Adds a comment line before a mapping that `--top` lists: "// energy = 7.2 mJ, 1.668 % more than the best". */
static void add_heading(const dfl_filled *f, dfl_strbuf *out)
{
    if (!dfl_filled_is_best_of_kind(f))
        return;
    dfl_strbuf_z(out, "// ");
    dfl_filled_print_distance(f->search, out);
    dfl_strbuf_char(out, '\n');
}

/* Gives a mapping of a Pareto set its new name, and deletes the `pareto` statement. */
static void edit_front(const dfl_rewrite *rewrite, const dfl_filled *f, dfl_text_edits *edits)
{
    const dfl_source *source = rewrite->file->in.source;
    dfl_span at = f->given->front_span;
    size_t column;

    dfl_text_edits_add(edits, f->given->span, dfl_sym_text(rewrite->file->names, f->mapping->name));
    if (at.end < f->given->text.end && source->text[at.end - source->base] == ';')
        at.end++;
    if (dfl_mapping_is_plan(f->given) && dfl_edited_starts_line(rewrite->file, at.start, &column) &&
        source->text[at.end - source->base] == '\n') { /* its whole line */
        at.start -= (uint32_t)column;
        at.end++;
    }
    dfl_text_edits_add(edits, at, "");
}

/* The declaration of a plan over chips with its own name and amounts in place; NULL if a `?` is not in its text. */
static const char *plan_text(const dfl_rewrite *rewrite, const dfl_filled *f)
{
    dfl_text_edits edits = { .file = rewrite->file };
    dfl_strbuf out;

    if (!dfl_mapping_is_plan(f->given) || !is_inside(f->given->span, f->given->text) || !edit_tile_sizes(rewrite, f, &edits) ||
        !edit_decisions(rewrite, f, &edits))
        return NULL;
    if (f->given->n_front > 0)
        edit_front(rewrite, f, &edits);
    else
        dfl_text_edits_add(&edits, f->given->span, dfl_sym_text(rewrite->file->names, f->mapping->name));
    dfl_strbuf_init(&out, rewrite->file->arena);
    dfl_text_edits_apply(&edits, f->given->text, &out);
    return out.text;
}

/* The declarations of all filled mappings behind index `i` that belong to the same mapping with holes. */
static const char *further_text(const dfl_rewrite *rewrite, size_t i)
{
    const char *text;
    dfl_strbuf out;

    dfl_strbuf_init(&out, rewrite->file->arena);
    while (++i < rewrite->n_filled && dfl_filled_is_further(rewrite->filled, i)) {
        dfl_strbuf_z(&out, "\n\n");
        add_heading(&rewrite->filled[i], &out);
        text = plan_text(rewrite, &rewrite->filled[i]);
        if (text != NULL)
            dfl_strbuf_z(&out, text);
        else
            add_mapping(rewrite, &rewrite->filled[i], false, &out);
    }
    return out.len > 0 ? out.text : "";
}

/* ---- declarations ---- */

/* Adds the edits that turn a mapping with holes into its first filled mapping: replaces each hole in place or, if that
   fails, the whole declaration. Sets `*needs_layout` if the result must be formatted. */
static void edit_mapping(const dfl_rewrite *rewrite, const dfl_filled *f, dfl_text_edits *edits, bool *needs_layout)
{
    const dfl_mapping *lines = f->chosen != NULL ? f->chosen : f->given;
    const size_t first = edits->edits.n;
    dfl_strbuf text;

    *needs_layout = f->given->n_front > 0;
    dfl_strbuf_init(&text, rewrite->file->arena);
    add_heading(f, &text);
    if (text.len > 0)
        dfl_text_edits_add(edits, (dfl_span){ f->given->text.start, f->given->text.start }, text.text);
    if (edit_tile_sizes(rewrite, f, edits) && edit_decisions(rewrite, f, edits) && edit_choices(f, edits) &&
        (dfl_mapping_is_plan(f->given) || /* its `...` stays */
         edit_bodies(rewrite, f, lines->root, f->mapping->root, edits, needs_layout)) &&
        dfl_text_edits_are_apart(edits, first)) {
        if (f->given->n_front > 0)
            edit_front(rewrite, f, edits);
        return;
    }
    edits->edits.n = first;
    dfl_edited_add_comments(rewrite->file, f->given->text, &text);
    dfl_strbuf_z(&text, text.len > 0 && text.text[text.len - 1] != '\n' ? "\n" : "");
    add_mapping(rewrite, f, true, &text);
    dfl_text_edits_replace(edits, f->given->text, text.text);
    *needs_layout = true;
}

/* The new text of the declaration of a mapping with holes. `laid_out` = the file has the layout of the formatter. */
static const char *declaration_text(const dfl_rewrite *rewrite, const dfl_filled *f, bool laid_out)
{
    const dfl_edited_file *file = rewrite->file;
    dfl_text_edits edits = { .file = file };
    bool needs_layout;
    dfl_strbuf out;
    const char *text;
    size_t len;

    edit_mapping(rewrite, f, &edits, &needs_layout);
    dfl_strbuf_init(&out, file->arena);
    dfl_text_edits_apply(&edits, f->given->text, &out);
    len = out.len;
    text = needs_layout || laid_out ? dfl_edited_lay_out(file, out.text, &len) : NULL;
    if (!text)
        return out.text;
    while (len > 0 && text[len - 1] == '\n')
        len--;
    text = dfl_edited_line_ends(file, dfl_arena_copy(file->arena, text, len), &len);
    return dfl_arena_copy(file->arena, text, len);
}

/* The position after a declaration, and after a comment that ends the line of the declaration. */
static uint32_t position_behind(const dfl_edited_file *file, dfl_span declaration)
{
    const dfl_source *source = file->in.source;
    const char *comment, *at;
    const size_t len = dfl_edited_line_comment(file, declaration.end, &comment);

    at = len > 0 ? source->text + (declaration.end - source->base) + len : comment;
    return *at == '\r' || *at == '\n' || *at == '\0' ? source->base + (uint32_t)(at - source->text) : declaration.end;
}

const char *dfl_rewrite_text(const dfl_rewrite *rewrite, size_t *len)
{
    const dfl_edited_file *file = rewrite->file;
    const dfl_source *source = file->in.source;
    const bool laid_out = dfl_edited_is_laid_out(file);
    dfl_text_edits edits = { .file = file };
    const char *text;
    dfl_strbuf out;

    for (size_t i = 0; i < rewrite->n_filled; i++) {
        const dfl_filled *f = &rewrite->filled[i];
        const uint32_t behind = position_behind(file, f->given->text);

        if (dfl_filled_is_further(rewrite->filled, i))
            continue;
        dfl_text_edits_replace(&edits, f->given->text, declaration_text(rewrite, f, laid_out));
        dfl_text_edits_add(&edits, (dfl_span){ behind, behind }, further_text(rewrite, i));
    }
    for (size_t i = 0; i < rewrite->n_constants; i++)
        dfl_text_edits_replace(&edits, rewrite->constants[i].span, rewrite->constants[i].text);
    dfl_strbuf_init(&out, file->arena);
    dfl_text_edits_apply(&edits, (dfl_span){ source->base, source->base + (uint32_t)source->len }, &out);
    *len = out.len;
    text = laid_out && rewrite->n_filled > 0 ? dfl_edited_lay_out(file, out.text, len) : NULL;
    return text ? dfl_edited_line_ends(file, text, len) : out.text;
}
