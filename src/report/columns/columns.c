#include "report/columns/columns.h"

#include <math.h>
#include <string.h>

#include "report/check/path_tree.h"
#include "report/print/print.h"
#include "report/readable.h"
#include "report/table.h"
#include "support/number.h"

/* One figure of a mapping, and the name of its column. */
typedef struct {
    const char *name;
    const dfl_figure *figure; /* NULL = the mapping has the figure, but no value */
    dfl_figure_place at;
} cell;

typedef DFL_VEC(cell) cells;

typedef struct {
    dfl_arena *arena;
    const dfl_results *results;
    cells *rows;                 /* [mapping]: its cells */
    DFL_VEC(const char *) names; /* names of the columns */
    /* The search for one name: */
    const char *asked;           /* the whole name */
    cells *found;                /* cells of the mapping at hand */
    bool is_known;               /* some mapping has the figure */
    bool is_part;                /* in some mapping the name is that of a part */
    dfl_node part;               /* that part */
    dfl_figure_place miss;       /* the first place that does not have `missing` */
    const char *missing;         /* NULL = none so far */
} chooser;

/* ---- the figures that a name stands for ---- */

static void add_cell(chooser *c, const char *name, const dfl_figure *figure, const dfl_figure_place *at)
{
    cell one = { .name = name, .figure = figure, .at = *at };

    one.at.arena = c->arena;
    c->is_known = true;
    DFL_PUSH(c->arena, c->found, one);
}

/* Adds the figure `key` of all parts below a place, with names that start with `before`. Parts without a value are left out. */
static void add_below(chooser *c, const dfl_figure_place *at, const char *key, const char *before)
{
    uint32_t n;
    const dfl_figure *figures = dfl_figures(at->scope, &n);

    for (uint32_t i = 0; i < n; i++) {
        dfl_figure_item item;

        if (!(figures[i].views & DFL_VIEW_OPEN))
            continue;
        for (uint32_t k = 0; dfl_figure_item_at(&figures[i], at, k, &item); k++) {
            const dfl_figure *figure = dfl_figure_find(item.place.scope, key);
            const char *name = dfl_arena_printf(c->arena, "%s%s.", before, dfl_sym_text(c->results->names, item.name));

            if (item.is_unused)
                continue;
            if (figure && (figure->views & DFL_VIEW_PATH) && !dfl_figure_is_part(figure)) {
                c->is_known = true;
                if (dfl_figure_get(figure, &item.place).state != DFL_VALUE_NONE)
                    add_cell(c, dfl_arena_printf(c->arena, "%s%s", name, key), figure, &item.place);
            }
            add_below(c, &item.place, key, name);
        }
    }
}

/* The child whose name starts the path: the longest name, else the longest ending of a dotted name. `*rest` is the path below the
   child. NULL = no child, or several have the ending. */
static const dfl_node_entry *find_child(const dfl_node_list *list, const char *path, const char **rest)
{
    for (size_t len = strlen(path); len > 0; len--) {
        const dfl_node_entry *ending = NULL;
        size_t n = 0;

        if (path[len] != '\0' && path[len] != '.')
            continue;
        *rest = path[len] == '.' ? path + len + 1 : "";
        for (size_t i = 0; i < list->entries.n; i++) {
            const char *name = list->entries.at[i].name;
            const size_t all = strlen(name);

            if (all == len && strncmp(name, path, len) == 0)
                return &list->entries.at[i];
            if (all > len && name[all - len - 1] == '.' && strncmp(name + all - len, path, len) == 0 && n++ == 0)
                ending = &list->entries.at[i];
        }
        if (n == 1)
            return ending;
    }
    return NULL;
}

/* A figure of a mapping that is no path, but a column of the CSV report: its name, workload and system. */
static const dfl_figure *find_csv_column(const dfl_figure_place *at, const char *name)
{
    const dfl_figure *figure = at->scope == DFL_SCOPE_MAPPING ? dfl_figure_find(DFL_SCOPE_MAPPING, name) : NULL;

    return figure && figure->column && figure->kind == DFL_FIGURE_TEXT ? figure : NULL;
}

