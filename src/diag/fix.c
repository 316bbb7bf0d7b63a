#include "diag/fix.h"

#include <stdlib.h>
#include <string.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef DFL_VEC(const dfl_edit *) edit_list;

static bool is_same_edit(const dfl_edit *a, const dfl_edit *b)
{
    return a->span.start == b->span.start && a->span.end == b->span.end && strcmp(a->text, b->text) == 0;
}

/* Whether two edits overlap. Two insertions at one point overlap, since their order would be a guess. */
static bool overlaps(const dfl_edit *a, const dfl_edit *b)
{
    if (a->span.start == b->span.start)
        return (a->span.start == a->span.end) == (b->span.start == b->span.end);
    return a->span.start < b->span.end && b->span.start < a->span.end;
}

static bool is_taken(const edit_list *taken, const dfl_edit *edit)
{
    for (size_t i = 0; i < taken->n; i++)
        if (is_same_edit(taken->at[i], edit))
            return true;
    return false;
}

static bool is_sure(const dfl_diag *d)
{
    for (const dfl_edit *e = d->edits; e; e = e->next)
        if (e->certainty != DFL_FIX_SURE)
            return false;
    return d->edits != NULL;
}

/* Whether no edit of the report overlaps an edit taken before, or another edit of the report. */
static bool fits(const edit_list *taken, const dfl_diag *d)
{
    for (const dfl_edit *e = d->edits; e; e = e->next) {
        if (e->span.end < e->span.start)
            return false;
        if (is_taken(taken, e))
            continue;
        for (size_t i = 0; i < taken->n; i++)
            if (overlaps(taken->at[i], e))
                return false;
        for (const dfl_edit *other = d->edits; other != e; other = other->next)
            if (!is_same_edit(other, e) && overlaps(other, e))
                return false;
    }
    return true;
}

static bool touches(const dfl_source *source, const dfl_sink *sink, const dfl_diag *d)
{
    for (const dfl_edit *e = d->edits; e; e = e->next)
        if (dfl_source_of(dfl_sink_sources(sink), e->span) == source)
            return true;
    return false;
}

/* Order by start. An insertion precedes a replacement that starts at the same place. */
static int compare_places(const void *left, const void *right)
{
    const dfl_edit *a = *(const dfl_edit *const *)left, *b = *(const dfl_edit *const *)right;

    if (a->span.start != b->span.start)
        return a->span.start < b->span.start ? -1 : 1;
    return a->span.end < b->span.end ? -1 : a->span.end > b->span.end;
}

/* Writes the text of the source with the edits `taken`, which are sorted and do not overlap. */
static void rewrite(const dfl_source *source, const dfl_sink *sink, const edit_list *taken, dfl_strbuf *out)
{
    size_t done = 0;

    for (size_t i = 0; i < taken->n; i++) {
        const dfl_edit *e = taken->at[i];
        size_t start, end;

        if (dfl_source_of(dfl_sink_sources(sink), e->span) != source)
            continue;
        start = e->span.start - source->base;
        end = e->span.end - source->base;
        if (end > source->len)
            end = source->len;
        dfl_strbuf_add(out, source->text + done, start - done);
        dfl_strbuf_z(out, e->text);
        done = end;
    }
    dfl_strbuf_add(out, source->text + done, source->len - done);
}

dfl_fixed dfl_fix_apply(const dfl_source *source, dfl_sink *sink)
{
    dfl_arena *arena = dfl_sink_arena(sink);
    dfl_fixed fixed = { 0 };
    edit_list taken = { 0 };
    dfl_strbuf out;

    dfl_sink_sort(sink);
    for (size_t i = 0; i < dfl_sink_count(sink); i++) {
        const dfl_diag *d = dfl_sink_at(sink, i);
        bool here;

        if (!is_sure(d))
            continue;
        here = touches(source, sink, d);
        if (!fits(&taken, d)) {
            fixed.skipped += here;
            continue;
        }
        fixed.applied += here;
        for (const dfl_edit *e = d->edits; e; e = e->next)
            if (!is_taken(&taken, e))
                DFL_PUSH(arena, &taken, e);
    }
    if (taken.n > 1)
        qsort(taken.at, taken.n, sizeof *taken.at, compare_places);
    dfl_strbuf_init(&out, arena);
    rewrite(source, sink, &taken, &out);
    fixed.text = out.text;
    fixed.len = out.len;
    return fixed;
}
