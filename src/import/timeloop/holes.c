/*
 * Writes a mapping with holes from the constraints of a mapspace.
 *
 * Each level has its keeps, then its temporal loops, then its spatial loops. A loop that a constraint orders is a line: its
 * tile is known where all loops inside of it have known factors, else it is `?`. Loops in an order that is open are `...;`,
 * which may also add keeps. Where no such hole is next to a level, the tensors that it may hold are `keep ?`.
 */
#include "import/timeloop/holes.h"

#include <string.h>

#include "import/dfl_writer.h"

/* Tile of a written loop. */
typedef struct {
    int64_t tile;  /* 0 = unknown */
    int64_t parts; /* number of tiles; 0 = unknown */
} loop_size;

typedef struct {
    uint32_t dim;
    bool on_y;
    loop_size size;
} written_loop;

typedef struct {
    written_loop *loops[2];  /* temporal and spatial, outermost first */
    uint32_t n[2];
    bool hole[2];            /* the search adds lines above the loops */
} written_level;

void dfl_tl_print_set(dfl_tl_printer *p, uint64_t set)
{
    const char *comma = "";

    for (uint32_t t = 0; t < p->f->n_tensors; t++) {
        if ((set >> t & 1) == 0)
            continue;
        dfl_strbuf_printf(&p->out, "%s%s", comma, p->tensors[t]);
        comma = ", ";
    }
}

/* The axis of the spatial loop at place `i` of the order of a level, innermost first. */
static bool on_y(const dfl_tl_printer *p, uint32_t k, uint32_t dim)
{
    const dfl_tl_limits *limits = &p->f->levels[k].limits[1];
    uint32_t place = 0;

    if (p->axes[k][0] == NULL || p->axes[k][1] == NULL)
        return p->axes[k][0] == NULL;
    while (place < limits->n_order && limits->order[place] != dim)
        place++;
    return limits->has_split && place >= limits->split;
}

/* Finds the lines of a level, and updates the known tiles of the dimensions, 0 = unknown. */
static void find_lines(const dfl_tl_printer *p, uint32_t k, bool spatial, int64_t *tiles, written_level *out)
{
    const dfl_tl_file *f = p->f;
    const dfl_tl_limits *limits = &f->levels[k].limits[spatial];
    uint32_t *dims = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1);
    written_loop *loops = DFL_NEW_ARRAY(f->report->arena, written_loop, f->n_dims + 1);
    uint32_t n = dfl_tl_written(f, k, spatial, dims, &out->hole[spatial]), kept = 0;

    for (uint32_t i = n; i-- > 0;) {
        uint32_t d = dims[i];
        int64_t factor = limits->given ? limits->factor[d] : 0, tile = tiles[d];

        tiles[d] = tile > 0 && factor > 0 && tile <= f->dims[d].bound ? tile * factor : 0;
        loops[i] = (written_loop){ .dim = d, .on_y = spatial && on_y(p, k, d), .size = { tile, factor } };
    }
    for (uint32_t i = 0; i < n; i++) {
        if (loops[i].size.tile < f->dims[loops[i].dim].bound)
            loops[kept++] = loops[i];
    }
    if (out->hole[spatial])
        memset(tiles, 0, f->n_dims * sizeof *tiles);
    out->loops[spatial] = loops;
    out->n[spatial] = kept;
}

static void print_lines(dfl_tl_printer *p, uint32_t k, const written_level *level, bool spatial)
{
    dfl_list_writer list = dfl_writer_list(&p->out, spatial ? "spatial " : "temporal ");

    for (uint32_t i = 0; i < level->n[spatial]; i++) {
        const written_loop *loop = &level->loops[spatial][i];

        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, p->dims[loop->dim]);
        if (loop->size.tile > 1 || (loop->size.tile == 1 && spatial))
            dfl_strbuf_printf(&p->out, ":%lld", (long long)loop->size.tile);
        else if (loop->size.tile == 0 && loop->size.parts > 0)
            dfl_strbuf_printf(&p->out, "/%lld", (long long)loop->size.parts);
        else if (loop->size.tile == 0)
            dfl_strbuf_z(&p->out, ":?");
        if (spatial)
            dfl_strbuf_printf(&p->out, " on %s", p->axes[k][loop->on_y]);
    }
    dfl_writer_end_list(&list);
}

/* Writes the keeps of a level; `is_filled` = the search adds keeps next to it. */
static void print_keeps(dfl_tl_printer *p, uint32_t k, bool is_filled)
{
    const dfl_tl_level *l = &p->f->levels[k];
    uint64_t all = dfl_tl_all(p->f), kept = k + 1 == p->f->n_levels ? all : l->keep, open = all & ~kept & ~l->bypass;

    if (l->entries == 0 || (kept == 0 && (open == 0 || is_filled)))
        return;
    dfl_strbuf_z(&p->out, "keep ");
    dfl_tl_print_set(p, kept);
    if (open != 0 && !is_filled)
        dfl_strbuf_z(&p->out, kept != 0 ? ", ?" : "?");
    dfl_strbuf_printf(&p->out, " in %s;\n", p->levels[k]);
}

static void print_objective(dfl_tl_printer *p)
{
    const dfl_tl_file *f = p->f;
    dfl_list_writer list = dfl_writer_list(&p->out, "minimize ");

    for (uint32_t i = 0; f->metrics != NULL && i < f->metrics->n; i++) {
        const char *means = dfl_tl_metric(&f->metrics->items[i]);

        if (means == NULL || (!f->priced && strcmp(means, "latency") != 0))
            continue;
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, means);
    }
    if (list.word != NULL) {
        dfl_writer_item(&list);
        dfl_strbuf_z(&p->out, f->priced ? "energy * latency" : "latency");
    }
    dfl_writer_end_list(&list);
}

/* Whether constraints say nothing of lines: the whole body is a hole. */
static bool is_free(const dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (f->levels[k].limits[0].given || f->levels[k].limits[1].given || (k + 1 < f->n_levels && f->levels[k].keep != 0))
            return false;
    }
    return true;
}

void dfl_tl_print_holes(dfl_tl_printer *p)
{
    const dfl_tl_file *f = p->f;
    written_level *levels = DFL_NEW_ARRAY(f->report->arena, written_level, f->n_levels);
    int64_t *tiles = DFL_NEW_ARRAY(f->report->arena, int64_t, f->n_dims + 1);
    bool filled = false; /* the last line is a hole */

    if (is_free(f)) {
        dfl_strbuf_z(&p->out, "...;\n");
        print_objective(p);
        return;
    }
    for (uint32_t d = 0; d < f->n_dims; d++)
        tiles[d] = 1;
    for (uint32_t k = 0; k < f->n_levels; k++) {
        find_lines(p, k, true, tiles, &levels[k]);
        find_lines(p, k, false, tiles, &levels[k]);
    }
    for (uint32_t k = f->n_levels; k-- > 0;) {
        size_t before = p->out.len;

        print_keeps(p, k, filled || levels[k].hole[0] || (levels[k].n[0] == 0 && levels[k].hole[1]));
        filled = filled && p->out.len == before;
        for (int spatial = 0; spatial < 2; spatial++) {
            if (levels[k].hole[spatial] && !filled) {
                dfl_strbuf_z(&p->out, "...;\n");
                filled = true;
            }
            before = p->out.len;
            print_lines(p, k, &levels[k], spatial == 1);
            filled = filled && p->out.len == before;
        }
    }
    print_objective(p);
}
