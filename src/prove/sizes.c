#include "prove/sizes.h"

#include <string.h>

#include "ir/shrink.h"

/* A tile size is an int64_t: further halvings change nothing. */
enum { MOST_HALVINGS = 62 };

/* Name of a size: "" names every rank, "m" every rank m, "conv1.m" the rank m of instance `conv1`. */
static bool names_rank(const dfl_intern *names, const dfl_rank *rank, const char *name)
{
    const char *text = dfl_sym_text(names, rank->name);
    size_t len = strlen(text), name_len = strlen(name);

    return name_len == 0 || strcmp(text, name) == 0 ||
           (len > name_len && text[len - name_len - 1] == '.' && strcmp(text + len - name_len, name) == 0);
}

static void set_class(dfl_proof_sizes *sizes, uint32_t class, int64_t extent, bool fix)
{
    const dfl_workload *w = sizes->mapping->workload;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        if (sizes->class_of[r] == class) {
            sizes->extents[r] = extent < w->ranks[r].extent ? extent : w->ranks[r].extent;
            sizes->fixed[r] |= fix;
        }
}

static int64_t largest_tile(const dfl_proof_sizes *sizes, uint32_t class)
{
    return dfl_mapping_largest_tile(sizes->mapping, sizes->class_of, class, sizes->halvings[class]);
}

static void halve_tiles(dfl_proof_sizes *sizes, uint32_t class)
{
    for (uint32_t r = 0; r < sizes->mapping->workload->n_ranks; r++)
        if (sizes->class_of[r] == class)
            sizes->halvings[r]++;
}

static void halve_class(dfl_proof_sizes *sizes, uint32_t class)
{
    int64_t extent = sizes->extents[class] / 2 + sizes->extents[class] % 2;

    if (extent <= largest_tile(sizes, class))
        halve_tiles(sizes, class);
    set_class(sizes, class, extent, false);
}

/* Halves the tiles of a class whose extent the user fixed, until the rank has more than one tile. */
static void fit_tiles(dfl_proof_sizes *sizes, uint32_t class)
{
    while (sizes->extents[class] > 1 && sizes->halvings[class] < MOST_HALVINGS &&
           largest_tile(sizes, class) >= sizes->extents[class] &&
           sizes->extents[class] < sizes->mapping->workload->ranks[class].extent)
        halve_tiles(sizes, class);
}

dfl_proof_sizes dfl_proof_sizes_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping,
                                     const dfl_size *sizes, size_t n_sizes, bool *used)
{
    const dfl_workload *w = mapping->workload;
    dfl_proof_sizes out = { .mapping = mapping, .names = names,
                            .extents = DFL_NEW_ARRAY(arena, int64_t, (size_t)w->n_ranks + 1),
                            .halvings = DFL_NEW_ARRAY(arena, unsigned, (size_t)w->n_ranks + 1),
                            .fixed = DFL_NEW_ARRAY(arena, bool, (size_t)w->n_ranks + 1),
                            .class_of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1) };

    dfl_rank_classes(w, out.class_of);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        out.extents[r] = w->ranks[r].extent;
    for (size_t i = 0; i < n_sizes; i++)
        for (uint32_t r = 0; r < w->n_ranks; r++)
            if (names_rank(names, &w->ranks[r], sizes[i].name)) {
                set_class(&out, out.class_of[r], sizes[i].extent, true);
                fit_tiles(&out, out.class_of[r]);
                used[i] = true;
            }
    return out;
}

int64_t dfl_proof_sizes_points(const dfl_proof_sizes *sizes)
{
    const dfl_workload *w = sizes->mapping->workload;
    int64_t sum = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        int64_t n = 1;

        for (uint32_t i = 0; i < w->einsums[e].n_ranks; i++)
            if (__builtin_mul_overflow(n, sizes->extents[w->einsums[e].ranks[i]], &n))
                return INT64_MAX;
        if (__builtin_add_overflow(sum, n, &sum))
            return INT64_MAX;
    }
    return sum;
}

/* Whether a rank indexes a dimension of a result that is read, together with other ranks: the parts of a grouped
   convolution. With fewer values of the rank, the parts would leave gaps that the readers read. */
static bool is_interleaved(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_access *out = &w->einsums[e].output;
        for (uint32_t d = 0; w->tensors[out->tensor].n_consumers > 0 && d < out->n_dims; d++)
            for (uint32_t t = 0; out->index[d].n_terms > 1 && t < out->index[d].n_terms; t++)
                if (out->index[d].terms[t].rank == rank)
                    return true;
    }
    return false;
}

bool dfl_proof_sizes_shrink(dfl_proof_sizes *sizes, int64_t most, dfl_budget *budget)
{
    const dfl_workload *w = sizes->mapping->workload;

    while (dfl_proof_sizes_points(sizes) > most) {
        uint32_t largest = DFL_NONE;

        if (!dfl_budget_ok(budget))
            return false;
        for (uint32_t r = 0; r < w->n_ranks; r++)
            if (!sizes->fixed[r] && sizes->extents[r] > 1 && !is_interleaved(w, r) &&
                (largest == DFL_NONE || sizes->extents[r] > sizes->extents[largest]))
                largest = r;
        if (largest == DFL_NONE)
            return false;
        halve_class(sizes, sizes->class_of[largest]);
    }
    return true;
}

