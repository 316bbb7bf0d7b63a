/* Parses the command line: the options of options.def, and the arguments. */
#include "cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag/lints.h"
#include "diag/suggest.h"

enum {
    CHECK = DFL_CMD_CHECK, EVAL = DFL_CMD_EVAL, PROVE = DFL_CMD_PROVE, TEST = DFL_CMD_TEST, FMT = DFL_CMD_FMT,
    EXPLAIN = DFL_CMD_EXPLAIN, IMPORT = DFL_CMD_IMPORT, DUMP = DFL_CMD_DUMP, VERSION = DFL_CMD_VERSION,
    HELP = DFL_CMD_HELP, MAP = DFL_CMD_MAP, DIFF = DFL_CMD_DIFF, LIST = DFL_CMD_LIST,
};

typedef enum {
#define DFL_OPTION(id, letter, name, argument, commands, help) OPTION_##id,
#include "cmd/options.def"
    N_OPTIONS
} option_id;

static const dfl_cmd_option options[] = {
#define DFL_OPTION(id, letter, name, argument, commands, help) { letter, name, argument, commands, help },
#include "cmd/options.def"
};

const dfl_cmd_option *dfl_cmd_option_at(size_t i)
{
    return i < N_OPTIONS ? &options[i] : NULL;
}

const char *dfl_cmd_format(const dfl_cmd_args *args, const char *fallback)
{
    return args->format ? args->format : fallback;
}

dfl_format dfl_cmd_message_format(const char *name)
{
    static const struct { const char *name; dfl_format format; } all[] = {
        { "text", DFL_FORMAT_TEXT }, { "short", DFL_FORMAT_SHORT }, { "json", DFL_FORMAT_JSON }, { "sarif", DFL_FORMAT_SARIF },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].format;
    return DFL_FORMAT_CSV;
}

/* ---- values ---- */

static bool refuse_value(const dfl_cmd *cmd, const char *option, const char *value, const char *wanted)
{
    dfl_cmd_say("`--%s %s`: %s; see `dflc help %s`", option, value, wanted, cmd->name);
    return false;
}

/* Whether the list, words separated by blanks, contains `word`. */
static bool is_in_list(const char *list, const char *word)
{
    size_t len = strlen(word);

    while (list && *list) {
        size_t n = strcspn(list, " ");

        if (n == len && strncmp(list, word, n) == 0)
            return true;
        list += n + strspn(list + n, " ");
    }
    return false;
}

static bool set_format(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    args->format = value;
    if (is_in_list(cmd->formats, value))
        return true;
    dfl_cmd_say("`dflc %s` has no format `%s`; its formats are: %s", cmd->name, value, cmd->formats);
    return false;
}

static bool set_messages(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    args->has_messages = true;
    args->messages = dfl_cmd_message_format(value);
    return args->messages != DFL_FORMAT_CSV || refuse_value(cmd, "message-format", value, "give text, short, json or sarif");
}

static bool add_lint(const dfl_cmd *cmd, char level, const char *name, dfl_cmd_args *args)
{
    dfl_arena *arena;
    const char *near;

    (void)cmd;
    if (strcmp(name, "all") != 0 && !dfl_lint_find(name)) {
        arena = dfl_arena_new(NULL);
        near = dfl_lint_suggest(arena, name);
        dfl_cmd_say("there is no lint `%s`%s%s%s", name, near ? "; did you mean `" : "", near ? near : "",
                    near ? "`?" : "; `dflc help lints` lists them");
        dfl_arena_free(arena);
        return false;
    }
    if (args->n_lints == DFL_CMD_MOST_LINTS) {
        dfl_cmd_say("more than %d lint levels", DFL_CMD_MOST_LINTS);
        return false;
    }
    args->lints[args->n_lints].level = level;
    args->lints[args->n_lints++].name = name;
    return true;
}

/* Reads a whole number from 1 to `most`; `*end` is the text behind the number. */
static bool read_number(const char *text, unsigned long long most, unsigned long long *out, char **end)
{
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoull(text, end, 10);
    return errno == 0 && *out > 0 && *out <= most;
}