/* Finds the figures below `node` that `path` stands for. */
static void find_figures(chooser *c, const dfl_node *from, const char *path)
{
    dfl_node_list list = { .results = c->results, .arena = c->arena };
    dfl_node node = *from;
    const char *before = "", *rest;

    while (*path != '\0') {
        const dfl_node_entry *child;
        const dfl_figure *figure;

        dfl_node_children(&list, &node);
        child = find_child(&list, path, &rest);
        if (child) {
            node = child->node;
            before = dfl_arena_printf(c->arena, "%.*s", (int)(rest - c->asked), c->asked);
            path = rest;
            continue;
        }
        figure = node.kind == DFL_NODE_PLACE ? dfl_figure_find(node.place.scope, path) : NULL;
        if (node.kind == DFL_NODE_PLACE && find_csv_column(&node.place, path)) {
            add_cell(c, c->asked, find_csv_column(&node.place, path), &node.place);
        } else if (figure && (figure->views & DFL_VIEW_PATH)) {
            add_cell(c, c->asked, NULL, &node.place);
        } else {
            if (node.kind == DFL_NODE_PLACE && !strchr(path, '.'))
                add_below(c, &node.place, path, before);
            if (!c->missing) {
                c->miss = node.place;
                c->missing = path;
            }
        }
        return;
    }
    if (node.kind == DFL_NODE_FIGURE)
        add_cell(c, c->asked, node.figure, &node.place);
    else if (node.kind == DFL_NODE_PLACE && dfl_figure_obvious(node.place.scope))
        add_cell(c, c->asked, dfl_figure_obvious(node.place.scope), &node.place);
    else {
        c->is_part = true;
        c->part = node;
    }
}

/* ---- unknown names ---- */

static void add_names(dfl_intern *names, dfl_figure_scope scope, dfl_sym *all, size_t *n)
{
    uint32_t n_figures;
    const dfl_figure *figures = dfl_figures(scope, &n_figures);

    for (uint32_t i = 0; i < n_figures; i++)
        if (figures[i].views & DFL_VIEW_PATH)
            all[(*n)++] = dfl_intern_z(names, figures[i].key);
}

enum { MOST_LISTED = 24 }; /* names of figures and parts that a help lists: two or three lines of text */

/* "name one of its figures: `sram.peak`, ..." */
static const char *list_part(chooser *c)
{
    dfl_node_list list = { .results = c->results, .arena = c->arena };
    dfl_strbuf out;

    dfl_node_children(&list, &c->part);
    if (list.entries.n == 0 || list.entries.n > MOST_LISTED)
        return NULL;
    dfl_strbuf_init(&out, c->arena);
    for (size_t i = 0; i < list.entries.n; i++)
        dfl_strbuf_printf(&out, "%s`%s`", i == 0 ? "it has " : ", ", list.entries.at[i].name);
    return out.text;
}

/* Whether a memory of some mapping has a tensor called `word`; `*memory`: its name. */
static bool is_tensor(chooser *c, const char *word, const char **memory)
{
    dfl_node_list memories = { .results = c->results, .arena = c->arena }, tensors = memories;

    for (uint32_t i = 0; i < c->results->n_items; i++) {
        const dfl_result_item *item = &c->results->items[i];
        const dfl_node node = { .kind = DFL_NODE_PLACE, .place = dfl_figure_place_of(c->results, item, c->arena) };

        if (!item->result)
            continue;
        dfl_node_children(&memories, &node);
        for (size_t k = 0; k < memories.entries.n; k++) {
            const dfl_node_entry *entry = &memories.entries.at[k];
            const char *rest;

            if (entry->node.kind != DFL_NODE_PLACE || entry->node.place.scope != DFL_SCOPE_MEMORY)
                continue;
            dfl_node_children(&tensors, &entry->node);
            if (find_child(&tensors, word, &rest)) {
                *memory = entry->name;
                return true;
            }
        }
    }
    return false;
}

