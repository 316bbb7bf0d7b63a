/* The laws of the formatter, checked on every .dfl file of the tree that parses; tests that each law detects violations. */
#include "tests/unit/syntax/parsed.h"

#include <stdio.h>
#include <stdlib.h>

#include "fmt/fmt.h"

typedef struct {
    const char *name, *before, *after, *law;
} law_case;

static const law_case cases[] = {
    { "blanks and line ends may change", "let a=1;// c \nlet b=2;", "let a = 1; // c\n\nlet b = 2;\n", NULL },
    { "a token changed", "let a = 1;", "let a = 2;", "other tokens" },
    { "a token went away", "let a = 1; let b = 2;", "let a = 1;", "other tokens" },
    { "a comment changed", "let a = 1; // b", "let a = 1; // c", "other comments" },
    { "a comment went away", "let a = 1; // b", "let a = 1;", "other comments" },
    { "a comment came", "let a = 1;", "let a = 1; // b", "other comments" },
    { "a comment moved", "let a = 1; // b\nlet c = 2;", "let a = 1;\nlet c = 2; // b", "other comments" },
    { "another tree", "/// a\nlet a = 1;", "\n  /// a\n\nlet a = 1;", NULL },
    { "no longer the language", "let a = 1;", "let a = ;", "the formatted text has errors" },
};

static void laws_notice(void **state)
{
    const law_case *c = *state;
    parsed p;
    dfl_syntax after;
    const char *law;

    parsed_open(&p, c->before, strlen(c->before));
    assert_true(p.syntax.ok);
    after = parsed_more(&p, "after", c->after, strlen(c->after));
    law = dfl_fmt_broken_law(p.arena, p.names, &p.syntax, &after);
    if (c->law == NULL)
        assert_ptr_equal(law, NULL);
    else
        assert_string_equal(law, c->law);
    parsed_close(&p);
}

/* Files with intended errors are skipped. */
static void check_file(void *context, const char *path)
{
    size_t *checked = context;
    size_t len, first, second;
    char *text = check_read_file(path, &len);
    parsed p;

    if (text == NULL)
        fail_msg("%s cannot be read", path);
    parsed_open(&p, text, len);
    if (p.syntax.ok) {
        const char *once = dfl_fmt(p.arena, &p.syntax, &first), *twice, *law;
        dfl_syntax after = parsed_more(&p, "formatted", once, first);

        law = dfl_fmt_broken_law(p.arena, p.names, &p.syntax, &after);
        if (law != NULL)
            fail_msg("%s: %s", path, law);
        twice = dfl_fmt(p.arena, &after, &second);
        if (first != second || memcmp(once, twice, first) != 0)
            fail_msg("%s: formatting again changes it", path);
    }
    *checked += p.syntax.ok;
    parsed_close(&p);
    free(text);
}

static void laws_hold_in_the_tree(void **state)
{
    static const char *const directories[] = { "examples", "stdlib", "tests" };
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        check_every_file(directories[i], check_file, &n);
    printf("# %zu files\n", n);
    assert_true(n >= 40);
}

int main(void)
{
    const struct CMUnitTest tree[] = { cmocka_unit_test(laws_hold_in_the_tree) };
    int failed = CHECK_TABLE("fmt.laws", cases, laws_notice);

    return CHECK_GROUP("fmt.tree", tree) + failed;
}