/* Reads a whole number from 1 to 2^64 - 1: "20000", "2e4", "2.5e6", "20k", "2M", "1G". */
static bool read_count(const char *text, uint64_t *out)
{
    static const char suffixes[] = "kMG";
    size_t digits = strspn(text, "0123456789"), fraction = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;
    const char *end = text + digits + (fraction > 0 ? fraction + 1 : 0);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    uint64_t n = 0;
    long power = 0;

    if (digits == 0)
        return false;
    if ((*end == 'e' || *end == 'E') && isdigit((unsigned char)end[1])) {
        for (end++; isdigit((unsigned char)*end) && power <= 20; end++)
            power = 10 * power + (*end - '0');
    } else if (suffix) {
        power = 3 * (suffix - suffixes + 1);
        end++;
    }
    if (*end != '\0' || power > 20)
        return false;
    for (size_t i = 0; i < digits + fraction; i++)
        if (__builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (uint64_t)(text[i < digits ? i : i + 1] - '0'), &n))
            return false;
    for (power -= (long)fraction; power > 0; power--)
        if (__builtin_mul_overflow(n, 10u, &n))
            return false;
    for (; power < 0 && n % 10 == 0; power++)
        n /= 10;
    *out = n;
    return n > 0 && power == 0;
}

/* Reads an extent for prove: "r=4" for the rank `r`, or "4" for all ranks. */
static bool add_size(const dfl_cmd *cmd, char *value, dfl_cmd_args *args)
{
    char *equals = strchr(value, '='), *end;
    const char *digits = equals ? equals + 1 : value;
    unsigned long long extent;

    if (!read_number(digits, INT64_MAX, &extent, &end) || *end || equals == value)
        return refuse_value(cmd, "size", value, "give RANK=N or N, with N a positive number");
    if (args->n_sizes == DFL_CMD_MOST_SIZES) {
        dfl_cmd_say("more than %d sizes", DFL_CMD_MOST_SIZES);
        return false;
    }
    if (equals)
        *equals = '\0';
    args->sizes[args->n_sizes++] = (dfl_size){ equals ? value : "", (int64_t)extent };
    return true;
}

/* Reads NAME=VALUE for a `param`. The session reads the value as an expression. */
static bool add_param(const dfl_cmd *cmd, char *text, dfl_cmd_args *args)
{
    char *equals = strchr(text, '=');

    if (!equals || equals == text || equals[1] == '\0')
        return refuse_value(cmd, "set", text, "give NAME=VALUE, as in --set seq=4096");
    if (args->n_params == DFL_CMD_MOST_PARAMS) {
        dfl_cmd_say("more than %d parameters", DFL_CMD_MOST_PARAMS);
        return false;
    }
    *equals = '\0';
    for (unsigned i = 0; i < args->n_params; i++)
        if (strcmp(args->params[i].name, text) == 0) {
            dfl_cmd_say("`--set` gives `%s` twice", text);
            return false;
        }
    args->params[args->n_params].name = text;
    args->params[args->n_params++].value = equals + 1;
    return true;
}

static bool set_memory(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    static const struct { const char *unit; unsigned long long bytes; } units[] = {
        { "B", 1 }, { "kB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 },
        { "KiB", 1ull << 10 }, { "MiB", 1ull << 20 }, { "GiB", 1ull << 30 },
    };
    unsigned long long amount;
    char *end;

    if (read_number(value, SIZE_MAX >> 30, &amount, &end))
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strcmp(end, units[i].unit) == 0) {
                args->session.memory_limit = (size_t)(amount * units[i].bytes);
                return true;
            }
    return refuse_value(cmd, "memory-limit", value, "give a size such as 512MiB");
}

static bool set_color(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    const char *no_color = getenv("NO_COLOR");

    if (strcmp(value, "always") == 0)
        args->color = true;
    else if (strcmp(value, "never") == 0)
        args->color = false;
    else if (strcmp(value, "auto") == 0)
        args->color = isatty(STDERR_FILENO) && !(no_color && *no_color);
    else
        return refuse_value(cmd, "color", value, "give auto, always or never");
    return true;
}

static bool set_progress(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    static const char *const kinds[] = { [DFL_CMD_PROGRESS_AUTO] = "auto", [DFL_CMD_PROGRESS_PLAIN] = "plain",
                                         [DFL_CMD_PROGRESS_NONE] = "none" };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i], value) == 0) {
            args->progress = (dfl_cmd_progress_kind)i;
            return true;
        }
    return refuse_value(cmd, "progress", value, "give auto, plain or none");
}

static bool set_jobs(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    unsigned long long jobs;
    char *end;

    if (!read_number(value, 1024, &jobs, &end) || *end)
        return refuse_value(cmd, "jobs", value, "give a number from 1 to 1024");
    args->jobs = (unsigned)jobs;
    return true;
}

