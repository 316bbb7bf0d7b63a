#include "report/check/path_tree.h"

static void add_entry(dfl_node_list *list, const char *name, dfl_node node)
{
    const dfl_node_entry entry = { name, node };

    DFL_PUSH(list->arena, &list->entries, entry);
}

static const char *text_of(const dfl_node_list *list, dfl_sym sym)
{
    return dfl_sym_text(list->results->names, sym);
}

static dfl_node place_node(dfl_figure_place place)
{
    return (dfl_node){ .kind = DFL_NODE_PLACE, .place = place };
}

/* ---- below an object ---- */

static void add_items(dfl_node_list *list, const dfl_figure *figure, const dfl_figure_place *at)
{
    dfl_figure_item item;

    for (uint32_t k = 0; dfl_figure_item_at(figure, at, k, &item); k++)
        add_entry(list, text_of(list, item.name), place_node(item.place));
}

/* Adds a figure, unless the figure has no value at the place. Does not compute the value if the figure always has one. */
static void add_figure(dfl_node_list *list, const dfl_figure *figure, const dfl_figure_place *at)
{
    bool is_list = figure->kind == DFL_FIGURE_ARRAY || figure->kind == DFL_FIGURE_MAP;
    bool may_lack = figure->presence == DFL_PRESENCE_OR_NULL || figure->presence == DFL_PRESENCE_OR_ABSENT;

    if (figure->kind == DFL_FIGURE_OBJECT)
        add_entry(list, figure->key, place_node(dfl_figure_below(figure, at)));
    else if (is_list)
        add_entry(list, figure->key, (dfl_node){ .kind = DFL_NODE_LIST, .place = *at, .figure = figure });
    else if (!may_lack || dfl_figure_get(figure, at).state != DFL_VALUE_NONE)
        add_entry(list, figure->key, (dfl_node){ .kind = DFL_NODE_FIGURE, .place = *at, .figure = figure });
}

/* Lists the children of an object: first its rows in the table of figures, then the items of lists whose key a path may
   omit, in the order of the scopes of the items. */
static void list_place(dfl_node_list *list, const dfl_figure_place *at)
{
    uint32_t n;
    const dfl_figure *figures = dfl_figures(at->scope, &n);
    unsigned views = 0;

    for (uint32_t i = 0; i < n; i++) {
        views |= figures[i].views;
        if (figures[i].views & DFL_VIEW_PATH)
            add_figure(list, &figures[i], at);
    }
    for (dfl_figure_scope scope = 0; (views & DFL_VIEW_OPEN) && scope < DFL_N_SCOPES; scope++)
        for (uint32_t i = 0; i < n; i++)
            if ((figures[i].views & DFL_VIEW_OPEN) && figures[i].below == scope)
                add_items(list, &figures[i], at);
}

/* ---- the file ---- */

static dfl_node mapping_node(const dfl_results *results, const dfl_result_item *item)
{
    dfl_node node = place_node(dfl_figure_place_of(results, item, NULL));

    if (!item->result)
        node.kind = DFL_NODE_LATER;
    return node;
}

/* Among the names that a path may start with, in order of preference: the name with index `k`, and its node. 0 = `k` is too
   large. */
static dfl_sym root_at(const dfl_results *results, uint32_t k, dfl_node *node)
{
    const dfl_program *p = results->program;

    if (k < results->n_items) {
        *node = mapping_node(results, &results->items[k]);
        return results->items[k].mapping->name;
    }
    k -= results->n_items;
    if (!p)
        return 0;
    if (k < p->n_workloads) {
        const dfl_workload *workload = p->workloads[k].workload;

        *node = place_node((dfl_figure_place){ .scope = DFL_SCOPE_WORKLOAD, .results = results, .workload = workload });
        return workload->name;
    }
    k -= p->n_workloads;
    if (k < p->n_systems) {
        *node = place_node((dfl_figure_place){ .scope = DFL_SCOPE_SYSTEM, .results = results, .system = p->systems[k] });
        return p->systems[k]->name;
    }
    k -= p->n_systems;
    *node = (dfl_node){ .kind = DFL_NODE_LATER }; /* a mapping that was not evaluated */
    return k < p->n_designs ? p->designs[k].mapping->name : 0;
}

static void list_root(dfl_node_list *list)
{
    dfl_node node;
    dfl_sym name;

    for (uint32_t k = 0; (name = root_at(list->results, k, &node)) != 0; k++)
        add_entry(list, text_of(list, name), node);
}

bool dfl_node_root(const dfl_results *results, dfl_sym name, dfl_node *node)
{
    dfl_node candidate;
    dfl_sym found;

    for (uint32_t k = 0; (found = root_at(results, k, &candidate)) != 0; k++)
        if (found == name) {
            *node = candidate;
            return true;
        }
    return false;
}

void dfl_node_children(dfl_node_list *list, const dfl_node *node)
{
    list->entries.n = 0;
    switch (node->kind) {
    case DFL_NODE_ROOT: list_root(list); break;
    case DFL_NODE_PLACE: list_place(list, &node->place); break;
    case DFL_NODE_LIST: add_items(list, node->figure, &node->place); break;
    case DFL_NODE_FIGURE:
    case DFL_NODE_LATER: break;
    }
}

bool dfl_node_is_place(const dfl_node *node, dfl_figure_scope scope)
{
    return node->kind == DFL_NODE_PLACE && node->place.scope == scope;
}