static bool is_mapping(const chooser *c, const char *word)
{
    for (uint32_t i = 0; i < c->results->n_items; i++)
        if (strcmp(dfl_sym_text(c->results->names, c->results->items[i].mapping->name), word) == 0)
            return true;
    return false;
}

/* What to write in place of a name that is no figure; NULL = nothing is known. `word`: its first unknown part. */
static const char *help_unknown(chooser *c, const char *word)
{
    const char *memory, *below = strchr(c->asked, '.'), *open = strchr(c->asked, '(');

    if (*c->asked == '\0')
        return "names are separated by `,`: `--columns latency,energy`";
    if (open && open > c->asked && c->asked[strlen(c->asked) - 1] == ')')
        return strncmp(c->asked, "peak(", 5) == 0
                   ? dfl_arena_printf(c->arena, "a part stands before its figure: `%.*s.peak`", (int)(strlen(open) - 2), open + 1)
                   : "calls stand in checks";
    if (strpbrk(c->asked, "+*/-<>="))
        return "a column is one figure; expressions stand in checks";
    if (below && word != c->asked && strncmp(word, c->asked, (size_t)(below - c->asked)) == 0 && is_mapping(c, word))
        return dfl_arena_printf(c->arena, "a name is a path below a mapping: `%s`; `--only %s` chooses the mapping", below + 1,
                                word);
    if (below && is_tensor(c, word, &memory))
        return dfl_arena_printf(c->arena, "a memory stands before its tensor: `%s.%s`; `%s` alone stands for all", memory,
                                c->asked, below + 1);
    return NULL;
}

/* Describes a name that is no figure. `at`: place of the name in the list of columns. */
static dfl_unknown_column describe_unknown(chooser *c, size_t at)
{
    static const dfl_figure_scope parts[] = { DFL_SCOPE_MEMORY, DFL_SCOPE_TRAFFIC, DFL_SCOPE_EINSUM, DFL_SCOPE_NETWORK };
    dfl_intern *names = dfl_intern_new(c->arena);
    dfl_node_list list = { .results = c->results, .arena = c->arena };
    const char *missing = c->missing ? c->missing : c->asked;
    const char *word = dfl_arena_copy(c->arena, missing, strcspn(missing, "."));
    dfl_sym *all, near;
    size_t n = 0;

    if (c->is_part)
        return (dfl_unknown_column){ .at = at, .len = strlen(c->asked), .is_part = true,
                                     .help = list_part(c),
                                     .message = dfl_arena_printf(c->arena, "`%s` is a part, not a figure: name one of its "
                                                                 "figures", c->asked) };
    if (*c->asked == '\0')
        return (dfl_unknown_column){ .at = at, .message = "the name of a column is missing", .help = help_unknown(c, "") };
    if (c->missing) {
        const dfl_node node = { .kind = DFL_NODE_PLACE, .place = c->miss };

        dfl_node_children(&list, &node);
    }
    all = DFL_NEW_ARRAY(c->arena, dfl_sym, list.entries.n + dfl_figures_count() + 1);
    for (size_t i = 0; i < list.entries.n; i++)
        all[n++] = dfl_intern_z(names, list.entries.at[i].name);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        add_names(names, parts[i], all, &n);
    near = dfl_suggest(names, word, all, n);
    return (dfl_unknown_column){ .at = at + (size_t)(missing - c->asked), .len = strlen(word),
                                 .near = near ? dfl_sym_text(names, near) : NULL, .help = help_unknown(c, word),
                                 .message = strcmp(word, c->asked) == 0
                                                ? dfl_arena_printf(c->arena, "no figure is called `%s`", word)
                                                : dfl_arena_printf(c->arena, "`%s` is no figure: there is no `%s`", c->asked,
                                                                   word) };
}