static bool set_tiles(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    args->search.imperfect = strcmp(value, "imperfect") == 0;
    args->search.perfect = strcmp(value, "perfect") == 0;
    return args->search.imperfect || args->search.perfect ||
           refuse_value(cmd, "tiles", value, "give perfect or imperfect");
}

static bool set_spread(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    args->search.spread = strcmp(value, "any") == 0;
    return args->search.spread || strcmp(value, "sharing") == 0 ||
           refuse_value(cmd, "spread", value, "give sharing or any");
}

static bool set_beyond(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    static const struct { const char *name; unsigned kind; } kinds[] = {
        { "order", DFL_SEARCH_ORDER }, { "recompute", DFL_SEARCH_RECOMPUTE }, { "spill", DFL_SEARCH_SPILL },
        { "split", DFL_SEARCH_SPLIT }, { "window", DFL_SEARCH_WINDOW }, { "pipeline", DFL_SEARCH_PIPELINE },
        { "keep", DFL_SEARCH_KEEP },
        { "all", DFL_SEARCH_ORDER | DFL_SEARCH_RECOMPUTE | DFL_SEARCH_SPILL | DFL_SEARCH_SPLIT | DFL_SEARCH_WINDOW |
                     DFL_SEARCH_PIPELINE | DFL_SEARCH_KEEP },
    };

    for (const char *at = value;; at++) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < sizeof kinds / sizeof *kinds &&
               (strlen(kinds[i].name) != len || strncmp(kinds[i].name, at, len) != 0))
            i++;
        if (i == sizeof kinds / sizeof *kinds)
            return refuse_value(cmd, "beyond", value,
                                "give some of order, recompute, spill, split, window, pipeline, keep, or all");
        args->search.beyond |= kinds[i].kind;
        at += len;
        if (*at == '\0')
            return true;
    }
}

static bool set_fused(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    bool digit = isdigit((unsigned char)value[0]) && value[1] == '\0';

    args->search.max_fused = digit ? 1 + (unsigned)(value[0] - '0') : 0;
    return digit || refuse_value(cmd, "max-fused", value, "give a number of loops, 0 to 9");
}

static bool set_seconds(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    static const struct { const char *unit; double seconds; } units[] = {
        { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "min", 60 }, { "h", 3600 },
    };
    char *end = NULL;

    args->search.endless = strcmp(value, "none") == 0;
    args->search.seconds = 0;
    if (args->search.endless)
        return true;
    errno = 0;
    args->search.seconds = isdigit((unsigned char)*value) || *value == '.' ? strtod(value, &end) : 0;
    for (size_t i = 0; errno == 0 && end && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0) {
            args->search.seconds *= units[i].seconds;
            return (args->search.seconds > 0 && args->search.seconds <= 1e9) ||
                   refuse_value(cmd, "time-limit", value, "give a positive number of seconds, or none");
        }
    return refuse_value(cmd, "time-limit", value, "give a positive number of seconds, such as 0.5, 10s or 5min, or none");
}

/* The sign `%` is part of the number, as in the shares of a file. */
static bool set_gap(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    char *end;

    errno = 0;
    args->search.gap = isdigit((unsigned char)*value) || *value == '.' ? strtod(value, &end) / 100 : 0;
    if (errno == 0 && args->search.gap > 0 && strcmp(end, "%") == 0 && args->search.gap <= 1e9)
        return true;
    return refuse_value(cmd, "gap", value, "give a positive percentage, such as 1%");
}

static bool set_count(const dfl_cmd *cmd, const char *option, const char *value, uint64_t *out)
{
    return read_count(value, out) ||
           refuse_value(cmd, option, value, "give a positive integer, such as 1000000, 1e6 or 1M");
}

/* The largest value is that of `top` in dfl/search.h. */
static bool set_top(const dfl_cmd *cmd, const char *value, dfl_cmd_args *args)
{
    uint64_t top;

    if (!read_count(value, &top) || top > 64)
        return refuse_value(cmd, "top", value, "give the number of results to list, 1 to 64");
    args->search.top = (unsigned)top;
    return true;
}

