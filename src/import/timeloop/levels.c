/* Makes levels of the components of a tree. */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <string.h>

#include "support/limits.h"

static bool is_word(const dfl_tl_scope *scope, const char *key, const char *word)
{
    const dfl_yaml *value = dfl_tl_attribute(scope, key);

    return value != NULL && strcmp(value->text, word) == 0;
}

/* Refuses what would change a cost without a trace, or reports it as a loss. */
static bool look_at_part(dfl_tl_file *f, const dfl_tl_scope *scope, const char *name)
{
    static const struct { const char *key, *neutral, *meaning; } losses[] = {
        { "min_utilization", "0", "mappings that use little of it are allowed" },
        { "reduction_supported", "true", "its partial results are added where they arrive" },
        { "per_dataspace_bandwidth_consumption_scale", "1", "all data spaces take the same bandwidth" },
        { "network_fill_latency", "0", "filling and draining its network takes no time" },
        { "network_drain_latency", "0", "filling and draining its network takes no time" },
    };
    const dfl_yaml *over = dfl_tl_attribute(scope, "allow_overbooking");

    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        const dfl_yaml *value = dfl_tl_attribute(scope, losses[i].key);

        if (value != NULL && strcmp(value->text, losses[i].neutral) != 0 &&
            strcmp(value->text, "True") != 0 && strcmp(value->text, "0.0") != 0)
            dfl_lose(f->report, DFL_FOREIGN_LOST, value->span, "`%s` of `%s` has no effect: %s", losses[i].key, name,
                     losses[i].meaning);
    }
    if (is_word(scope, "allow_overbooking", "true") || is_word(scope, "allow_overbooking", "True"))
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, over->span, "`%s` may hold more than its size, which DFL cannot express",
                            name);
    return f->ok;
}

/* The first of two attributes, by either name. */
static const dfl_yaml *either(const dfl_tl_scope *scope, const char *a, const char *b)
{
    const dfl_yaml *value = dfl_tl_attribute(scope, a);

    return value != NULL ? value : dfl_tl_attribute(scope, b);
}

static int64_t word_bits_of(dfl_tl_file *f, const dfl_tl_scope *scope, int64_t otherwise)
{
    const dfl_yaml *said = either(scope, "datawidth", "word_bits");
    int64_t bits;

    f->scope = scope;
    bits = dfl_tl_count(f, said, 1, otherwise);
    if (f->ok && bits > DFL_IMPORT_WORD_BITS)
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, said->span, "the words have more than 4096 bits");
    return bits;
}

static void read_rates(dfl_tl_file *f, const dfl_tl_scope *scope, dfl_tl_level *l)
{
    const struct { const char *key; double *rate; } rates[] = {
        { "read_bandwidth", &l->read_rate }, { "write_bandwidth", &l->write_rate }, { "shared_bandwidth", &l->shared_rate },
    };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const dfl_yaml *said = dfl_tl_attribute(scope, rates[i].key);

        *rates[i].rate = dfl_tl_number(f, said, INFINITY);
        if (f->ok && *rates[i].rate == 0)
            dfl_tl_wrong(f, DFL_FOREIGN_RANGE, said->span, "the bandwidth is zero");
    }
    if (f->ok && !isinf(l->shared_rate) && fmin(l->read_rate, l->write_rate) < l->shared_rate)
        dfl_lose(f->report, DFL_FOREIGN_LOST, dfl_tl_attribute(scope, "shared_bandwidth")->span,
                 "`%s` has a limit for reads and writes together: separate limits are ignored", l->name);
}

