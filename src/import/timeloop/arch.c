/* Reads the architecture: multipliers and storage levels, with energies in pJ per word. */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <string.h>

#include "support/checked.h"
#include "support/limits.h"

static const char *const in_arch[] = { "arithmetic", "storage" };
static const char *const in_arithmetic[] = { "name", "instances", "meshX", "meshY", "word_bits" };
static const char *const in_level[] = {
    "name", "instances", "meshX", "meshY", "word_bits", "entries", "depth", "sizeKB", "width", "block_size",
    "cluster_size", "multiple_buffering", "read_bandwidth", "write_bandwidth", "shared_bandwidth", "bandwidth",
    "vector_access_energy", "technology", "network_type", "reduction_supported",
};
/* Keys from which the source computes the energy of networks. */
static const char *const of_wires[] = {
    "wire_energy", "router_energy", "energy_per_hop", "tile_width", "addr_gen_energy",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Warns of keys without effect, and once of the keys of networks, which are not modelled. */
static void look_at_part(dfl_tl_file *f, const dfl_yaml *at, const char *const *known, size_t n, const char *name)
{
    dfl_yaml rest = *at, *keys = DFL_NEW_ARRAY(f->report->arena, dfl_yaml, at->n + 1);
    const dfl_yaml *wires = NULL;

    rest.n = 0;
    for (uint32_t i = 0; i < at->n; i++) {
        bool is_wire = false;

        for (size_t k = 0; k < COUNT(of_wires); k++)
            is_wire |= dfl_tl_get(at, of_wires[k]) == &at->items[i];
        if (is_wire)
            wires = wires == NULL ? &at->keys[i] : wires;
        else
            keys[rest.n++] = at->keys[i];
    }
    rest.keys = keys;
    if (wires != NULL)
        dfl_lose(f->report, DFL_FOREIGN_LOST, wires->span,
                 "wires and routers at `%s` are not counted: its transfers are free", name);
    dfl_tl_look_at_keys(f, &rest, known, n, dfl_arena_printf(f->report->arena, "`%s`", name));
}

/* Reads the number of instances and the width of their mesh; meshX may follow from meshY. */
static void read_mesh(dfl_tl_file *f, const dfl_yaml *at, int64_t *instances, int64_t *mesh_x)
{
    const dfl_yaml *y_at = dfl_tl_get(at, "meshY");
    int64_t y = dfl_tl_count(f, y_at, 1, 1);

    *instances = dfl_tl_count(f, dfl_tl_get(at, "instances"), 1, 1);
    *mesh_x = dfl_tl_count(f, dfl_tl_get(at, "meshX"), 1, y_at != NULL ? *instances / y : *instances);
    if (f->ok && (*mesh_x < 1 || *instances % *mesh_x != 0 || (y_at != NULL && *mesh_x * y != *instances)))
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "%lld instances do not form a mesh of this size", (long long)*instances);
}

static int64_t read_word_bits(dfl_tl_file *f, const dfl_yaml *at)
{
    int64_t bits = dfl_tl_count(f, dfl_tl_get(at, "word_bits"), 1, 16);

    if (bits > DFL_IMPORT_WORD_BITS)
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, dfl_tl_get(at, "word_bits")->span, "the words have more than 4096 bits");
    return bits;
}

/* ---- levels ---- */

static bool is_dram(const dfl_yaml *at)
{
    const dfl_yaml *technology = dfl_tl_get(at, "technology");

    return technology != NULL && strcmp(technology->text, "DRAM") == 0;
}

/* Words of a vector, the unit of an access. */
static double block_of(dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_level *l, double cluster)
{
    const dfl_yaml *width = dfl_tl_get(at, "width");
    double per_word = (double)l->word_bits * cluster;

    if (width != NULL && dfl_tl_get(at, "block_size") == NULL) {
        double bits = (double)dfl_tl_count(f, width, 1, 1);

        if (f->ok && (bits < per_word || fmod(bits, per_word) != 0))
            dfl_tl_wrong(f, DFL_FOREIGN_RANGE, width->span, "the width is not a multiple of the word size");
        return bits / per_word;
    }
    return (double)dfl_tl_count(f, dfl_tl_get(at, "block_size"), 1, 1);
}