static bool apply_option(const dfl_cmd *cmd, option_id id, char *value, dfl_cmd_args *args)
{
    switch (id) {
    case OPTION_FORMAT: return set_format(cmd, value, args);
    case OPTION_MESSAGES: return set_messages(cmd, value, args);
    case OPTION_OUTPUT: args->output = value; break;
    case OPTION_STDIN: args->stdin_name = value; break;
    case OPTION_ALLOW: return add_lint(cmd, 'A', value, args);
    case OPTION_WARN: return add_lint(cmd, 'W', value, args);
    case OPTION_DENY: return add_lint(cmd, 'D', value, args);
    case OPTION_FIX: args->fix = true; break;
    case OPTION_RESULT:
    case OPTION_NAME:
    case OPTION_ONLY: args->only = value; break;
    case OPTION_SUM: args->sum = true; break;
    case OPTION_COLUMNS: args->columns = value; break;
    case OPTION_DETAILS: args->details = true; break;
    case OPTION_SIZE: return add_size(cmd, value, args);
    case OPTION_SET: return add_param(cmd, value, args);
    case OPTION_WRITE: args->write = true; break;
    case OPTION_VERIFY: args->verify = true; break;
    case OPTION_DIFF: args->diff = true; break;
    case OPTION_HARDWARE: args->hardware = value; break;
    case OPTION_JOBS: return set_jobs(cmd, value, args);
    case OPTION_TILES: return set_tiles(cmd, value, args);
    case OPTION_SPREAD: return set_spread(cmd, value, args);
    case OPTION_BEYOND: return set_beyond(cmd, value, args);
    case OPTION_FUSED: return set_fused(cmd, value, args);
    case OPTION_TIME: return set_seconds(cmd, value, args);
    case OPTION_GAP: return set_gap(cmd, value, args);
    case OPTION_TOP: return set_top(cmd, value, args);
    case OPTION_EVALUATIONS: return set_count(cmd, "evaluations", value, &args->search.evaluations);
    case OPTION_CERTIFICATE: args->certificate = value; break;
    case OPTION_EFFORT: return set_count(cmd, "effort", value, &args->effort);
    case OPTION_MEMORY: return set_memory(cmd, value, args);
    case OPTION_STEPS: return set_count(cmd, "step-limit", value, &args->session.step_limit);
    case OPTION_COLOR: return set_color(cmd, value, args);
    case OPTION_QUIET: args->progress = DFL_CMD_PROGRESS_NONE; break;
    case OPTION_PROGRESS: return set_progress(cmd, value, args);
    case OPTION_VERBOSE: args->session.verbose = true; break;
    case OPTION_HELP: args->help = true; break;
    case N_OPTIONS: break;
    }
    return true;
}

/* ---- the command line ---- */

/* The option that other programs call `name`, or NULL. */
static const char *find_renamed(const char *name)
{
    static const char *const renamed[][2] = { { "threads", "jobs" }, { "parallel", "jobs" }, { "timeout", "time-limit" },
        { "csv", "format csv" }, { "json", "format json" }, { "param", "set NAME=VALUE" }, { "mapping", "only" },
        { "in-place", "write" }, { "silent", "quiet" } };

    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcmp(renamed[i][0], name) == 0)
            return renamed[i][1];
    return NULL;
}

/* Prints that there is no option `word`, with the most similar option of the command. */
static bool refuse_unknown(const dfl_cmd *cmd, const char *word)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_intern *names = dfl_intern_new(arena);
    const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : word + 1;
    const char *renamed = find_renamed(name);
    const size_t length = renamed != NULL ? strcspn(renamed, " ") : 0;
    bool is_here = false;
    dfl_sym all[N_OPTIONS], near;
    size_t n = 0;

    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].commands & cmd->bit) {
            all[n++] = dfl_intern_z(names, options[i].name);
            is_here |= renamed != NULL && strncmp(options[i].name, renamed, length) == 0 && options[i].name[length] == '\0';
        }
    near = dfl_suggest(names, dfl_arena_copy(arena, name, strcspn(name, "=")), all, n);
    if (is_here)
        dfl_cmd_say("no option `%s`; did you mean `--%s`?", word, renamed);
    else if (near && name[0] != '\0' && name[1] != '\0')
        dfl_cmd_say("no option `%s`; did you mean `--%s`?", word, dfl_sym_text(names, near));
    else
        dfl_cmd_say("no option `%s`; see `dflc help %s`", word, cmd->name);
    dfl_arena_free(arena);
    return false;
}

