#include "tests/harness/check.h"

#include <string.h>

#include "import/dfl_writer.h"
#include "import/maestro/maestro.h"

/* A mapping file, what the text must hold (parts in order), and the one diagnostic at LINE:COLUMN. */
typedef struct {
    const char *name, *text, *hw;
    dfl_code code; /* 0 = none */
    unsigned line, column;
    const char *parts[6];
} import_case;

/* Sizes stand on line 4 from column 14, directives on line 6. */
#define LAYER(type, dims, dataflow) \
    "Network n {\nLayer A {\nType: " type "\nDimensions { " dims " }\nDataflow {\n" dataflow "\n}\n}\n}\n"
#define CONV(dims, dataflow) LAYER("CONV", dims, dataflow)
#define GEMM(dims, dataflow) LAYER("GEMM", dims, dataflow)
/* One layer on one line. */
#define SHORT(name, type, dims, dataflow) \
    "Layer " name " { Type " type " Dimensions { " dims " } Dataflow { " dataflow " } }"
#define C338 "K 8, C 4, R 3, S 3, Y 10, X 12"
#define FOUR "num_pes: 4\n"

static const import_case cases[] = {
    /* text and names */
    { "one level",
      GEMM("M: 4, N: 6, K: 2", "TemporalMap(1,1) N;\nSpatialMap(1,1) M;\nTemporalMap(1,1) K;"),
      FOUR,
      0,
      0,
      0,
      { "mapping A for gemm(M = 4, N = 6, K = 2) on accelerator {\n    keep input, filter, output in "
        "dram;\n"
        "    temporal n, k;\n    keep input, filter, output in l2;\n    spatial m on a0;\n"
        "    keep input, filter, output in l1;\n}\n" } },
    { "spatial map larger than the array",
      GEMM("M 15, N 1, K 1", "SpatialMap(2,2) M"),
      FOUR,
      0,
      0,
      0,
      { "    temporal m:8;\n    keep input, filter, output in l2;\n    spatial m:2 on a0;\n"
        "    keep input, filter, output in l1;\n    temporal "
        "m;\n" } },
    { "separators mean nothing, braces may touch",
      "Network n{Layer A{Type CONV Dimensions{K:2 C:1 R:1 S:1 Y:4 X:4}Dataflow{SpatialMap 1 1 K}}}",
      NULL,
      0,
      0,
      0,
      { "conv(K = 2, C = 1, Y = 4, X = 4, R = 1, S = 1)", "    spatial k on a0;\n" } },
    { "CRLF and comments",
      "\xef\xbb\xbf/* one } */Network n { // one {\r\nLayer A {\r\nType: GEMM\r\nDimensions { M 1 N 2 K 3 }//x\r\nDataflow "
      "{\r\n}\r\n}\r\n}\r\n",
      "num_pes: 1\r\n",
      0,
      0,
      0,
      { "    keep input, filter, output in l1;\n    temporal n, k;\n" } },
    { "names",
      "Network n { Layer Conv2d-1 { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } }\n"
      "Layer Conv2d/1 { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } }\n"
      "Layer 3x3 { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } }\n"
      "Layer gemm { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } } }",
      "num_pes: 1",
      0,
      0,
      0,
      { "workload gemm_2(", "/// source_name: Conv2d-1\nmapping Conv2d_1 for gemm_2(",
        "/// source_name: Conv2d/1\nmapping Conv2d_1_2 for", "mapping _3x3 for", "mapping gemm for" } },
    { "reserved words",
      "Network n { Layer temporal { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } }\n"
      "Layer output { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } } }",
      "num_pes: 1",
      0,
      0,
      0,
      { "/// source_name: temporal\nmapping _temporal for", "mapping output for" } },
    { "names beyond ASCII",
      "Network n { Layer caf\xc3\xa9*/ { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } }\n"
      "Layer a\xff\xe2\x80\xa8z { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { } } }",
      "num_pes: 1",
      0,
      0,
      0,
      { "/// source_name: caf\xc3\xa9*/\nmapping caf____ for", "/// source_name: a????z\nmapping a____z for" } },
    { "constants",
      "Constant T 3;\nConstant D 9;\n" GEMM("M D, N 1, K 1", "TemporalMap(T,T) M;"),
      "num_pes: 1",
      0,
      0,
      0,
      { "M = 9", "    temporal m:3;\n" } },
    /* sliding windows */
    { "rows become output rows",
      CONV(C338, "SpatialMap(1,1) K; TemporalMap(Sz(R),1) Y; TemporalMap(5,3) X;"),
      FOUR,
      0,
      0,
      0,
      { "    temporal k:4, p, q:3;\n    keep input, filter, output in l2;\n"
        "    spatial k on a0;\n" } },
    { "stride",
      "Network n { Layer A { Type CONV Stride { X 2 Y 2 } Dimensions { K 1 C 1 R 3 S 3 Y 9 X 9 } Dataflow "
      "{\n"
      "SpatialMap(3,1) Y; TemporalMap(7,6) X } } }",
      FOUR,
      0,
      0,
      0,
      { "stride_y = 2, stride_x = 2", "    temporal q:3;\n    keep input, filter, output in l2;\n"
        "    spatial p on a0;\n" } },
    { "output dimensions",
      CONV("K 1, C 1, R 3, S 2, Y' 4, X' 5", "SpatialMap(2,2) Y'; TemporalMap(1,1) X';"),
      FOUR,
      0,
      0,
      0,
      { "Y = 6, X = 6", "    temporal q;\n    keep input, filter, output in l2;\n"
        "    spatial p:2 on a0;\n" } },
    { "the filter's rows and columns together",
      CONV(C338,
           "TemporalMap(3,3) Y;\nSpatialMap(3,1) X; Cluster(3,P); SpatialMap(1,1) Y; SpatialMap(1,1) R;"),
      "num_pes: 8",
      DFL_FOREIGN_GAP,
      6,
      1,
      { "// line 2: 2 of 8 processing elements are unused", "// line 6: tiles of `Y` leave gaps",
        "    temporal p, q:2;\n    keep input, filter, output in l2;\n"
        "    spatial q on a0;\n    keep input, filter, output in c1;\n    spatial r "
        "on a1;\n"
        "    keep input, filter, output in l1;\n    temporal k, c, s;\n" } },
    { "taps in folds",
      CONV("K 1 C 1 R 1 S 7 Y 1 X 9",
           "TemporalMap(7,1) X; Cluster(3,P); SpatialMap(1,1) X; SpatialMap(1,1) S; TemporalMap(7,7) S"),
      "num_pes: 3",
      0,
      0,
      0,
      { "    temporal q;\n    keep input, filter, output in l2;\n"
        "    keep input, filter, output in c1;\n    temporal s:3;\n    spatial s on "
        "a1;\n" } },
    { "diagonal over several outputs",
      CONV(C338, "Cluster(3,P);\nSpatialMap(1,1) Y; SpatialMap(1,1) R"),
      "num_pes: 3",
      DFL_FOREIGN_REARRANGED,
      7,
      1,
      { "// line 7: `Y` and `R` move together", "    temporal p;\n    spatial r on a1;\n" } },
    { "inner levels start from the outer tile",
      CONV(C338,
           "TemporalMap(4,4) K; SpatialMap(2,2) C; Cluster(2,P); SpatialMap(8,8) K; TemporalMap(1,1) C"),
      FOUR,
      0,
      0,
      0,
      { "    temporal k:4;\n    keep input, filter, output in l2;\n"
        "    spatial c:2 on a0;\n    keep input, filter, output in c1;\n    temporal "
        "c;\n"
        "    keep input, filter, output in l1;\n    temporal k, p, q, r, s;\n" } },
    { "a layer inherits the dataflow with its own sizes",
      "Network n { Layer A { Type CONV Dimensions { K 1 C 1 R 3 S 3 Y 9 X 9 } Dataflow { "
      "TemporalMap(Sz(R),1) Y SpatialMap(1,1) K } }\n"
      "Layer B { Type CONV Dimensions { K 1 C 1 R 5 S 5 Y 9 X 9 } } }",
      "num_pes: 1",
      0,
      0,
      0,
      { "mapping B for conv(K = 1, C = 1, Y = 9, X = 9, R = 5, S = 5)", "    temporal p;\n" } },
    { "batch",
      CONV("N 2, " C338, "SpatialMap(1,1) N"),
      FOUR,
      0,
      0,
      0,
      { "conv(N = 2, K = 8", "    spatial n on a0;\n" } },
    { "grouped",
      "Network n { Layer A { Type NGCONV Dimensions { G 2 K 3 C 4 R 1 S 1 Y 1 X 1 } Dataflow { "
      "SpatialMap(1,1) G } } }",
      FOUR,
      0,
      0,
      0,
      { "workload ngconv(", "ngconv(G = 2, K = 3, C = 4", "    spatial g on a0;\n" } },
    { "hardware",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M"),
      "num_pes: 8\nnoc_bw_cstr: 16\nNoC_NumHops: 2\noffchip_bw_cstr: 3\nl1_size_cstr: 5",
      0,
      0,
      0,
      { "// l1_size_cstr = 5 is omitted", "accelerator(size0 = 8)",
        "memory dram { size = unlimited; energy = 0pJ/bit; bandwidth = 3B/cycle; }",
        "multicast = a0; reduce = a0; bandwidth = 16B/cycle; latency = 2cycle; }" } },
    { "several machines",
      "Network n { Layer A { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { SpatialMap(1,1) M } }\n"
      "Layer B { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { SpatialMap(1,1) M Cluster(2,L) "
      "SpatialMap(1,1) K } }\n"
      "Layer C { Type GEMM Dimensions { M 1 N 1 K 1 } Dataflow { SpatialMap(1,1) M Cluster(4,L) "
      "SpatialMap(1,1) K } } }",
      FOUR,
      0,
      0,
      0,
      { "system accelerator_1(size0 = 4)", "system accelerator_2(size0, size1)", "on accelerator_1 {",
        "on accelerator_2(size0 = 2, size1 = 2) {", "on accelerator_2(size0 = 1, size1 = 4) {" } },
    /* losses */
    { "overlap",
      GEMM("M 8, N 1, K 8", "SpatialMap(1,1) M;\nTemporalMap(4,2) K"),
      FOUR,
      DFL_FOREIGN_OVERLAP,
      7,
      1,
      { "// line 7: tiles of `K` overlap, so work would be done twice: imported as tiles of 2\n",
        "    temporal m:4, k:2;\n" } },
    { "overlapping outputs",
      CONV(C338, "SpatialMap(1,1) K;\n  TemporalMap(5,1) Y"),
      FOUR,
      DFL_FOREIGN_OVERLAP,
      7,
      3,
      { "temporal k:4, p;" } },
    { "gap",
      GEMM("M 8, N 1, K 8", "SpatialMap(1,1) M;\nTemporalMap(2,4) K"),
      FOUR,
      DFL_FOREIGN_GAP,
      7,
      1,
      { "    temporal m:4, k:2;\n" } },
    { "gap between outputs",
      CONV(C338, "SpatialMap(1,1) K;\nTemporalMap(8,8) X"),
      FOUR,
      DFL_FOREIGN_GAP,
      7,
      1,
      { "temporal k:4, q:6;" } },
    { "a map that covers everything has no offset",
      GEMM("M 4, N 4, K 4", "SpatialMap(1,1) M; TemporalMap(5,1) N"),
      FOUR,
      0,
      0,
      0,
      { "    spatial m on a0;\n    keep input, filter, output in l1;\n    temporal n, k;\n" } },
    { "rows left over",
      CONV("K 1 C 1 R 2 S 1 Y 4 X 1 } Stride { Y 3", "SpatialMap(1,1) K"),
      "num_pes: 1",
      DFL_FOREIGN_UNTOUCHED,
      4,
      30,
      { "// line 4: 2 of 4 input rows are touched by no output" } },
    { "too few rows for an output",
      CONV(C338, "SpatialMap(1,1) K;\nTemporalMap(2,1) Y"),
      FOUR,
      DFL_FOREIGN_REARRANGED,
      7,
      1,
      { "temporal k:4, p;" } },
    { "no spatial map",
      GEMM("M 4, N 1, K 1", "TemporalMap(1,1) M\nCluster(2,P)\nSpatialMap(1,1) K"),
      "num_pes: 2",
      0,
      0,
      0,
      { "    temporal m;\n" } },
    { "no spatial map, idle elements",
      GEMM("M 4, N 1, K 1", "SpatialMap(1,1) M\nCluster(2,P)\nTemporalMap(1,1) K"),
      FOUR,
      DFL_FOREIGN_IGNORED,
      7,
      1,
      { "// line 7: this cluster level has no spatial map: only one of its 2 elements works" } },
    { "depthwise layers have no K",
      "Network n { Layer A { Type DSCONV Dimensions { K 4 C 4 R 1 S 1 Y 1 X 1 }\nDataflow { "
      "TemporalMap(1,1) K SpatialMap(1,1) C } } }",
      FOUR,
      DFL_FOREIGN_IGNORED,
      1,
      48,
      { "dsconv(C = 4", "    spatial c on a0;\n" } },
    { "transposed",
      "Network n { Layer A { Type\nTRCONV Dimensions { K 4 C 4 R 1 S 1 Y 1 X 1 }\nDataflow { "
      "SpatialMap(1,1) K } } }",
      FOUR,
      DFL_FOREIGN_REARRANGED,
      2,
      1,
      { "for conv(" } },
    { "unknown hardware key",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M"),
      "num_pes: 1\nturbo: 3",
      DFL_FOREIGN_IGNORED,
      2,
      1,
      { "// hw.m line 2: `turbo`" } },
    { "dimension that the layer lacks",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M\nTemporalMap(1,1) C"),
      FOUR,
      DFL_FOREIGN_IGNORED,
      7,
      1,
      { "mapping A" } },
    { "padding",
      "Network n { Layer A { Type CONV Dimensions { K 4 C 4 R 3 S 3 Y 8 X 8 } Dataflow { SpatialMap(1,1) K "
      "} }\n"
      "Layer B { Type CONV Dimensions { K 4 C 4 R 1 S 1 Y 8 X 8 } } }",
      FOUR,
      DFL_FOREIGN_NO_PADDING,
      2,
      50,
      { "// line 2: 8 input rows, but the previous layer produces 6" } },
    { "accelerator block",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M") "Accelerator { PE { NumPEs: 128 } }",
      FOUR,
      DFL_FOREIGN_IGNORED,
      10,
      1,
      { "mapping A" } },
    { "second map that changes nothing",
      CONV(C338, "SpatialMap(1,1) S; TemporalMap(Sz(S),Sz(S)) S"),
      FOUR,
      0,
      0,
      0,
      { "    spatial s on a0;\n" } },
    /* errors */
    { "empty", "", NULL, DFL_FOREIGN_SYNTAX, 1, 1, { NULL } },
    { "no layer", "Network n {\n}", NULL, DFL_FOREIGN_SYNTAX, 2, 2, { NULL } },
    { "not a mapping", "hello", NULL, DFL_FOREIGN_SYNTAX, 1, 1, { NULL } },
    { "missing brace", "Network n {\nLayer A {\nType: GEMM\n", NULL, DFL_FOREIGN_SYNTAX, 4, 1, { NULL } },
    { "unknown directive",
      GEMM("M 1, N 1, K 1", "DiagonalMap(1,1) M"),
      NULL,
      DFL_FOREIGN_SYNTAX,
      6,
      1,
      { NULL } },
    { "unknown dimension",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) Q"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      6,
      17,
      { NULL } },
    { "unknown constant",
      GEMM("M 1, N 1, K 1", "SpatialMap(T,1) M"),
      NULL,
      DFL_FOREIGN_SYNTAX,
      6,
      12,
      { NULL } },
    { "unknown type",
      "Network n { Layer A { Type: POOL } }",
      NULL,
      DFL_FOREIGN_LAYER_TYPE,
      1,
      29,
      { NULL } },
    { "missing dimension",
      CONV("K 1, R 1, S 1, Y 1, X 1", "SpatialMap(1,1) K"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      3,
      7,
      { NULL } },
    { "Sz of a dimension that is not there",
      GEMM("M 1, N 1, K 1", "SpatialMap(Sz(R),1) M"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      6,
      12,
      { NULL } },
    { "filter larger than the input",
      CONV("K 1, C 1, R 3, S 3, Y 2, X 9", "SpatialMap(1,1) K"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      4,
      34,
      { NULL } },
    { "zero", GEMM("M 0, N 1, K 1", "SpatialMap(1,1) M"), NULL, DFL_FOREIGN_RANGE, 4, 16, { NULL } },
    { "400 digits",
      GEMM("M 1000000000000000000000000000000000000000000000000000000000000, N 1, K 1", ""),
      NULL,
      DFL_FOREIGN_RANGE,
      4,
      16,
      { NULL } },
    { "large, and counted",
      GEMM("M 2147483647, N 2147483647, K 2147483647", "SpatialMap(1,1) M;"),
      NULL,
      0,
      0,
      0,
      { "M = 2147483647" } },
    { "more than 128 bits can count",
      "Network n { Layer A { Type CONV Stride { X 2147483647, Y 2147483647 }\n"
      "Dimensions { K 2147483647, C 2147483647, R 2147483647, S 2147483647, Y' 9, X' 9 } Dataflow { } } }",
      NULL,
      DFL_FOREIGN_RANGE,
      1,
      19,
      { NULL } },
    { "negative", GEMM("M 1, N 1, K 1", "SpatialMap(-1,1) M"), NULL, DFL_FOREIGN_SYNTAX, 6, 12, { NULL } },
    { "two values",
      GEMM("M 1, M 2, N 1, K 1", "SpatialMap(1,1) M"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      4,
      19,
      { NULL } },
    { "mapped twice",
      GEMM("M 9, N 1, K 1", "SpatialMap(4,4) M\nTemporalMap(2,2) M"),
      NULL,
      DFL_FOREIGN_DIMENSION,
      7,
      18,
      { NULL } },
    { "double map",
      GEMM("M 9, N 9, K 1", "SpatialMap(1,1) M\nSpatialMap(1,1) N"),
      NULL,
      DFL_FOREIGN_DOUBLE_MAP,
      7,
      1,
      { NULL } },
    { "rows with the other taps",
      CONV(C338, "SpatialMap(1,1) X\nSpatialMap(1,1) R"),
      NULL,
      DFL_FOREIGN_DOUBLE_MAP,
      7,
      1,
      { NULL } },
    { "diagonal with two speeds",
      CONV(C338, "SpatialMap(1,1) Y\nSpatialMap(1,2) R"),
      NULL,
      DFL_FOREIGN_DOUBLE_MAP,
      7,
      1,
      { NULL } },
    { "three spatial maps",
      GEMM("M 9, N 9, K 9", "SpatialMap(1,1) M\nSpatialMap(1,1) N\nSpatialMap(1,1) K"),
      NULL,
      DFL_FOREIGN_DOUBLE_MAP,
      8,
      1,
      { NULL } },
    { "cluster too large",
      GEMM("M 9, N 9, K 9", "SpatialMap(1,1) M\nCluster(5,P)\nSpatialMap(1,1) N"),
      FOUR,
      DFL_FOREIGN_TOO_FEW_ELEMENTS,
      7,
      1,
      { NULL } },
    { "nothing to inherit",
      "Network n {\nLayer A { Type GEMM Dimensions { M 1 N 1 K 1 } } }",
      NULL,
      DFL_FOREIGN_SYNTAX,
      2,
      7,
      { NULL } },
    { "hardware without a number",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M"),
      "num_pes: many",
      DFL_FOREIGN_SYNTAX,
      1,
      10,
      { NULL } },
    { "hardware key twice",
      GEMM("M 1, N 1, K 1", "SpatialMap(1,1) M"),
      "num_pes: 1\nnum_pes: 2",
      DFL_FOREIGN_SYNTAX,
      2,
      1,
      { NULL } },
};

static void imports(void **state)
{
    const import_case *c = *state;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_source_map *sources = dfl_source_map_new(arena);
    const dfl_source *mapping = dfl_source_add(sources, "dir/map.m", c->text, strlen(c->text));
    const dfl_source *hw = c->hw != NULL ? dfl_source_add(sources, "dir/hw.m", c->hw, strlen(c->hw)) : NULL;
    dfl_sink *sink = dfl_sink_new(arena, sources);
    const char *text = dfl_import_maestro(arena, sink, sources, mapping, hw), *at = text;

    assert_int_equal(dfl_sink_count(sink), c->code != DFL_CODE_NONE);
    if (c->code != DFL_CODE_NONE) {
        const dfl_diag *d = dfl_sink_at(sink, 0);
        dfl_place place = dfl_place_of(sources, d->span.start);

        assert_int_equal(d->code, c->code);
        assert_int_equal(place.line, c->line);
        assert_int_equal(place.column, c->column);
    }
    assert_int_equal(text == NULL, dfl_sink_errors(sink) > 0);
    assert_int_equal(text == NULL, c->parts[0] == NULL);
    if (text != NULL)
        assert_string_equal(dfl_writer_layout(arena, sink, text), text);
    for (size_t i = 0; i < sizeof c->parts / sizeof c->parts[0] && c->parts[i] != NULL; i++) {
        const char *found = strstr(at, c->parts[i]);

        if (found == NULL)
            fail_msg("not found in order: %s\n%s", c->parts[i], text);
        at = found + 1;
    }
    dfl_arena_free(arena);
}

int main(void)
{
    return CHECK_TABLE("import.maestro", cases, imports);
}