/* ---- the table ---- */

static bool has_name(const chooser *c, size_t from, const char *name)
{
    for (size_t i = from; i < c->names.n; i++)
        if (strcmp(c->names.at[i], name) == 0)
            return true;
    return false;
}

/* Finds the cells of one name in all mappings. False if mappings have costs, and none has the figure. */
static bool choose(chooser *c, const char *asked)
{
    const size_t first = c->names.n;
    bool any = false;

    c->asked = asked;
    c->is_known = c->is_part = false;
    c->missing = NULL;
    for (uint32_t i = 0; i < c->results->n_items; i++) {
        const dfl_result_item *item = &c->results->items[i];
        const dfl_node node = { .kind = DFL_NODE_PLACE, .place = dfl_figure_place_of(c->results, item, c->arena) };
        const size_t before = c->rows[i].n;

        if (!item->result)
            continue;
        any = true;
        if (*asked == '\0')
            return false;
        c->found = &c->rows[i];
        find_figures(c, &node, asked);
        for (size_t k = before; k < c->rows[i].n; k++)
            if (!has_name(c, first, c->rows[i].at[k].name))
                DFL_PUSH(c->arena, &c->names, c->rows[i].at[k].name);
    }
    return c->is_known || !any;
}

/* The value of a cell as text; NULL = no value. */
static const char *text_of(const chooser *c, const dfl_figure *figure, const dfl_figure_place *at)
{
    const dfl_figure_value value = dfl_figure_get(figure, at);
    const dfl_dim dim = dfl_measure_dim(figure->measure);
    char text[DFL_UNIT_TEXT];

    if (value.state == DFL_VALUE_OVERFLOW)
        return "> 2^127";
    if (value.state != DFL_VALUE_GIVEN)
        return NULL;
    if (figure->kind == DFL_FIGURE_TEXT)
        return value.text;
    if (figure->kind == DFL_FIGURE_COUNT && dfl_dim_is_none(dim))
        dfl_human_count(value.count, text);
    else if (figure->kind == DFL_FIGURE_COUNT)
        dfl_human_bits(value.count, text);
    else if (dfl_dim_is_none(dim) && fabs(value.real) >= 1e5)
        dfl_human(value.real, "", text);
    else if (dfl_dim_is_none(dim))
        dfl_double_text_short(value.real, 4, text);
    else
        dfl_human_quantity(value.real, dim, text);
    return dfl_arena_copy(c->arena, text, strlen(text));
}

/* The value of a cell with all digits, in SI units; NULL = no value. */
static const char *digits_of(const chooser *c, const dfl_figure *figure, const dfl_figure_place *at)
{
    const dfl_figure_value value = dfl_figure_get(figure, at);
    char digits[48];

    if (value.state != DFL_VALUE_GIVEN)
        return NULL;
    if (figure->kind == DFL_FIGURE_TEXT)
        return value.text;
    if (figure->kind == DFL_FIGURE_COUNT)
        dfl_i128_text(value.count, digits);
    else
        dfl_double_text(value.real, digits);
    return dfl_arena_copy(c->arena, digits, strlen(digits));
}

static const char *cell_text(const chooser *c, const dfl_figure *figure, const dfl_figure_place *at, bool csv)
{
    if (!figure)
        return NULL;
    return csv ? digits_of(c, figure, at) : text_of(c, figure, at);
}

/* The cell of a mapping in a column; NULL = none. */
static const cell *cell_at(const chooser *c, uint32_t item, const char *name)
{
    for (size_t i = 0; i < c->rows[item].n; i++)
        if (strcmp(c->rows[item].at[i].name, name) == 0)
            return &c->rows[item].at[i];
    return NULL;
}