/* Words of the level, -1 = unlimited, and those of a vector access. */
static bool read_size(dfl_tl_file *f, const dfl_tl_scope *scope, dfl_tl_level *l, bool is_dram)
{
    const dfl_yaml *depth = either(scope, "depth", "memory_depth"), *width = either(scope, "width", "memory_width");
    const dfl_yaml *entries = dfl_tl_attribute(scope, "entries"), *size = dfl_tl_attribute(scope, "sizeKB");
    const dfl_yaml *buffering = dfl_tl_attribute(scope, "multiple_buffering"), *block = dfl_tl_attribute(scope, "block_size");
    double cluster = (double)dfl_tl_count(f, dfl_tl_attribute(scope, "cluster_size"), 1, 1), words = -1, buffers;
    double bits = (double)l->word_bits * cluster;

    l->vector = cluster * (block != NULL ? (double)dfl_tl_count(f, block, 1, 1) : 1);
    if (width != NULL && block == NULL) {
        double wide = (double)dfl_tl_count(f, width, 1, 1);

        if (f->ok && (wide < bits || fmod(wide, bits) != 0))
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, width->span, "the width is not a multiple of the word size");
        l->vector = wide / (double)l->word_bits;
    }
    if (entries != NULL)
        words = dfl_tl_number(f, entries, 0);
    else if (depth != NULL)
        words = dfl_tl_number(f, depth, 0) * l->vector / cluster;
    else if (size != NULL)
        words = floor(dfl_tl_number(f, size, 0) * 8192 / (double)l->word_bits);
    if (is_dram && words == 0)
        words = -1;
    buffers = dfl_tl_number(f, buffering, 1);
    if (f->ok && words > 0x1p50)
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, l->span, "the memory has more than 2^50 words");
    if (f->ok && (buffers < 1 || buffers > INT32_MAX))
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, buffering->span, "the number of buffers is not from 1 to 2^31 - 1");
    l->entries = (int64_t)(words > 0 && buffers != floor(buffers) ? floor(words / buffers) : words);
    l->buffers = buffers == floor(buffers) ? (int64_t)buffers : 1;
    l->shares_rows = cluster > 1;
    if (f->ok && cluster > 1)
        dfl_lose(f->report, DFL_FOREIGN_LOST, dfl_tl_attribute(scope, "cluster_size")->span,
                 "rows that instances of `%s` share cost as if all instances were used", l->name);
    return f->ok;
}

static bool is_class(const dfl_yaml *at, const char *word)
{
    const dfl_yaml *class = dfl_tl_get(at, "class");

    return class != NULL && strstr(class->text, word) != NULL;
}

/* Warns of an attribute of a memory that is nearly the name of one that costs depend on, and that the memory lacks. */
static void look_at_attributes(dfl_tl_file *f, const dfl_tl_leaf *from)
{
    static const char *const known[] = {
        "depth", "memory_depth", "width", "memory_width", "datawidth", "word_bits", "entries", "sizeKB", "block_size",
        "cluster_size", "multiple_buffering", "read_bandwidth", "write_bandwidth", "shared_bandwidth", "technology", "meshX",
        "meshY",
    };
    const dfl_yaml *own = dfl_tl_get(from->at, "attributes");

    for (uint32_t i = 0; own != NULL && own->kind == DFL_YAML_MAP && i < own->n; i++) {
        const char *near = dfl_loss_nearest(own->keys[i].text, known, sizeof known / sizeof known[0]);
        bool is_known = false;

        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            is_known |= dfl_tl_is_key(own->keys[i].text, known[k]);
        if (near != NULL && !is_known && dfl_tl_attribute(from->scope, near) == NULL)
            dfl_lose_key(f->report, own->keys[i].span, own->keys[i].text,
                         dfl_arena_printf(f->report->arena, "`%s`", from->name), &near, 1);
    }
}

/* Whether a directive or constraint keeps something. */
static bool keeps(const dfl_yaml *at)
{
    static const char *const types[] = { "dataspace", "datatype", "bypass" };
    const dfl_yaml *keep = dfl_tl_get(at, "keep"), *only = dfl_tl_get(at, "keep_only");
    bool any = (keep != NULL && keep->n > 0) || (only != NULL && only->n > 0);

    for (size_t i = 0; i < sizeof types / sizeof types[0] && !any; i++) {
        const dfl_yaml *part = dfl_tl_get(at, types[i]);

        keep = dfl_tl_get(part, "keep");
        only = dfl_tl_get(part, "keep_only");
        any |= (keep != NULL && keep->n > 0) || (only != NULL && only->n > 0);
    }
    return any;
}

