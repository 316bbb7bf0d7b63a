/* What a search for lines looks at, in words. */
#include "mapper/words.h"

#include "ir/mapping_open.h"
#include "mapper/options.h"
#include "mapper/orders.h"
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

/* What only several einsums have. */
static void add_fusion(speaker *k)
{
    if (!(k->beyond & DFL_SEARCH_ORDER))
        add(k, "einsums in the order of the file", DFL_SEARCH_ORDER, "`--beyond order`: other orders, too");
    add(k, "at most 4 shared loops, one per rank", DFL_SEARCH_SPLIT, "`--beyond split`: two");
    add(k, "shared loops over ranks of the tensors produced and exchanged below them", DFL_SEARCH_WINDOW,
        "`--beyond window`: also where windows slide");
    add(k, "shared loops around einsums that exchange a tensor below them, or stand between two of these", 0, NULL);
    add(k, "if the objective contains time, no shared loop for an input alone, and no additional keeps above loops of others",
        0, NULL);
    add(k, "keeps in the braces of their einsum, unless they stand above a shared loop", 0, NULL);
    add(k, "a tensor with several readers is fetched by each, unless a keep holds an input for all readers below with "
        "equal accesses", 0, NULL);
    add(k, "operands exchanged outside of arrays, as a whole if the outermost memory can hold all tensors", DFL_SEARCH_SPILL,
        "`--beyond spill`: on the chip for some readers");
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
        { DFL_SEARCH_WINDOW, "shared loops along which windows slide" },
        { DFL_SEARCH_SPILL, "intermediates on the chip for some readers and at home for others" },
        { DFL_SEARCH_SPLIT, "two shared loops over one rank" },
        { DFL_SEARCH_PIPELINE, "pipelines" },
    };
    const char *text = kinds & DFL_SEARCH_ORDER
                           ? dfl_arena_printf(arena, "einsums in up to %d orders", DFL_ORDERS_MOST) : "";
    const char *between = "as good as was found ";

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
        add(&k, "the written lines unchanged", 0, NULL);
    if (what->ragged)
        add(&k, "tiles that divide, and others near the best mappings", 0, NULL);
    else
        add(&k, "tiles that divide", 0, "`--tiles imperfect`: others, too");
    if (nothing && !m->options.overlap_perfect)
        add(&k, what->certified ? "keeps that save transfers" :
            "keeps that save transfers; if transfers stall, also keeps filled ahead, and keeps near good mappings",
            0, NULL);
    if (nothing && has_inner_homes(m))
        add(&k, "homes of inputs and outputs in the outermost memory that may hold them", 0, "`keep T in M; ...;`: in another");
    if (!tree && m->workload->n_einsums > 1)
        add_fusion(&k);
    if (!tree && m->system->n_axes > 0 && m->workload->n_einsums > 1)
        add(&k, "no keep inside of an array above an exchanged tensor, unless it stays during loops that do not index it",
            0, NULL);
    if (!tree && m->system->n_axes > 0 && dfl_workload_slides(m->workload))
        add(&k, "as windows slide, no keep inside of an array above a keep outside of it, unless it stays during loops that "
            "do not index it", 0, NULL);
    if (m->system->n_axes > 0 && !what->spread)
        add(&k, what->certified ? "on axes that share transfers, only ranks that share one" :
            "on axes that share transfers, ranks that share one, and others only if more instances of all axes then work, and "
            "more than the sharing ranks could fill after the outer axes", 0, "`--spread any`: all ranks");
    if (k.beyond)
        add(&k, extension_text(arena, k.beyond), 0, NULL);
    return k.out.text;
}