/* Sets `entries` and `buffers` of the level. Returns the words of all its buffers; -1 = unlimited. */
static double read_size(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l, double block)
{
    const dfl_yaml *entries = dfl_tl_get(at, "entries"), *depth = dfl_tl_get(at, "depth");
    const dfl_yaml *size = dfl_tl_get(at, "sizeKB"), *buffering = dfl_tl_get(at, "multiple_buffering");
    const dfl_yaml *said = entries != NULL ? entries : depth != NULL ? depth : size;
    double words = -1, buffers = dfl_tl_number(f, buffering, 1);

    if (entries != NULL)
        words = (double)dfl_tl_count(f, entries, 0, 0);
    else if (depth != NULL)
        words = (double)dfl_tl_count(f, depth, 0, 0) * block;
    else if (size != NULL)
        words = floor(dfl_tl_number(f, size, 0) * 8192 / (double)l->word_bits);
    if (f->ok && words > 0x1p50)
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, said->span, "the memory has more than 2^50 words");
    else if (f->ok && (buffers < 1 || buffers > INT32_MAX))
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, buffering->span, "the number of buffers is not from 1 to 2^31 - 1");
    if (!f->ok)
        return -1;
    l->entries = (int64_t)(words > 0 && buffers != floor(buffers) ? floor(words / buffers) : words);
    l->buffers = buffers == floor(buffers) ? (int64_t)buffers : 1;
    return words;
}

/* Energy of a vector access that the run does not give (in pJ), from the table of Timeloop. */
static double table_energy(dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_level *l, double block, double cluster,
                           double words)
{
    double width = (double)l->word_bits * block * cluster;

    if (is_dram(at))
        return 200 * (double)l->word_bits * block / 16;
    if (words == 0)
        return 0;
    if (words < 0) {
        dfl_lose(f->report, DFL_FOREIGN_LOST, at->span, "`%s` has neither a size nor an energy: it is free", l->name);
        return 0;
    }
    return (1 + 5 / 99.5 * (width * ceil(words / block) / 8192 - 0.5)) * width / 16 / cluster;
}

static void read_energy(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l, double block, double cluster,
                        double words)
{
    const dfl_yaml *said = dfl_tl_get(at, "vector_access_energy"), *row = dfl_tl_get(at, "cluster_size");
    double vector = said != NULL ? dfl_tl_number(f, said, 0) : table_energy(f, at, l, block, cluster, words);

    if (cluster > 1)
        dfl_lose(f->report, DFL_FOREIGN_LOST, row->span,
                 "rows that instances of `%s` share cost as if all instances were used", l->name);
    l->read_energy = l->write_energy = vector / block / cluster;
    l->vector = block * cluster;
}

static void read_rates(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l)
{
    const struct { const char *key; double *rate; } rates[] = {
        { "read_bandwidth", &l->read_rate }, { "write_bandwidth", &l->write_rate },
        { "shared_bandwidth", &l->shared_rate },
    };
    const dfl_yaml *old = dfl_tl_get(at, "bandwidth");

    for (size_t i = 0; i < COUNT(rates); i++) {
        const dfl_yaml *said = dfl_tl_get(at, rates[i].key);
        bool halved = said == NULL && old != NULL && i < 2;

        *rates[i].rate = halved ? dfl_tl_number(f, old, 0) / 2 : dfl_tl_number(f, said, INFINITY);
        if (f->ok && *rates[i].rate == 0)
            dfl_tl_wrong(f, DFL_FOREIGN_RANGE, halved ? old->span : said->span, "the bandwidth is zero");
    }
    if (f->ok && !isinf(l->shared_rate) && fmin(l->read_rate, l->write_rate) < l->shared_rate)
        dfl_lose(f->report, DFL_FOREIGN_LOST, dfl_tl_get(at, "shared_bandwidth")->span,
                 "`%s` has a limit for reads and writes together: separate limits are ignored", l->name);
}

