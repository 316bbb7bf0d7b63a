/* Output of the formatter for single texts. Formatting a result again must not change it, and the laws must hold. */
#include "tests/unit/syntax/parsed.h"

#include "fmt/fmt.h"

typedef struct {
    const char *name, *text, *want;
} fmt_case;

static const fmt_case cases[] = {
    { "nothing", "", "" },
    { "only blanks", " \n\t\r\n", "" },
    { "only a comment", "\n\n// c  \n\n", "// c\n" },
    { "edition first", "dfl   1 ;let a=1;", "dfl 1;\nlet a = 1;\n" },
    { "no line end at the end", "let a = 1;", "let a = 1;\n" },
    { "line ends of another system", "let a = 1;\r\n\r\n\r\nlet b = 2;\r\n", "let a = 1;\n\nlet b = 2;\n" },
    { "one statement a line", "let a = 1; let b = 2;", "let a = 1;\nlet b = 2;\n" },
    { "at most one blank line", "let a = 1;\n\n\n\nlet b = 2;\n", "let a = 1;\n\nlet b = 2;\n" },
    { "no blank line is added", "let a = 1;\nlet b = 2;\n", "let a = 1;\nlet b = 2;\n" },

    /* blanks */
    { "operators keep the author's choice", "let a = 2*b + c /d-e;", "let a = 2*b + c / d-e;\n" },
    { "comparisons are spaced", "require a<=b&&c>d;", "require a <= b && c > d;\n" },
    { "sign", "let a = - b*-c;let d = (-1);", "let a = -b*-c;\nlet d = (-1);\n" },
    { "sign behind a word that is also a name", "sweep s for w on m { over r in 0..8 step -1; }",
      "sweep s for w on m { over r in 0..8 step -1; }\n" },
    { "difference of a word that is also a name", "let a = step -1;", "let a = step - 1;\n" },
    { "calls", "let a = floor ( ( b+c ) / 2 );", "let a = floor((b+c) / 2);\n" },
    { "parenthesis behind a word", "workload w { repeat(n) as l { O[a] = I[a]; } }",
      "workload w { repeat (n) as l { O[a] = I[a]; } }\n" },
    { "call of a name that is also a word", "let a = step (1);", "let a = step(1);\n" },
    { "named arguments", "mapping a=b(c=1,d = 2)for e( f=3 )on g;", "mapping a = b(c = 1, d = 2) for e(f = 3) on g;\n" },
    { "indices", "workload w { O[ a,b:B ]:i8+=I [a+1 , b]; }", "workload w { O[a, b: B] : i8 += I[a+1, b]; }\n" },
    { "named reduction", "workload w { X[b] :fp32 max =S[b,n]; }", "workload w { X[b] : fp32 max= S[b, n]; }\n" },
    { "loops", "mapping m for w on s { temporal r : 4 , s / 2,t ; spatial a / (b / 2) on x , c/ 2 on y for Z; }",
      "mapping m for w on s { temporal r:4, s/2, t; spatial a/(b / 2) on x, c/2 on y for Z; }\n" },
    { "holes", "mapping m for w on s { temporal ? , r : ? in { 8,16 } ; fuse ? ; ... ; }",
      "mapping m for w on s { temporal ?, r:? in {8, 16}; fuse ?; ...; }\n" },
    { "set as an argument", "system s { network n = fat_tree( 3,oversubscription={ 1,2 } ){ } }",
      "system s { network n = fat_tree(3, oversubscription = {1, 2}) { } }\n" },
    { "split home", "mapping m for w on s { keep A,B in d split r / 8 on n , q:4 on g ; keep split in d; }",
      "mapping m for w on s { keep A, B in d split r/8 on n, q:4 on g; keep split in d; }\n" },
    { "pipeline schedule", "mapping m for w on s { spatial l/4 on n pipeline ( schedule=gpipe ) ; }",
      "mapping m for w on s { spatial l/4 on n pipeline(schedule = gpipe); }\n" },
    { "ranges and sets", "sweep s for w on m { over a in 0 .. 8 times 2 , b in { 1KiB ,2KiB } ; }",
      "sweep s for w on m { over a in 0..8 times 2, b in {1KiB, 2KiB}; }\n" },
    { "array axes", "system s { array row [ 2 ] , col[3] over n { } }", "system s { array row[2], col[3] over n { } }\n" },
    { "paths", "let a = b . c . d;", "let a = b.c.d;\n" },
    { "data type with arguments", "workload w : bits ( 3 ) { rank a=1; }", "workload w : bits(3) { rank a = 1; }\n" },

    /* braces */
    { "short braces stay", "system s { memory d { size = 1GB; } }", "system s { memory d { size = 1GB; } }\n" },
    { "long braces stay", "system s {\nmemory d {\nsize = 1GB;\n}\n}\n",
      "system s {\n    memory d {\n        size = 1GB;\n    }\n}\n" },
    { "short inside long", "system s {\n  memory  d { size = 1GB;bandwidth = 1GB/s; }\n}\n",
      "system s {\n    memory d { size = 1GB; bandwidth = 1GB/s; }\n}\n" },
    { "short braces that do not fit",
      "system s { memory d { size = 1GB; bandwidth = 128GB/s; energy = 7pJ/bit; latency = 100ns; buffers = 2; ports = shared; } }",
      "system s {\n"
      "    memory d {\n"
      "        size = 1GB;\n"
      "        bandwidth = 128GB/s;\n"
      "        energy = 7pJ/bit;\n"
      "        latency = 100ns;\n"
      "        buffers = 2;\n"
      "        ports = shared;\n"
      "    }\n"
      "}\n" },
    { "empty braces", "system s {\n\n}\n", "system s { }\n" },
    { "no blank lines at the edges of braces", "system s {\n\n  clock = 1GHz;\n\n}\n", "system s {\n    clock = 1GHz;\n}\n" },
    { "else", "workload w {\nif a {\nlet b = 1;\n}\nelse\n{\nlet b = 2;\n}\n}\n",
      "workload w {\n    if a {\n        let b = 1;\n    } else {\n        let b = 2;\n    }\n}\n" },
    { "short else", "workload w {\nif a { let b = 1; } else { let b = 2; }\n}\n",
      "workload w {\n    if a { let b = 1; } else { let b = 2; }\n}\n" },

    /* comments */
    { "comment above", "// a\nlet a = 1;\n\n/* b\n   c */\nlet b = 2;\n",
      "// a\nlet a = 1;\n\n/* b\n   c */\nlet b = 2;\n" },
    { "comment behind", "let a = 1;// a\nlet b = 2; /* b */ let c = 3;\n",
      "let a = 1;  // a\nlet b = 2;  /* b */\nlet c = 3;\n" },
    { "two comments behind", "let a = 1; /* b */ // c\n/* d */ /* e */\nlet f = 2;/* g *//* h */",
      "let a = 1;  /* b */ // c\n/* d */\n/* e */\nlet f = 2;  /* g */ /* h */\n" },
    { "comments behind neighbours share a column", "let a = 1; // a\nlet long = 2; // b\n\nlet c = 3; // c\n",
      "let a = 1;     // a\nlet long = 2;  // b\n\nlet c = 3;  // c\n" },
    { "comments in braces", "system s { // a\n// b\n\n// c\nclock = 1GHz; // d\n// e\n} // f\n",
      "system s {  // a\n    // b\n\n    // c\n    clock = 1GHz;  // d\n    // e\n}  // f\n" },
    { "comment keeps short braces short", "system s { /* a */ clock = 1GHz; }", "system s { /* a */ clock = 1GHz; }\n" },
    { "only a comment in braces", "system s {\n// a\n}\n", "system s {\n    // a\n}\n" },
    { "comment between items", "mapping m for w on s {\ntemporal a, // first\nb;\n}\n",
      "mapping m for w on s {\n    temporal a, // first\n        b;\n}\n" },
    { "comment in an expression", "let a = b /* c */+ /* d */ e;", "let a = b /* c */ + /* d */ e;\n" },
    { "comment before else", "workload w {\nif a {\nlet b = 1;\n} // c\nelse {\nlet b = 2;\n}\n}\n",
      "workload w {\n    if a {\n        let b = 1;\n    } // c\n            else {\n        let b = 2;\n    }\n}\n" },
    { "comment at the end", "let a = 1;\n\n\n// the end", "let a = 1;\n\n// the end\n" },
    { "doc comment", "/// a\n/// b\nlet a = 1;\n", "/// a\n/// b\nlet a = 1;\n" },
    { "line ends inside a comment", "/* a\r\nb */\r\nlet a = 1;\r\n", "/* a\nb */\nlet a = 1;\n" },

    /* long lines */
    { "a list breaks at its commas",
      "mapping m for w on s {\nkeep aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccc, dddddddddddddddddddd, eeeee in dram;\n}\n",
      "mapping m for w on s {\n"
      "    keep aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccc, dddddddddddddddddddd,\n"
      "        eeeee in dram;\n"
      "}\n" },
    { "outer commas first",
      "mapping m = t(aaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbb = 2) for w(cccccccccccc = 1, dddddddddddd = 2) on s(eeeeeeeeeeeeeee = 3);",
      "mapping m = t(aaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbb = 2)\n"
      "    for w(cccccccccccc = 1, dddddddddddd = 2) on s(eeeeeeeeeeeeeee = 3);\n" },
    { "a head that is too long",
      "workload w(aaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbb = 2, cccccccccccccccccccccc = 3, dddddddddd = 4) {\nrank a = 1;\n}\n",
      "workload w(aaaaaaaaaaaaaaaaaaaaaa = 1, bbbbbbbbbbbbbbbbbbbbbb = 2, cccccccccccccccccccccc = 3,\n"
      "        dddddddddd = 4) {\n"
      "    rank a = 1;\n"
      "}\n" },
    { "a sum breaks before its operator",
      "let a = bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + cccccccccccccccccccccccccccccccccccc + dddddddddddddddddddddddd;",
      "let a = bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + cccccccccccccccccccccccccccccccccccc\n"
      "    + dddddddddddddddddddddddd;\n" },
    { "a string that does not fit",
      "system s {\nsource = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";\n}\n",
      "system s {\n"
      "    source =\n"
      "        \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";\n"
      "}\n" },
    { "columns are characters",
      "option source = \"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\";",
      "option source = \"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\";\n" },
};

static void formats(void **state)
{
    const fmt_case *c = *state;
    parsed p;
    size_t len, again_len;
    const char *text, *again;
    dfl_syntax second;

    parsed_open(&p, c->text, strlen(c->text));
    if (!p.syntax.ok)
        fail_msg("%s", parsed_reports(&p));
    text = dfl_fmt(p.arena, &p.syntax, &len);
    assert_string_equal(text, c->want);
    assert_int_equal(len, strlen(text));
    second = parsed_more(&p, "second", text, len);
    assert_ptr_equal(dfl_fmt_broken_law(p.arena, p.names, &p.syntax, &second), NULL);
    again = dfl_fmt(p.arena, &second, &again_len);
    assert_string_equal(again, text);
    parsed_close(&p);
}

int main(void)
{
    return CHECK_TABLE("fmt", cases, formats);
}