/* If the largest tile of a rank does not divide the written extent, but divides the extent after halving, the extent is
   reduced by one. */
static void keep_ragged(dfl_proof_sizes *sizes)
{
    const dfl_workload *w = sizes->mapping->workload;

    for (uint32_t c = 0; c < w->n_ranks; c++) {
        int64_t before = dfl_mapping_largest_tile(sizes->mapping, sizes->class_of, c, 0);
        int64_t after = largest_tile(sizes, c);

        if (sizes->class_of[c] == c && !sizes->fixed[c] && sizes->extents[c] < w->ranks[c].extent &&
            w->ranks[c].extent % before && after > 1 && sizes->extents[c] > after && sizes->extents[c] % after == 0)
            set_class(sizes, c, sizes->extents[c] - 1, false);
    }
}

/* If the largest tile of a rank divides the written extent, but does not divide the extent after halving, the extent grows to
   the next multiple: a last tile that is smaller than the others would be a construct that the mapping does not have. */
static void keep_even(dfl_proof_sizes *sizes)
{
    const dfl_workload *w = sizes->mapping->workload;

    for (uint32_t c = 0; c < w->n_ranks; c++) {
        const int64_t before = dfl_mapping_largest_tile(sizes->mapping, sizes->class_of, c, 0);
        const int64_t after = largest_tile(sizes, c), rest = sizes->extents[c] % after;

        if (sizes->class_of[c] == c && !sizes->fixed[c] && w->ranks[c].extent % before == 0 && rest > 0 &&
            sizes->extents[c] > after)
            set_class(sizes, c, sizes->extents[c] + after - rest, false);
    }
}

/* Largest position in dimension `dim` of a tensor that its consumers read. */
static int64_t largest_read(const dfl_workload *w, uint32_t tensor, uint32_t dim, const int64_t *extents)
{
    const dfl_tensor *t = &w->tensors[tensor];
    int64_t most = 0;

    for (uint32_t c = 0; c < t->n_consumers; c++) {
        const dfl_einsum *consumer = &w->einsums[t->consumers[c]];

        for (uint32_t i = 0; i < consumer->n_inputs; i++)
            if (consumer->inputs[i].tensor == tensor) {
                int64_t reach = dfl_index_reach(w, &consumer->inputs[i].index[dim], extents);
                most = reach > most ? reach : most;
            }
    }
    return most;
}

/* Whether the consumers of a tensor read constant positions of a dimension only. */
static bool reads_constants(const dfl_workload *w, uint32_t tensor, uint32_t dim)
{
    const dfl_tensor *t = &w->tensors[tensor];

    for (uint32_t c = 0; c < t->n_consumers; c++)
        for (uint32_t i = 0; i < w->einsums[t->consumers[c]].n_inputs; i++) {
            const dfl_access *a = &w->einsums[t->consumers[c]].inputs[i];
            if (a->tensor == tensor && a->index[dim].n_terms > 0)
                return false;
        }
    return true;
}

/* Whether the values of a rank are the iterations of a repeat: reads of the last one move to the last one that is left. */
static bool is_repeat(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* The least extent of a bare rank of dimension `d` of a result: the rank shrinks by no more elements than the largest position
   that the consumers of the result read. A smaller rank would let consumers with a halo or a stride read beyond the result. */
static int64_t least_extent(const dfl_proof_sizes *sizes, const dfl_access *out, uint32_t d, uint32_t rank)
{
    const dfl_workload *w = sizes->mapping->workload;
    const dfl_tensor *t = &w->tensors[out->tensor];
    const int64_t before = largest_read(w, out->tensor, d, NULL), after = largest_read(w, out->tensor, d, sizes->extents);
    /* elements of a dimension that the einsum writes: a state has others, too, from before the step */
    const int64_t whole = t->role == DFL_ROLE_STATE ? w->ranks[rank].extent : t->extents[d];

    return reads_constants(w, out->tensor, d) ? after + 1 : whole - (before - after);
}

/* Lets the ranks of a result grow to what its consumers read. Returns whether one grew. */
static bool cover_result(dfl_proof_sizes *sizes, const dfl_access *out)
{
    const dfl_workload *w = sizes->mapping->workload;
    bool grew = false;
    uint32_t rank;

    for (uint32_t d = 0; w->tensors[out->tensor].n_consumers > 0 && d < out->n_dims; d++) {
        if (!dfl_index_is_bare(&out->index[d], &rank) || sizes->fixed[rank] || is_repeat(w, rank))
            continue;
        const int64_t least = least_extent(sizes, out, d, rank), most = w->ranks[rank].extent;

        if (sizes->extents[rank] >= least || sizes->extents[rank] >= most)
            continue;
        set_class(sizes, sizes->class_of[rank], least, false);
        grew = true;
    }
    return grew;
}

void dfl_proof_sizes_cover_reads(dfl_proof_sizes *sizes)
{
    const dfl_workload *w = sizes->mapping->workload;
    bool grew = true;

    while (grew) { /* with a rank grow others of its class, also those of consumers */
        grew = false;
        for (uint32_t e = w->n_einsums; e-- > 0;) /* consumers before producers */
            grew |= cover_result(sizes, &w->einsums[e].output);
    }
}

void dfl_proof_sizes_keep_character(dfl_proof_sizes *sizes)
{
    keep_ragged(sizes);
    keep_even(sizes);
    dfl_proof_sizes_cover_reads(sizes);
}