static void read_kind(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l)
{
    const dfl_yaml *technology = dfl_tl_get(at, "technology"), *network = dfl_tl_get(at, "network_type");

    if (technology != NULL && !is_dram(at) && strcmp(technology->text, "SRAM") != 0)
        dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, technology->span, "a technology must be `SRAM` or `DRAM`");
    if (network == NULL || strcmp(network->text, "1:1") == 0 || strcmp(network->text, "1:N") == 0)
        return;
    if (strcmp(network->text, "M:N") != 0)
        dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, network->span, "a network must be `1:1`, `1:N` or `M:N`");
    l->distributes = true;
    dfl_lose(f->report, DFL_FOREIGN_LOST, network->span,
             "instances of `%s` do not exchange parts of a multicast: each gets it from outside", l->name);
}

static bool read_level(dfl_tl_file *f, const dfl_yaml *at)
{
    dfl_tl_level *l = &f->levels[f->n_levels];
    double cluster, block, words;

    if (at->kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a level must be a map");
    *l = (dfl_tl_level){ .span = at->span, .buffers = 1 };
    l->name = dfl_tl_text(f, dfl_tl_get(at, "name"), at->span, "the name of a level");
    for (uint32_t k = 0; f->ok && k < f->n_levels; k++) {
        if (strcmp(f->levels[k].name, l->name) == 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "two levels have the same name");
    }
    if (!f->ok)
        return false;
    look_at_part(f, at, in_level, COUNT(in_level), l->name);
    read_mesh(f, at, &l->instances, &l->mesh_x);
    l->word_bits = read_word_bits(f, at);
    cluster = (double)dfl_tl_count(f, dfl_tl_get(at, "cluster_size"), 1, 1);
    block = f->ok ? block_of(f, at, l, cluster) : 1;
    words = read_size(f, at, l, block);
    read_rates(f, at, l);
    read_kind(f, at, l);
    if (f->ok)
        read_energy(f, at, l, block, cluster, words);
    f->n_levels++;
    return f->ok;
}

/* Whether the mesh inside of level k consists of equal meshes for the instances of the level; reports if not. */
static bool fits(dfl_tl_file *f, uint32_t k)
{
    const dfl_tl_level *l = &f->levels[k];
    int64_t instances = k > 0 ? l[-1].instances : f->macs, x = k > 0 ? l[-1].mesh_x : f->macs_x, fan[2];

    if (x % l->mesh_x != 0 || (instances / x) % (l->instances / l->mesh_x) != 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, l->span,
                            "the contents of `%s` cannot be divided evenly among its instances", l->name);
    dfl_tl_fan_out(f, k, fan);
    if (fan[0] > INT32_MAX || fan[1] > INT32_MAX)
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, l->span, "the level has more than 2^31 - 1 instances side by side");
    return true;
}

bool dfl_tl_read_arch(dfl_tl_file *f)
{
    const dfl_yaml *macs = dfl_tl_get(f->arch, "arithmetic"), *storage = dfl_tl_get(f->arch, "storage");

    dfl_tl_look_at_keys(f, f->arch, in_arch, COUNT(in_arch), "the architecture");
    if (macs == NULL || macs->kind != DFL_YAML_MAP || storage == NULL || storage->kind != DFL_YAML_LIST ||
        storage->n == 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->arch->span,
                            "an architecture needs a map `arithmetic` and a list of levels `storage`");
    if (storage->n > DFL_TL_MOST_LEVELS)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, storage->span,
                    "the architecture has more than %d levels", DFL_TL_MOST_LEVELS);
    look_at_part(f, macs, in_arithmetic, COUNT(in_arithmetic), "arithmetic");
    read_mesh(f, macs, &f->macs, &f->macs_x);
    f->word_bits = read_word_bits(f, macs);
    f->levels = DFL_NEW_ARRAY(f->report->arena, dfl_tl_level, storage->n);
    for (uint32_t k = 0; k < storage->n; k++) {
        if (!f->ok || !read_level(f, &storage->items[k]))
            return false;
    }
    f->priced = true;
    f->cycle = 1e-9;
    f->mac_name = dfl_tl_get(macs, "name") != NULL ? dfl_tl_get(macs, "name")->text : "";
    f->mac_energy = (double)f->word_bits / 16 * ((double)f->word_bits / 16);
    return dfl_tl_check_levels(f);
}

bool dfl_tl_check_levels(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (!fits(f, k))
            return false;
    }
    if (f->levels[f->n_levels - 1].instances != 1)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, f->levels[f->n_levels - 1].span,
                            "the outermost level cannot have several instances");
    return true;
}