/* The figure of the sum that corresponds to a figure of a mapping; sets the scope of `at`. NULL = it is not summed. */
static const dfl_figure *figure_of_sum(const dfl_figure *figure, dfl_figure_place *at)
{
    const dfl_figure_scope scope = figure->scope;

    if (scope == DFL_SCOPE_LATENCY || (scope == DFL_SCOPE_MAPPING && strcmp(figure->key, "cycles") == 0))
        at->scope = DFL_SCOPE_SUM_LATENCY;
    else if (scope == DFL_SCOPE_ENERGY)
        at->scope = DFL_SCOPE_SUM_ENERGY;
    else if (scope == DFL_SCOPE_OPERATIONS || scope == DFL_SCOPE_MAPPING)
        at->scope = DFL_SCOPE_OPERATIONS;
    else
        return NULL;
    return dfl_figure_find(at->scope, figure->key);
}

/* The text of the sum in a column; NULL = the column is not summed. */
static const char *sum_text(const chooser *c, const char *name, bool csv)
{
    dfl_figure_place sum;

    if (!dfl_figure_place_of_sum(c->results, c->arena, &sum))
        return NULL;
    for (uint32_t i = 0; i < c->results->n_items; i++) {
        const cell *own = cell_at(c, i, name);
        const dfl_figure *figure = own && own->figure ? figure_of_sum(own->figure, &sum) : NULL;

        if (figure)
            return cell_text(c, figure, &sum, csv);
    }
    return NULL;
}

/* Fills `row` with the name of a mapping, or of the sum, and its cells. */
static void fill_row(const chooser *c, uint32_t item, bool csv, const char **row)
{
    const bool is_sum = item == c->results->n_items;

    row[0] = is_sum ? "sum" : dfl_report_name(c->arena, c->results, &c->results->items[item]);
    for (size_t k = 0; k < c->names.n; k++) {
        const cell *own = is_sum ? NULL : cell_at(c, item, c->names.at[k]);

        if (is_sum)
            row[k + 1] = sum_text(c, c->names.at[k], csv);
        else
            row[k + 1] = own ? cell_text(c, own->figure, &own->at, csv) : NULL;
    }
}

static void print_csv_row(dfl_strbuf *out, const char *const *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            dfl_strbuf_char(out, ',');
        dfl_csv_cell(out, row[i]);
    }
    dfl_strbuf_z(out, "\r\n");
}

static void print_rows(const chooser *c, dfl_strbuf *out, bool csv)
{
    const size_t n = c->names.n + 1;
    const uint32_t n_rows = c->results->n_items + (c->results->has_sum && c->results->n_items > 0);
    const char **row = DFL_NEW_ARRAY(c->arena, const char *, n);
    dfl_table table;

    dfl_table_init(&table, c->arena, (uint32_t)n, 1, (uint32_t)n);
    row[0] = "mapping";
    for (size_t k = 1; k < n; k++)
        row[k] = c->names.at[k - 1];
    for (uint32_t i = 0;; i++) {
        if (csv)
            print_csv_row(out, row, n);
        else
            dfl_table_row_start(&table);
        for (size_t k = 0; k < n && !csv; k++)
            dfl_table_cell(&table, row[k] ? row[k] : "-");
        if (i == n_rows)
            break;
        fill_row(c, i, csv, row);
    }
    if (!csv)
        dfl_table_print(&table, out, 0);
}

bool dfl_report_columns(dfl_strbuf *out, const dfl_results *results, const char *columns, bool csv, dfl_unknown_column *unknown)
{
    chooser c = { .arena = out->arena, .results = results, .rows = DFL_NEW_ARRAY(out->arena, cells, results->n_items + 1) };

    for (const char *at = columns;;) {
        const size_t blanks = strspn(at, " "), len = strcspn(at, ",");
        const char *name = dfl_arena_copy(c.arena, at + blanks, len - blanks);

        if (!choose(&c, name)) {
            *unknown = describe_unknown(&c, (size_t)(at - columns) + blanks);
            return false;
        }
        if (at[len] == '\0')
            break;
        at += len + 1;
    }
    print_rows(&c, out, csv);
    return true;
}
