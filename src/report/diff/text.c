/*
 * A comparison as text, one screen per pair: totals, changes of the mapping, causes of the difference of energy, and the
 * parts of energy and time that differ most. One more line has the sum of the parts that the table omits, so every column
 * adds up to its last line.
 */
#include "report/diff/diff.h"

#include <stdio.h>
#include <string.h>

#include "report/diff/ledger_text.h"
#include "report/table.h"
#include "report/readable.h"

enum {
    DIGITS = 7,         /* significant digits of the larger total of a ledger */
    MOST_PARTS = 12,    /* lines of a table without --details; one more part is printed if it is the only omitted one */
    MOST_CAUSES = 8,
    MOST_CHANGES = 16,
    LINE_WIDTH = 100,   /* columns; longer changes take two lines */
    SUMMARY_CHANGES = 4,
    SUMMARY_PARTS = 3,
};

typedef struct { dfl_strbuf *out; dfl_diff_pair *pair; bool details; } context;

/* The unit of a table: the SI unit with a decimal prefix that suits the larger total, and the decimal places in this unit. */
typedef struct { int decimals; char unit[16]; } scale;

static scale scale_of(const dfl_ledger *l, const char *unit)
{
    static const char *const prefixes[] = { "a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
    enum { NONE = 6 };
    scale out = { l->decimals, "" };
    int power = DIGITS - 1 - l->decimals, thousands = NONE;

    for (; power >= 3 && thousands < 2 * NONE; power -= 3)
        thousands++;
    for (; power < 0 && thousands > 0; power += 3)
        thousands--;
    out.decimals += 3 * (thousands - NONE);
    snprintf(out.unit, sizeof out.unit, "%s%s", prefixes[thousands], unit);
    return out;
}

static void add_cell(dfl_table *t, dfl_i128 units, const scale *s, bool sign)
{
    char text[DFL_LEDGER_TEXT + 1] = "+";

    dfl_ledger_text(units, s->decimals, text + (sign && units > 0));
    dfl_table_cell(t, text);
}

/* Prints the values of both sides and their difference. */
static void add_cells(dfl_table *t, dfl_i128 from, dfl_i128 to, const scale *s)
{
    add_cell(t, from, s, false);
    add_cell(t, to, s, false);
    add_cell(t, to - from, s, true);
}

/* ---- totals ---- */

static void add_total(dfl_table *t, const char *name, const dfl_ledger *l, const char *unit)
{
    const scale s = scale_of(l, unit);
    char share[DFL_UNIT_TEXT] = "", sign[DFL_UNIT_TEXT + 1];

    dfl_table_row_start(t);
    dfl_table_cell(t, dfl_arena_printf(t->arena, "%s, %s", name, s.unit));
    add_cells(t, l->units_from, l->units_to, &s);
    if (l->units_from != l->units_to && l->units_from != 0)
        dfl_human_share(dfl_i128_double(l->units_to - l->units_from), dfl_i128_double(l->units_from), share);
    snprintf(sign, sizeof sign, "%s%s", *share && *share != '-' ? "+" : "", share);
    dfl_table_cell(t, sign);
}

static void print_totals(const context *c)
{
    dfl_table t;

    dfl_table_init(&t, c->out->arena, 5, 1, 5);
    dfl_table_row_start(&t);
    dfl_table_cell(&t, "");
    dfl_table_cell(&t, c->pair->from->name);
    dfl_table_cell(&t, c->pair->to->name);
    dfl_table_cell(&t, "difference");
    add_total(&t, "energy", &c->pair->energy, "J");
    add_total(&t, "latency", &c->pair->time, "s");
    dfl_table_print(&t, c->out, 2);
}

/* ---- changes ---- */

/* The text of a change for people: bits get a unit. */
static const char *shown_text(const context *c, const dfl_change *k, const char *value)
{
    char text[DFL_UNIT_TEXT];
    dfl_i128 bits = 0;

    if (value && (strcmp(k->kind, "room") == 0 || strcmp(k->kind, "memory") == 0)) {
        for (const char *d = value; *d; d++)
            bits = bits * 10 + (*d - '0');
        dfl_human_bits(bits, text);
        return dfl_arena_copy(c->out->arena, text, strlen(text));
    }
    return value ? (*value ? value : "default") : "-";
}

/* Prints a change on one line, or on two if one would be longer than LINE_WIDTH. */
static void print_change(const context *c, const dfl_change *k, int width)
{
    const char *from = shown_text(c, k, k->from), *to = shown_text(c, k, k->to);
    bool wide = 16 + (size_t)width + strlen(from) + strlen(to) > LINE_WIDTH;

    dfl_strbuf_printf(c->out, "  %-8s  %-*s  %s", k->kind, width, k->what, from);
    if (wide)
        dfl_strbuf_printf(c->out, "\n%*s-> %s", 11 + width, "", to);
    else
        dfl_strbuf_printf(c->out, " -> %s", to);
    if (k->einsums)
        dfl_strbuf_printf(c->out, "  (%s)", k->einsums);
    dfl_strbuf_char(c->out, '\n');
}

static void print_changes(const context *c)
{
    const dfl_changes *all = &c->pair->changes;
    size_t n = c->details || all->n <= MOST_CHANGES + 1 ? all->n : MOST_CHANGES;
    int width = 0;

    if (c->pair->from->has_costs && c->pair->to->has_costs && (!c->pair->from->shape || !c->pair->to->shape))
        dfl_strbuf_z(c->out, "  only costs are compared: one side contains no readable mapping\n");
    dfl_strbuf_z(c->out, n > 0 ? "\n" : "");
    for (size_t i = 0; i < n; i++)
        width = (int)strlen(all->at[i].what) > width ? (int)strlen(all->at[i].what) : width;
    for (size_t i = 0; i < n; i++)
        print_change(c, &all->at[i], width);
    if (n < all->n)
        dfl_strbuf_printf(c->out, "  %zu more\n", all->n - n);
}

/* ---- parts ---- */

typedef struct { const char *text; dfl_i128 from, to; } cause;
typedef DFL_VEC(cause) causes;

/* Sums of parts by their cause, the largest difference first. */
static causes sum_causes(const context *c, const dfl_ledger *l)
{
    causes all = { 0 };

    for (size_t i = 0; i < l->parts.n; i++) {
        const dfl_ledger_part *p = &l->parts.at[i];
        const char *text = p->cause ? p->cause : "unchanged";
        size_t k = 0;

        while (k < all.n && strcmp(all.at[k].text, text) != 0)
            k++;
        if (k == all.n)
            DFL_PUSH(c->out->arena, &all, ((cause){ text, 0, 0 }));
        all.at[k].from += p->units_from;
        all.at[k].to += p->units_to;
    }
    for (size_t i = 1; i < all.n; i++)
        for (size_t k = i; k > 0; k--) {
            cause *x = &all.at[k - 1], *y = &all.at[k], swap = *x;
            dfl_i128 p = x->to > x->from ? x->to - x->from : x->from - x->to;
            dfl_i128 q = y->to > y->from ? y->to - y->from : y->from - y->to;

            if (p >= q)
                break;
            *x = *y;
            *y = swap;
        }
    return all;
}

/* Prints a line with a text and the values of both sides; `has_names` = in a table with three columns of names. */
static void add_sum(dfl_table *t, const char *text, const scale *s, dfl_i128 from, dfl_i128 to, bool has_names)
{
    dfl_table_row_start(t);
    dfl_table_cell(t, text);
    for (unsigned i = 0; has_names && i < 2; i++)
        dfl_table_cell(t, "");
    add_cells(t, from, to, s);
}

static void print_causes(const context *c, const dfl_ledger *l, const scale *s)
{
    const causes all = sum_causes(c, l);
    dfl_i128 from = l->units_from, to = l->units_to;
    size_t n = 0;
    dfl_table t;

    dfl_table_init(&t, c->out->arena, 4, 1, 4);
    for (; n < all.n && (c->details || n < MOST_CAUSES || all.n == MOST_CAUSES + 1); n++) {
        add_sum(&t, all.at[n].text, s, all.at[n].from, all.at[n].to, false);
        from -= all.at[n].from;
        to -= all.at[n].to;
    }
    if (n < all.n)
        add_sum(&t, dfl_arena_printf(c->out->arena, "%zu others", all.n - n), s, from, to, false);
    add_sum(&t, "total", s, l->units_from, l->units_to, false);
    dfl_strbuf_printf(c->out, "\nenergy by cause, %s\n", s->unit);
    dfl_table_print(&t, c->out, 2);
}

static void add_part(const context *c, dfl_table *t, const dfl_ledger_part *p, const scale *s)
{
    char from[DFL_UNIT_TEXT], to[DFL_UNIT_TEXT];

    dfl_table_row_start(t);
    dfl_table_cell(t, p->where);
    dfl_table_cell(t, p->what);
    dfl_table_cell(t, p->action);
    add_cells(t, p->units_from, p->units_to, s);
    dfl_human_count(p->count_from, from);
    dfl_human_count(p->count_to, to);
    dfl_table_cell(t, p->has_counts ? dfl_arena_printf(c->out->arena, "%s -> %s", from, to) : "");
    dfl_table_cell(t, p->cause);
}

static void print_parts(const context *c, const dfl_ledger *l, const scale *s)
{
    dfl_i128 from = l->units_from, to = l->units_to, same = 0;
    size_t changed = 0, n = 0;
    dfl_table t;

    dfl_table_init(&t, c->out->arena, 8, 3, 6);
    while (changed < l->parts.n && l->parts.at[changed].cause)
        changed++;
    for (size_t i = changed; i < l->parts.n; i++)
        same += l->parts.at[i].units_from;
    for (; n < changed && (c->details || n < MOST_PARTS || changed == MOST_PARTS + 1); n++) {
        add_part(c, &t, &l->parts.at[n], s);
        from -= l->parts.at[n].units_from;
        to -= l->parts.at[n].units_to;
    }
    if (n < changed)
        add_sum(&t, dfl_arena_printf(c->out->arena, "%zu more", changed - n), s, from - same, to - same, true);
    if (changed < l->parts.n)
        add_sum(&t, "unchanged", s, same, same, true);
    add_sum(&t, "total", s, l->units_from, l->units_to, true);
    dfl_table_print(&t, c->out, 2);
}

static void print_energy(const context *c)
{
    const dfl_ledger *l = &c->pair->energy;
    const scale s = scale_of(l, "J");

    if (l->parts.n == 0 || !l->parts.at[0].cause)
        return;
    print_causes(c, l, &s);
    dfl_strbuf_printf(c->out, "\nenergy by part, %s\n", s.unit);
    print_parts(c, l, &s);
}

static void print_time(const context *c)
{
    const dfl_ledger *l = &c->pair->time;
    const scale s = scale_of(l, "s");

    if (l->parts.n == 0 || !l->parts.at[0].cause)
        return;
    dfl_strbuf_printf(c->out, "\ntime by einsum, %s\n", s.unit);
    print_parts(c, l, &s);
}

/* ---- the summary of a pair ---- */

/* Prints the difference of a total as a sum of its largest parts and the rest. */
static void print_sum(const context *c, const char *name, const dfl_ledger *l, const char *unit)
{
    const scale s = scale_of(l, unit);
    dfl_i128 rest = l->units_to - l->units_from;
    char text[DFL_LEDGER_TEXT + 1] = "+";
    size_t n = 0;

    dfl_ledger_text(rest, s.decimals, text + (rest > 0));
    dfl_strbuf_printf(c->out, "  %-8s  %s %s", name, text, s.unit);
    for (; n < SUMMARY_PARTS && n < l->parts.n && l->parts.at[n].units_from != l->parts.at[n].units_to; n++) {
        const dfl_ledger_part *p = &l->parts.at[n];
        dfl_i128 units = p->units_to - p->units_from;
        text[0] = '+';
        dfl_ledger_text(units, s.decimals, text + (units > 0));
        dfl_strbuf_printf(c->out, "%s%s%s%s%s%s %s", n == 0 ? ": " : ", ", p->where, *p->what ? " " : "", p->what,
                          *p->action ? " " : "", p->action, text);
        rest -= units;
    }
    if (rest != 0) {
        text[0] = '+';
        dfl_ledger_text(rest, s.decimals, text + (rest > 0));
        dfl_strbuf_printf(c->out, "%s all else %s", n > 0 ? "," : ":", text);
    }
    dfl_strbuf_char(c->out, '\n');
}

void dfl_diff_summary(dfl_strbuf *out, dfl_diff_pair *p)
{
    const context c = { out, p, false };
    const dfl_changes *all = &p->changes;
    size_t n = all->n <= SUMMARY_CHANGES + 1 ? all->n : SUMMARY_CHANGES;
    int width = 0;

    for (size_t i = 0; i < n; i++)
        width = (int)strlen(all->at[i].what) > width ? (int)strlen(all->at[i].what) : width;
    for (size_t i = 0; i < n; i++)
        print_change(&c, &all->at[i], width);
    if (n < all->n)
        dfl_strbuf_printf(out, "  %zu more changes\n", all->n - n);
    if (!p->from->has_costs || !p->to->has_costs)
        return;
    dfl_ledger_round(out->arena, &p->energy, DIGITS);
    dfl_ledger_round(out->arena, &p->time, DIGITS);
    print_sum(&c, "energy", &p->energy, "J");
    print_sum(&c, "latency", &p->time, "s");
}

/* ---- pairs ---- */

static void print_pair(dfl_strbuf *out, dfl_diff_pair *p, bool details)
{
    const context c = { out, p, details };

    dfl_strbuf_printf(out, "%s: %s -> ", p->from->file, p->from->name);
    if (strcmp(p->from->file, p->to->file) != 0)
        dfl_strbuf_printf(out, "%s: ", p->to->file);
    dfl_strbuf_printf(out, "%s\n", p->to->name);
    if (!p->differs) {
        dfl_strbuf_z(out, "  no difference\n");
        return;
    }
    if (p->from->has_costs && p->to->has_costs) {
        dfl_ledger_round(out->arena, &p->energy, DIGITS);
        dfl_ledger_round(out->arena, &p->time, DIGITS);
        print_totals(&c);
    }
    print_changes(&c);
    print_energy(&c);
    print_time(&c);
}

void dfl_diff_text(dfl_strbuf *out, dfl_difference *d, bool details)
{
    for (size_t i = 0; i < d->pairs.n; i++) {
        dfl_strbuf_z(out, i > 0 ? "\n" : "");
        print_pair(out, &d->pairs.at[i], details);
    }
    if (d->pairs.n > 0 && d->differs)
        dfl_strbuf_z(out, "\nfigures are rounded so that columns and rows add up: last digits can be off by one\n");
    for (size_t i = 0; i < d->only_from.n; i++)
        dfl_strbuf_printf(out, "only in %s: %s\n", d->only_from.at[i]->file, d->only_from.at[i]->name);
    for (size_t i = 0; i < d->only_to.n; i++)
        dfl_strbuf_printf(out, "only in %s: %s\n", d->only_to.at[i]->file, d->only_to.at[i]->name);
    if (d->pairs.n == 0 && d->only_from.n > 0 && d->only_to.n > 0)
        dfl_strbuf_z(out, "no name occurs on both sides; FILE:NAME selects one mapping of a file\n");
}