/* Whether a directive or constraint keeps something in the component. */
static bool is_told_to_keep(const dfl_tl_file *f, const dfl_tl_leaf *from)
{
    const dfl_yaml *lists[] = { f->mapping, f->constraints };
    size_t n = strlen(from->name);

    if (keeps(dfl_tl_get(from->at, "constraints")))
        return true;
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; lists[i] != NULL && k < lists[i]->n; k++) {
            const dfl_yaml *target = dfl_tl_get(&lists[i]->items[k], "target");

            if (target != NULL && strncmp(target->text, from->name, n) == 0 && strchr("[", target->text[n]) != NULL &&
                keeps(&lists[i]->items[k]))
                return true;
        }
    }
    return false;
}

/* Whether the component is a memory: by its class, as the source decides, else if it has a depth, or holds something. */
static bool is_memory(const dfl_tl_file *f, const dfl_tl_leaf *from)
{
    static const char *const words[] = { "RAM", "regfile", "buffer", "storage", "register", "cache", "Buffer" };
    static const char *const sizes[] = { "depth", "memory_depth", "entries", "sizeKB" };
    const dfl_yaml *attributes = dfl_tl_get(from->at, "attributes");

    if (from->is_fan_out || dfl_tl_get(from->at, "class") == NULL)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_class(from->at, words[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (dfl_tl_get(attributes, sizes[i]) != NULL)
            return true;
    }
    return is_told_to_keep(f, from);
}

static bool make_level(dfl_tl_file *f, const dfl_tl_leaf *from, dfl_tl_level *l)
{
    const dfl_yaml *technology = dfl_tl_attribute(from->scope, "technology");

    *l = (dfl_tl_level){ .name = from->name, .span = from->at->span, .alias = from->alias, .instances = from->x * from->y,
                         .mesh_x = from->x, .buffers = 1, .word_bits = 16, .vector = 1, .read_rate = INFINITY,
                         .write_rate = INFINITY, .shared_rate = INFINITY, .group = from->group, .branch = from->branch,
                         .constraints = dfl_tl_get(from->at, "constraints") };
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (strcmp(f->levels[k].name, l->name) == 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, l->span, "two levels have the same name");
    }
    if (from->is_fan_out || (is_class(from->at, "dummy_storage") && !is_told_to_keep(f, from)))
        return true;
    look_at_attributes(f, from);
    f->scope = from->scope;
    l->word_bits = word_bits_of(f, from->scope, 16);
    if (!f->ok || !look_at_part(f, from->scope, l->name) ||
        !read_size(f, from->scope, l, is_class(from->at, "DRAM") ||
                   (technology != NULL && strcmp(technology->text, "DRAM") == 0)))
        return false;
    read_rates(f, from->scope, l);
    return f->ok;
}

/* The number of bits of the workload's words: those of the outermost level. */
bool dfl_tl_make_levels(dfl_tl_file *f, const dfl_tl_leaf *leaves, size_t n)
{
    const dfl_tl_leaf *last = &leaves[n - 1];
    const dfl_yaml *cycle = dfl_tl_attribute(last->scope, "global_cycle_seconds");

    f->macs = last->x * last->y;
    f->macs_x = last->x;
    f->mac_name = last->name;
    f->scope = last->scope;
    f->cycle = dfl_tl_number(f, cycle, 1e-9);
    if (f->ok && f->cycle == 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, cycle->span, "a cycle takes no time");
    f->levels = DFL_NEW_ARRAY(f->report->arena, dfl_tl_level, n);
    for (size_t i = n - 1; i-- > 0;) {
        if (!is_memory(f, &leaves[i])) {
            dfl_lose(f->report, DFL_FOREIGN_LOST, leaves[i].at->span,
                     "`%s` is neither a memory nor the multipliers: it is omitted, and free", leaves[i].name);
            continue;
        }
        if (!f->ok || !make_level(f, &leaves[i], &f->levels[f->n_levels]))
            return false;
        f->n_levels++;
    }
    if (f->n_levels == 0 || f->levels[f->n_levels - 1].alias != NULL)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->tree->span, "an architecture needs a memory around its multipliers");
    f->scope = NULL;
    f->word_bits = f->levels[f->n_levels - 1].word_bits;
    return f->ok && dfl_tl_check_levels(f);
}
