#include "import/detect.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char MAESTRO[] = "maestro", ACCELFORGE[] = "accelforge", TIMELOOP[] = "timeloop", CALCULON[] = "calculon";

/* Keys of the outermost map of a YAML or JSON file, each of one tool. */
static const struct { const char *key, *tool; } keys[] = {
    { "problem", TIMELOOP },           { "architecture", TIMELOOP },      { "mapspace", TIMELOOP },
    { "mapspace_constraints", TIMELOOP }, { "architecture_constraints", TIMELOOP }, { "constraints", TIMELOOP },
    { "compound_components", TIMELOOP },  { "ERT", TIMELOOP },            { "ERT_summary", TIMELOOP },
    { "workload", ACCELFORGE },        { "renames", ACCELFORGE },        { "attn_heads", CALCULON },
    { "tensor_par", CALCULON },        { "mem1", CALCULON },             { "mem2", CALCULON },
};

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Skips blanks and the comments of MAESTRO. */
static const char *skip_comments(const char *at)
{
    for (;;) {
        const char *end;

        while (is_blank(*at))
            at++;
        if (strncmp(at, "//", 2) == 0)
            end = strchr(at, '\n');
        else if (strncmp(at, "/*", 2) == 0)
            end = (end = strstr(at + 2, "*/")) != NULL ? end + 2 : NULL;
        else
            return at;
        at = end != NULL ? end : at + strlen(at);
    }
}

static bool begins(const char *at, const char *word)
{
    size_t n = strlen(word);

    return strncmp(at, word, n) == 0 && !in_word(at[n]);
}

/* The tool of a key, quoted or not, with a colon behind it; NULL if the key tells nothing. */
static const char *tool_of_key(const char *at)
{
    bool quoted = *at == '"' || *at == '\'';
    size_t n = 0;

    at += quoted;
    while (in_word(at[n]))
        n++;
    if (n == 0 || (quoted && at[n] != at[-1]) || at[n + quoted + strspn(at + n + quoted, " \t")] != ':')
        return NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i].key) == n && strncmp(keys[i].key, at, n) == 0)
            return keys[i].tool;
    }
    return NULL;
}

/* The tool of a text in braces, JSON for instance: of the first key of the outermost braces that tells one. */
static const char *tool_of_flow(const char *at)
{
    const char *tool = NULL;
    unsigned depth = 0;

    for (; *at != '\0' && tool == NULL; at++) {
        if (depth == 1 && (at[-1] == '{' || at[-1] == ',' || is_blank(at[-1])))
            tool = tool_of_key(at);
        depth += *at == '{' || *at == '[';
        depth -= (*at == '}' || *at == ']') && depth > 0;
        if (*at == '"') {
            for (at++; *at != '\0' && *at != '"'; at++)
                at += *at == '\\' && at[1] != '\0';
            if (*at == '\0')
                break;
        }
    }
    return tool;
}

/* The tool of a file with `arch` or `mapping`: AccelForge lists `nodes` in both. In Timeloop `arch` has `arithmetic` and
   `storage`, and `mapping` is a list of `target`s. */
static const char *tool_of_form(const char *line)
{
    bool arch = begins(line, "arch"), mapping = begins(line, "mapping");
    const char *at = line + (arch ? 4 : 7);

    if ((!arch && !mapping) || *at != ':')
        return NULL;
    for (at++; *at != '\0'; at++) {
        if (at[-1] == '\n' && in_word(*at))
            break; /* the next key at the left margin */
        if (in_word(at[-1]))
            continue;
        if (begins(at, "nodes"))
            return ACCELFORGE;
        if (begins(at, mapping ? "target" : "storage"))
            return TIMELOOP;
    }
    return NULL;
}

const char *dfl_import_detect(const char *text)
{
    const char *start, *guess = NULL;

    text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */
    start = skip_comments(text);
    if (begins(start, "Network") || begins(start, "Constant"))
        return MAESTRO;
    if (*start == '{')
        return tool_of_flow(start);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        const char *tool;

        line += *line == '\n';
        tool = tool_of_key(line);
        if (tool != NULL)
            return tool;
        guess = guess != NULL ? guess : tool_of_form(line);
    }
    return guess;
}
