/* What a search for lines looks at, in words. */
#include "mapper/problem/space_text.h"

#include "ir/mapping_open.h"
#include "mapper/problem/einsum_orders.h"
#include "mapper/problem/options.h"
#include "support/strbuf.h"

typedef struct {
    dfl_strbuf out;
    uint32_t beyond;
} speaker;

/* A clause, and with what it is wider, unless that is on. */
static void add(speaker *k, const char *clause, uint32_t kind, const char *wider)
{
    if (k->out.len > 0)
        dfl_strbuf_z(&k->out, "; ");
    dfl_strbuf_z(&k->out, clause);
    if (wider && !(k->beyond & kind))
        dfl_strbuf_printf(&k->out, " (%s)", wider);
}

/* Whether something that is read or written at home might be elsewhere than in the outermost memory that may hold it. */
static bool has_inner_homes(const dfl_mapping *m)
{
    for (uint32_t t = 0; t < m->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &m->workload->tensors[t];
        uint32_t held = 0;
        for (uint32_t i = 0; i < m->system->n_memories; i++)
            held += !m->system->memories[i].holds.on || dfl_selects(&m->system->memories[i].holds, tensor);
        if (held > 1 && tensor->role != DFL_ROLE_INTERMEDIATE && dfl_body_home(m->root, t) == DFL_NONE)
            return true;
    }
    return false;
}

/* Whether the home of a tensor that einsums exchange is written. */
static bool has_written_exchange(const dfl_mapping *m)
{
    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        if (m->workload->tensors[t].n_producers > 0 && m->workload->tensors[t].n_consumers > 0 &&
            dfl_body_home(m->root, t) != DFL_NONE)
            return true;
    return false;
}

/* What only several einsums have. */
static void add_fusion(speaker *k)
{
    if (!(k->beyond & DFL_SEARCH_ORDER))
        add(k, "einsums in the order of the file", DFL_SEARCH_ORDER, "`--beyond order`: other orders, too");
    add(k, "at most 4 loops that einsums share, no two of which cut the same rank of an einsum", DFL_SEARCH_SPLIT,
        "`--beyond split`: two");
    add(k, "shared loops only over ranks of tensors that are produced and exchanged below the loop", DFL_SEARCH_WINDOW,
        "`--beyond window`: also along overlapping windows");
    add(k, "shared loops only around einsums that exchange a tensor below the loop, and around einsums between two of these", 0,
        NULL);
    add(k, "if the objective contains time, no loop that is shared only to reuse an input, and no additional keep of an einsum "
        "above shared loops in which it exchanges nothing",
        0, NULL);
    add(k, "each reader of a tensor fetches it by itself, but one keep may hold an input for all readers below it if they "
        "access it equally", 0, NULL);
    add(k, "whole tensors exchanged in the outermost memory if it can hold all of them; each tensor exchanged in one memory for "
        "all readers, outside of arrays", DFL_SEARCH_SPILL, "`--beyond spill`: on the chip for some readers");
    add(k, "no tensor is read before it is complete (`online`)", 0, NULL);
    if (!(k->beyond & DFL_SEARCH_RECOMPUTE))
        add(k, "no recomputation", DFL_SEARCH_RECOMPUTE, "`--beyond recompute`");
    if (!(k->beyond & DFL_SEARCH_PIPELINE))
        add(k, "one einsum at a time", DFL_SEARCH_PIPELINE, "`--beyond pipeline`: several");
}

/* The clauses for what was searched besides the space. */
static const char *extension_text(dfl_arena *arena, uint32_t kinds)
{
    static const struct { uint32_t kind; const char *text; } words[] = {
        { DFL_SEARCH_RECOMPUTE, "recomputed intermediates" },
        { DFL_SEARCH_WINDOW, "shared loops along overlapping windows" },
        { DFL_SEARCH_SPILL, "intermediates on the chip for some readers and at home for others" },
        { DFL_SEARCH_SPLIT, "two shared loops over one rank" },
        { DFL_SEARCH_PIPELINE, "pipelines" },
        { DFL_SEARCH_KEEP, "keeps of single einsums above branches" },
    };
    const char *text = kinds & DFL_SEARCH_ORDER
                           ? dfl_arena_printf(arena, "einsums in up to %d orders", DFL_ORDERS_MOST) : "";
    const char *between = "also tried, without proof: ";

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(kinds & words[i].kind))
            continue;
        text = dfl_arena_printf(arena, "%s%s%s%s", text, *text && *between == 'a' ? "; " : "", between, words[i].text);
        between = ", ";
    }
    return text;
}

const char *dfl_mapper_words(dfl_arena *arena, const dfl_mapping *m, const dfl_words *what)
{
    const bool tree = dfl_mapping_has_open_branches(m), nothing = dfl_mapping_all_lines_open(m);
    speaker k = { .beyond = nothing ? what->beyond : 0 };

    dfl_strbuf_init(&k.out, arena);
    if (!nothing)
        add(&k, "written lines stay as they are", 0, NULL);
    if (what->any_tiles)
        add(&k, "all tile sizes, whether they divide or not", 0, NULL);
    else if (what->ragged)
        add(&k, "tile sizes that divide, and other sizes in variants of the best mappings", 0, NULL);
    else
        add(&k, "tile sizes that divide", 0, "`--tiles imperfect`: other sizes, too");
    if (!tree && has_written_exchange(m))
        add(&k, "einsums exchange a tensor with a written home there", DFL_SEARCH_SPILL,
            "`--beyond spill`: also in another memory");
    if (!tree && m->workload->n_einsums > 1)
        add(&k, "keeps of an einsum inside its braces, or above a loop that it shares: none above a branch that shares no loop",
            DFL_SEARCH_KEEP, "`--beyond keep`: there, too");
    if (nothing && !m->options.overlap_perfect)
        add(&k, what->certified || what->any_tiles ? "only keeps that save transfers" :
            "only keeps that save transfers; if units wait for transfers, also keeps that fetch data early, and variants of good "
            "mappings with other keeps",
            0, NULL);
    if (nothing && has_inner_homes(m))
        add(&k, "homes of inputs and outputs in the outermost memory that may hold them", 0,
            "`keep T in M; ...;` chooses another");
    if (!tree && m->workload->n_einsums > 1)
        add_fusion(&k);
    if (!tree && m->system->n_axes > 0 && m->workload->n_einsums > 1)
        add(&k, "keeps inside of an array: none above a shared loop, and above a keep of an exchanged tensor only if the loops "
            "between them do not index that tensor",
            0, NULL);
    if (!tree && m->system->n_axes > 0 && dfl_workload_slides(m->workload))
        add(&k, "as windows overlap, a keep inside of an array above a keep outside of it only if the loops between them do not "
            "index its tensor", 0, NULL);
    if (nothing && m->system->n_axes > 0 && !what->spread)
        add(&k, what->certified ? "on an axis whose network shares transfers, only ranks that share a transfer there" :
            "on an axis whose network shares transfers, ranks that share a transfer there, and other ranks only if more "
            "instances then work than with sharing ranks alone, in the whole array and after the outer axes are filled", 0,
            "`--spread any`: all ranks");
    if (k.beyond)
        add(&k, extension_text(arena, k.beyond), 0, NULL);
    return k.out.text;
}