/* Prints why getopt refused the option `word`: the option lacks its argument, has one that it does not take, or is unknown. */
static bool refuse_option(const dfl_cmd *cmd, const char *word, bool missing)
{
    if (strcmp(word, "-:") == 0) {
        dfl_cmd_say("write `--` before `-:MAPPING`, a mapping of standard input");
        return false;
    }
    if (missing) {
        dfl_cmd_say("`%s` needs an argument; see `dflc help %s`", word, cmd->name);
        return false;
    }
    for (size_t i = 0; i < N_OPTIONS; i++) {
        size_t len = strcspn(word, "=");
        bool same = strncmp(word, "--", 2) == 0 ? strlen(options[i].name) == len - 2 &&
                                                      strncmp(word + 2, options[i].name, len - 2) == 0
                                                : word[1] == options[i].letter;

        if (same && (options[i].commands & cmd->bit) && !options[i].argument) {
            dfl_cmd_say("`--%s` takes no argument; see `dflc help %s`", options[i].name, cmd->name);
            return false;
        }
        if (same) {
            dfl_cmd_say("`dflc %s` takes no `%.*s`; see `dflc help %s`", cmd->name, (int)len, word, cmd->name);
            return false;
        }
    }
    return refuse_unknown(cmd, word);
}

/* Whether an argument names standard input, `-`, or a mapping of it, `-:MAPPING`. */
static bool is_stdin(const char *argument)
{
    return argument[0] == '-' && (argument[1] == '\0' || argument[1] == ':');
}

static bool has_right_files(const dfl_cmd *cmd, const dfl_cmd_args *args)
{
    unsigned n_stdin = 0;

    if (args->n_files < cmd->least) {
        dfl_cmd_say("usage: dflc %s %s; see `dflc help %s`", cmd->name, cmd->usage, cmd->name);
        return false;
    }
    for (unsigned i = 0; i < args->n_files; i++)
        if (is_stdin(args->files[i]) && n_stdin++ > 0) {
            dfl_cmd_say("standard input, `-`, is named twice: it can be read once");
            return false;
        }
    if (n_stdin > 0 && args->write) {
        dfl_cmd_say("`-w` rewrites files, and standard input is none: leave out `-w`; see `dflc help %s`", cmd->name);
        return false;
    }
    if (cmd->most > 0 && args->n_files > cmd->most) {
        dfl_cmd_say("unexpected argument `%s`; usage: dflc %s %s", args->files[cmd->most], cmd->name, cmd->usage);
        return false;
    }
    return true;
}

/* Refuses --max-fused with --beyond: mappings of the extensions share loops in ways that --max-fused does not bound. Refuses
   --columns with JSON, which has all figures, and lines of progress among JSON. */
static bool may_combine(const dfl_cmd_args *args)
{
    if (args->columns && args->format && strcmp(args->format, "json") == 0) {
        dfl_cmd_say("`--columns` is for the formats text and csv; JSON has all figures");
        return false;
    }
    if (args->progress == DFL_CMD_PROGRESS_PLAIN && args->messages != DFL_FORMAT_TEXT && args->messages != DFL_FORMAT_SHORT) {
        dfl_cmd_say("`--progress plain` writes lines of text: it excludes `--message-format` json and sarif");
        return false;
    }
    if (args->search.max_fused == 0 || args->search.beyond == 0)
        return true;
    dfl_cmd_say("`--max-fused` and `--beyond` exclude each other");
    return false;
}

bool dfl_cmd_parse(const dfl_cmd *cmd, int argc, char **argv, dfl_cmd_args *args)
{
    struct option table[N_OPTIONS + 1] = { 0 };
    char letters[2 * N_OPTIONS + 3];
    size_t n = 0, n_letters = 0;
    option_id ids[N_OPTIONS];
    char letter[] = "-x";
    int got, which = 0;

    *args = (dfl_cmd_args){ 0 };
    set_color(cmd, "auto", args);
    letters[n_letters++] = ':';
    for (option_id i = 0; i < N_OPTIONS; i++) {
        if (!(options[i].commands & cmd->bit))
            continue;
        ids[n] = i;
        table[n++] = (struct option){ options[i].name, options[i].argument ? required_argument : no_argument, NULL, 0 };
        if (!options[i].letter)
            continue;
        letters[n_letters++] = options[i].letter;
        if (options[i].argument)
            letters[n_letters++] = ':';
    }
    letters[n_letters] = '\0';
    opterr = 0;
    optind = 1;
    while ((got = getopt_long(argc, argv, letters, table, &which)) != -1) {
        if (got == '?' || got == ':') {
            letter[1] = (char)optopt; /* 0 for a long option, which is the argument before */
            return refuse_option(cmd, optopt != 0 ? letter : argv[optind - 1], got == ':');
        }
        for (size_t i = 0; got != 0 && i < n; i++)
            if (options[ids[i]].letter == got)
                which = (int)i;
        if (!apply_option(cmd, ids[which], optarg, args))
            return false;
    }
    args->files = argv + optind;
    args->n_files = (unsigned)(argc - optind);
    return args->help || (may_combine(args) && has_right_files(cmd, args));
}
