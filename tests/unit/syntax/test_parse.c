/* Trees of the grammar, one row per construct. Each row is also read with a comment and a line end before every token,
   which must not change the tree, and with each of its `;` removed in turn. */
#include "tests/unit/syntax/tree.h"

typedef struct {
    const char *name, *text, *tree;
} parse_case;

static const parse_case cases[] = {
    { "nothing", "", "" },
    { "a comment alone", "// a\n/* b */", "" },
    { "edition", "dfl 1;", "edition (value: number 1)" },
    { "option", "option overlap = perfect;", "option name=overlap (value: path path=perfect)" },
    { "import", "import a;", "import path=a" },
    { "import of a path", "import std.chips.h100;", "import path=std.chips.h100" },
    { "import under a name", "import a.b as c;", "import as=c path=a.b" },
    { "import of a file", "import \"a.dfl\";", "import (value: string \"a.dfl\")" },
    { "param", "param a = 1;", "param name=a (value: number 1)" },
    { "param in a range", "param a = 4 in 1..8;",
      "param name=a (value: number 4) (in: range (left: number 1) (right: number 8))" },
    { "param in a set", "param a = 4 in {1, 4};",
      "param name=a (value: number 4) (in: set (argument: number 1) (argument: number 4))" },
    { "let", "let a = 1;", "let name=a (value: number 1)" },
    { "op", "op f(x) = 2FLOP;", "op name=f parameter=x (value: number 2FLOP)" },
    { "op with parameters", "op f(x, y, z) = 3;", "op name=f parameter=x parameter=y parameter=z (value: number 3)" },
    { "op over a rank", "op f(x) over k = k;", "op name=f over=k parameter=x (value: path path=k)" },
    { "several declarations", "let a = 1; let b = 2; let c = 3;",
      "let name=a (value: number 1) | let name=b (value: number 2) | let name=c (value: number 3)" },
    { "numbers", "let a = 1; let b = 1_0.5e3; let c = 4GB/s; let d = 85%;",
      "let name=a (value: number 1) | let name=b (value: number 1_0.5e3) | let name=c (value: number 4GB/s) | let "
      "name=d (value: number 85%)" },
    { "string", "let a = \"b c\";", "let name=a (value: string \"b c\")" },
    { "string with escapes", "let a = \"b\\\"c\\\\d\\n\\t\";", "let name=a (value: string \"b\\\"c\\\\d\\x0a\\x09\")" },
    { "path", "let a = b.c.d;", "let name=a (value: path path=b.c.d)" },
    { "call", "let a = f();", "let name=a (value: call path=f)" },
    { "call with arguments", "let a = f(b, c = 2, g(3));",
      "let name=a (value: call path=f (argument: path path=b) (argument: number label=c 2) (argument: call path=g "
      "(argument: number 3)))" },
    { "call of a path", "let a = b.f(1);", "let name=a (value: call path=b.f (argument: number 1))" },
    { "access", "let a = T[];", "let name=a (value: access path=T)" },
    { "access with dimensions", "let a = T[i, j + 1, c: B];",
      "let name=a (value: access path=T (argument: path path=i) (argument: add (left: path path=j) (right: number "
      "1)) (argument: path label=c path=B))" },
    { "access of a path", "let a = b.T[i];", "let name=a (value: access path=b.T (argument: path path=i))" },
    { "gather", "let a = gather T[i] by I[j];",
      "let name=a (value: gather (left: access path=T (argument: path path=i)) (right: access path=I (argument: "
      "path path=j)))" },
    { "parentheses", "let a = ((1));", "let name=a (value: number 1)" },
    { "sign", "let a = -b;", "let name=a (value: negate (left: path path=b))" },
    { "operations", "let a = b + c - d * e / f;",
      "let name=a (value: subtract (left: add (left: path path=b) (right: path path=c)) (right: divide (left: "
      "multiply (left: path path=d) (right: path path=e)) (right: path path=f)))" },
    { "comparisons", "let a = b < c && d > e || f <= g && h >= i || j == k && l != m;",
      "let name=a (value: or (left: or (left: and (left: less (left: path path=b) (right: path path=c)) (right: "
      "greater (left: path path=d) (right: path path=e))) (right: and (left: at-most (left: path path=f) (right: "
      "path path=g)) (right: at-least (left: path path=h) (right: path path=i)))) (right: and (left: equal (left: "
      "path path=j) (right: path path=k)) (right: not-equal (left: path path=l) (right: path path=m))))" },
    { "empty workload", "workload w { }", "workload name=w body" },
    { "workload with parameters", "workload w(a, b = 2) { }",
      "workload name=w body (parameter: parameter name=a) (parameter: parameter name=b (value: number 2))" },
    { "workload with empty parentheses", "workload w() { }", "workload name=w body" },
    { "workload with a type", "workload w : i8 { }", "workload name=w body (type: ref path=i8)" },
    { "workload with a type of parameters", "workload w(a) : bits(3) { }",
      "workload name=w body (parameter: parameter name=a) (type: ref path=bits arguments (argument: number 3))" },
    { "derived workload", "workload w = v(a = 1);",
      "workload name=w (ref: ref path=v arguments (argument: number label=a 1))" },
    { "derived workload with parameters", "workload w(n) = v(n);",
      "workload name=w (parameter: parameter name=n) (ref: ref path=v arguments (argument: path path=n))" },
    { "derived workload without arguments", "workload w = v;", "workload name=w (ref: ref path=v)" },
    { "ranks", "workload w { rank m = 1, n = 2 * a; }",
      "workload name=w body (body: ranks (item: rank name=m (value: number 1)) (item: rank name=n (value: multiply "
      "(left: number 2) (right: path path=a))))" },
    { "tensors", "workload w { input A[m, n]; weight B[m], C[]; output D[m] : fp16; state E[e: m] : bits(2); }",
      "workload name=w body (body: tensors role=input (item: tensor path=A (argument: path path=m) (argument: path "
      "path=n))) (body: tensors role=weight (item: tensor path=B (argument: path path=m)) (item: tensor path=C)) "
      "(body: tensors role=output (item: tensor path=D (type: ref path=fp16) (argument: path path=m))) (body: "
      "tensors role=state (item: tensor path=E (type: ref path=bits arguments (argument: number 2)) (argument: "
      "path label=e path=m)))" },
    { "einsum", "workload w { Z[m] = A[m]; }",
      "workload name=w body (body: einsum assign== (target: tensor path=Z (argument: path path=m)) (value: access "
      "path=A (argument: path path=m)))" },
    { "einsum with a role", "workload w { output Z[m] = A[m]; }",
      "workload name=w body (body: einsum role=output assign== (target: tensor path=Z (argument: path path=m)) "
      "(value: access path=A (argument: path path=m)))" },
    { "einsum with a type", "workload w { state Z[m] : i8 += A[m, k]; }",
      "workload name=w body (body: einsum role=state assign=+= (target: tensor path=Z (type: ref path=i8) "
      "(argument: path path=m)) (value: access path=A (argument: path path=m) (argument: path path=k)))" },
    { "reduction", "workload w { Z[m] += A[m, k] * B[k]; }",
      "workload name=w body (body: einsum assign=+= (target: tensor path=Z (argument: path path=m)) (value: "
      "multiply (left: access path=A (argument: path path=m) (argument: path path=k)) (right: access path=B "
      "(argument: path path=k))))" },
    { "named reduction", "workload w { Z[m] max= A[m, k]; }",
      "workload name=w body (body: einsum assign=named assign-name=max (target: tensor path=Z (argument: path "
      "path=m)) (value: access path=A (argument: path path=m) (argument: path path=k)))" },
    { "reduction of a parameterised op", "workload w { Z[m] = f(A[m]) over k; }",
      "workload name=w body (body: einsum over=k assign== (target: tensor path=Z (argument: path path=m)) (value: "
      "call path=f (argument: access path=A (argument: path path=m))))" },
    { "einsum with conditions", "workload w { Z[m] += A[m, k] where k <= m, k > 0; }",
      "workload name=w body (body: einsum assign=+= (target: tensor path=Z (argument: path path=m)) (value: access "
      "path=A (argument: path path=m) (argument: path path=k)) (where: at-most (left: path path=k) (right: path "
      "path=m)) (where: greater (left: path path=k) (right: number 0)))" },
    { "einsum with both", "workload w { Z[m] = f(A[m, k]) over k where k < m; }",
      "workload name=w body (body: einsum over=k assign== (target: tensor path=Z (argument: path path=m)) (value: "
      "call path=f (argument: access path=A (argument: path path=m) (argument: path path=k))) (where: less (left: "
      "path path=k) (right: path path=m)))" },
    { "scalar", "workload w { Z[] += A[m]; }",
      "workload name=w body (body: einsum assign=+= (target: tensor path=Z) (value: access path=A (argument: path "
      "path=m)))" },
    { "shifted and strided", "workload w { Z[p] += A[2 * p + r] * W[r]; }",
      "workload name=w body (body: einsum assign=+= (target: tensor path=Z (argument: path path=p)) (value: "
      "multiply (left: access path=A (argument: add (left: multiply (left: number 2) (right: path path=p)) (right: "
      "path path=r))) (right: access path=W (argument: path path=r))))" },
    { "gathered", "workload w { Z[m, e] = gather T[v, e] by I[m]; }",
      "workload name=w body (body: einsum assign== (target: tensor path=Z (argument: path path=m) (argument: path "
      "path=e)) (value: gather (left: access path=T (argument: path path=v) (argument: path path=e)) (right: "
      "access path=I (argument: path path=m))))" },
    { "einsum into a path", "workload w { a.Z[m] = A[m]; }",
      "workload name=w body (body: einsum assign== (target: tensor path=a.Z (argument: path path=m)) (value: "
      "access path=A (argument: path path=m)))" },
    { "check in a workload", "workload w { expect macs == 3; }",
      "workload name=w body (body: check check=expect (value: equal (left: path path=macs) (right: number 3)))" },
    { "apply", "workload w { apply v as x; }", "workload name=w body (body: apply name=x (ref: ref path=v))" },
    { "apply with arguments", "workload w { apply v(n = 2) as x; }",
      "workload name=w body (body: apply name=x (ref: ref path=v arguments (argument: number label=n 2)))" },
    { "apply with bindings", "workload w { apply v as x { A = B; c.D = e.F, g; } }",
      "workload name=w body (body: apply name=x (ref: ref path=v) (bind: bind path=A (argument: path path=B)) "
      "(bind: bind path=c.D (argument: path path=e.F) (argument: path path=g)))" },
    { "apply with empty braces", "workload w { apply v as x { } }",
      "workload name=w body (body: apply name=x (ref: ref path=v))" },
    { "repeat", "workload w { repeat n as l { Z[m] = A[m]; } }",
      "workload name=w body (body: repeat name=l body (value: path path=n) (body: einsum assign== (target: tensor "
      "path=Z (argument: path path=m)) (value: access path=A (argument: path path=m))))" },
    { "repeat carrying", "workload w { repeat 2 as l carrying X = Y, a.B = c { } }",
      "workload name=w body (body: repeat name=l body (value: number 2) (bind: bind path=X (argument: path "
      "path=Y)) (bind: bind path=a.B (argument: path path=c)))" },
    { "for over a range", "workload w { for k in 0..n { } }",
      "workload name=w body (body: for name=k body (in: range (left: number 0) (right: path path=n)))" },
    { "for over a set", "workload w { for k in {1, 3} { rank m = k; } }",
      "workload name=w body (body: for name=k body (in: set (argument: number 1) (argument: number 3)) (body: "
      "ranks (item: rank name=m (value: path path=k))))" },
    { "for by steps", "workload w { for k in 0..n step 2 { } }",
      "workload name=w body (body: for name=k body (in: range (left: number 0) (right: path path=n) (step: number "
      "2)))" },
    { "for by factors", "workload w { for k in 1..n times 2 { } }",
      "workload name=w body (body: for name=k body (in: range times (left: number 1) (right: path path=n) (step: "
      "number 2)))" },
    { "if", "workload w { if a { } }", "workload name=w body (body: if body (value: path path=a))" },
    { "if else", "workload w { if a { rank m = 1; } else { rank m = 2; } }",
      "workload name=w body (body: if body (value: path path=a) (body: ranks (item: rank name=m (value: number "
      "1))) (else: ranks (item: rank name=m (value: number 2))))" },
    { "else if", "workload w { if a { } else if b { rank m = 2; } else { rank m = 3; } }",
      "workload name=w body (body: if body (value: path path=a) (else: if body (value: path path=b) (body: ranks "
      "(item: rank name=m (value: number 2))) (else: ranks (item: rank name=m (value: number 3)))))" },
    { "let in a workload", "workload w { let a = 1; }", "workload name=w body (body: let name=a (value: number 1))" },
    { "empty system", "system s { }", "system name=s body" },
    { "system with parameters", "system s(a = 1) { }",
      "system name=s body (parameter: parameter name=a (value: number 1))" },
    { "derived system", "system s = t;", "system name=s (ref: ref path=t)" },
    { "derived system with bindings", "system s = t(2) { d.size = 1GB; a = b, c; }",
      "system name=s (ref: ref path=t arguments (argument: number 2)) (bind: bind path=d.size (argument: number "
      "1GB)) (bind: bind path=a (argument: path path=b) (argument: path path=c))" },
    { "attribute", "system s { clock = 1GHz; }",
      "system name=s body (body: attribute name=clock (argument: number 1GHz))" },
    { "attribute of several values", "system s { holds = input, output; }",
      "system name=s body (body: attribute name=holds (argument: path path=input) (argument: path path=output))" },
    { "attributes", "system s { read { energy = 1pJ/bit; } }",
      "system name=s body (body: attributes name=read body (body: attribute name=energy (argument: number "
      "1pJ/bit)))" },
    { "memory", "system s { memory d { size = 1GB; read { width = 8B; } } }",
      "system name=s body (body: memory name=d body (body: attribute name=size (argument: number 1GB)) (body: "
      "attributes name=read body (body: attribute name=width (argument: number 8B))))" },
    { "compute", "system s { compute c { rate = 1FLOP/cycle; } }",
      "system name=s body (body: compute name=c body (body: attribute name=rate (argument: number 1FLOP/cycle)))" },
    { "network", "system s { network n = bus; }",
      "system name=s body (body: network name=n body (ref: ref path=bus))" },
    { "network with attributes", "system s { network n = mesh(2) { energy = 1pJ/bit; } }",
      "system name=s body (body: network name=n body (ref: ref path=mesh arguments (argument: number 2)) (body: "
      "attribute name=energy (argument: number 1pJ/bit)))" },
    { "use", "system s { use t; }", "system name=s body (body: use (ref: ref path=t))" },
    { "use under a name", "system s { use t(1) as u; }",
      "system name=s body (body: use as=u (ref: ref path=t arguments (argument: number 1)))" },
    { "use with bindings", "system s { use t as u { a = 1; } }",
      "system name=s body (body: use as=u (ref: ref path=t) (bind: bind path=a (argument: number 1)))" },
    { "element", "system s { element e { memory d { } } }",
      "system name=s body (body: element name=e body (body: memory name=d body))" },
    { "array", "system s { array x[2] { } }",
      "system name=s body (body: array body (item: axis name=x (value: number 2)))" },
    { "array of two axes", "system s { array x[2], y[n] over net { compute c { } } }",
      "system name=s body (body: array over=net body (item: axis name=x (value: number 2)) (item: axis name=y "
      "(value: path path=n)) (body: compute name=c body))" },
    { "mapping in a system", "system s { mapping m = t; }",
      "system name=s body (body: mapping name=m (ref: ref path=t))" },
    { "check in a system", "system s { require area < 1mm2; }",
      "system name=s body (body: check check=require (value: less (left: path path=area) (right: number 1mm2)))" },
    { "empty mapping", "mapping m for w on s {  }", "mapping name=m body (for: ref path=w) (on: ref path=s)" },
    { "mapping with parameters", "mapping m(a = 2) for w(n = 1) on s(b) { }",
      "mapping name=m body (parameter: parameter name=a (value: number 2)) (for: ref path=w arguments (argument: "
      "number label=n 1)) (on: ref path=s arguments (argument: path path=b))" },
    { "bound mapping", "mapping m = t;", "mapping name=m (ref: ref path=t)" },
    { "bound mapping for", "mapping m = t(1) for w(n = 2);",
      "mapping name=m (ref: ref path=t arguments (argument: number 1)) (for: ref path=w arguments (argument: "
      "number label=n 2))" },
    { "bound mapping on", "mapping m = t on s;", "mapping name=m (ref: ref path=t) (on: ref path=s)" },
    { "bound mapping for and on", "mapping m(a) = t(a) for w on s;",
      "mapping name=m (parameter: parameter name=a) (ref: ref path=t arguments (argument: path path=a)) (for: ref "
      "path=w) (on: ref path=s)" },
    { "temporal", "mapping m for w on s { temporal m, n; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: temporal (item: loop path=m) (item: loop "
      "path=n))" },
    { "temporal with tiles", "mapping m for w on s { temporal m:8, n/4, k:2 * a, a.b:1 cyclic; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: temporal (item: loop path=m split=size "
      "(value: number 8)) (item: loop path=n split=parts (value: number 4)) (item: loop path=k split=size (value: "
      "multiply (left: number 2) (right: path path=a))) (item: loop path=a.b split=size cyclic (value: number 1)))" },
    { "temporal online", "mapping m for w on s { temporal k online; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: temporal online (item: loop path=k))" },
    { "temporal with holes", "mapping m for w on s { temporal ?, m:?, n/?, k:? in {1, 2}; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: temporal (item: loop (value: hole)) (item: "
      "loop path=m split=size (value: hole)) (item: loop path=n split=parts (value: hole)) (item: loop path=k "
      "split=size (value: hole (left: set (argument: number 1) (argument: number 2)))))" },
    { "spatial", "mapping m for w on s { spatial m on x; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: spatial (item: spread path=x (item: loop "
      "path=m)))" },
    { "spatial over two axes", "mapping m for w on s { spatial m:2, n on x, k/4 on a.y; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: spatial (item: spread path=x (item: loop "
      "path=m split=size (value: number 2)) (item: loop path=n)) (item: spread path=a.y (item: loop path=k "
      "split=parts (value: number 4))))" },
    { "spatial for tensors", "mapping m for w on s { spatial m on x for A, b.C; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: spatial of=A of=b.C (item: spread path=x "
      "(item: loop path=m)))" },
    { "spatial in a pipeline", "mapping m for w on s { spatial l on x pipeline(schedule = gpipe, 2); }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: spatial (item: spread path=x pipelined (item: "
      "loop path=l) (argument: path label=schedule path=gpipe) (argument: number 2)))" },
    { "spatial in a plain pipeline", "mapping m for w on s { spatial l on x pipeline(); }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: spatial (item: spread path=x pipelined (item: "
      "loop path=l)))" },
    { "keep", "mapping m for w on s { keep A in d; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept path=d of=A))" },
    { "keep of several", "mapping m for w on s { keep A, b.C in d, E in f.g; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept path=d of=A of=b.C) (item: "
      "kept path=f.g of=E))" },
    { "keep of a hole", "mapping m for w on s { keep ? in d; keep A, ? in d; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept path=d of=?)) (body: keep "
      "(item: kept path=d of=A of=?))" },
    { "keep in one of several", "mapping m for w on s { keep A, B in d | e.f; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept of=A of=B (item: home path=d) "
      "(item: home path=e.f)))" },
    { "keep fresh and window", "mapping m for w on s { keep A in d fresh, B in d window; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept path=d of=A mode=fresh) "
      "(item: kept path=d of=B mode=window))" },
    { "on", "mapping m for w on s { on a.c; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: on path=a.c)" },
    { "recompute", "mapping m for w on s { recompute A, b.C; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: recompute of=A of=b.C)" },
    { "fuse", "mapping m for w on s { fuse { A { temporal m; } B { } } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: fuse body (body: branch body (item: head "
      "path=A) (body: temporal (item: loop path=m))) (body: branch body (item: head path=B)))" },
    { "empty fuse", "mapping m for w on s { fuse { } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: fuse body)" },
    { "pipeline", "mapping m for w on s { pipeline { A { } ...; each b { } } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: pipeline body (body: branch body (item: head "
      "path=A)) (body: anything) (body: branch each body (item: head path=b)))" },
    { "fuse hole", "mapping m for w on s { fuse ?; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: fuse-hole)" },
    { "any lines", "mapping m for w on s { ...; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: anything)" },
    { "branch", "mapping m for w on s { A { temporal m; } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: branch body (item: head path=A) (body: "
      "temporal (item: loop path=m)))" },
    { "branch of several", "mapping m for w on s { A, b.C, d[2] { } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: branch body (item: head path=A) (item: head "
      "path=b.C) (item: head path=d (member: number 2)))" },
    { "members of families", "mapping m for w on s { keep A[0], b[1].C[n][2] in d; recompute Z[1]; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: keep (item: kept path=d of=A of=b.C (member: number 0) "
      "(member: number 1) (member: path path=n) (member: number 2))) (body: recompute of=Z (member: number 1))" },
    { "branch of each", "mapping m for w on s { fuse { each b, c[n + 1] { use t; } } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: fuse body (body: branch each body (item: head "
      "path=b) (item: head path=c (member: add (left: path path=n) (right: number 1))) (body: use (ref: ref "
      "path=t))))" },
    { "use in a mapping", "mapping m for w on s { use t(T = 8) { I = X; } }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: use (ref: ref path=t arguments (argument: "
      "number label=T 8)) (bind: bind path=I (argument: path path=X)))" },
    { "goals", "mapping m for w on s { minimize latency, energy; pareto area; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: minimize (argument: path path=latency) "
      "(argument: path path=energy)) (body: pareto (argument: path path=area))" },
    { "check in a mapping", "mapping m for w on s { require latency < 1s; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: check check=require (value: less (left: path "
      "path=latency) (right: number 1s)))" },
    { "option in a mapping", "mapping m for w on s { option overlap = perfect; }",
      "mapping name=m body (for: ref path=w) (on: ref path=s) (body: option name=overlap (value: path "
      "path=perfect))" },
    { "require", "require a < b;", "check check=require (value: less (left: path path=a) (right: path path=b))" },
    { "expect", "expect a == 1;", "check check=expect (value: equal (left: path path=a) (right: number 1))" },
    { "assume", "assume a == 7pJ/bit from \"b\";",
      "check check=assume (value: equal (left: path path=a) (right: number 7pJ/bit)) (from: string \"b\")" },
    { "exactly", "expect a exactly b;", "check check=expect (value: path path=a) (exactly: path path=b)" },
    { "exactly from", "expect a exactly b from \"c\";",
      "check check=expect (value: path path=a) (exactly: path path=b) (from: string \"c\")" },
    { "within", "expect a within 10% of b;",
      "check check=expect (value: path path=a) (within: number 10%) (of: path path=b)" },
    { "within from", "expect a.b(c) within 1s of 2 * d from \"e\";",
      "check check=expect (value: call path=a.b (argument: path path=c)) (within: number 1s) (of: multiply (left: "
      "number 2) (right: path path=d)) (from: string \"e\")" },
    { "empty sweep", "sweep x for w on s {  }", "sweep name=x body (for: ref path=w) (on: ref path=s)" },
    { "over", "sweep x for w on s { over a in 8..64 step 8, b in {1KiB, 2KiB}, c in 1..8 times 2; }",
      "sweep name=x body (for: ref path=w) (on: ref path=s) (body: over (item: varied name=a (in: range (left: "
      "number 8) (right: number 64) (step: number 8))) (item: varied name=b (in: set (argument: number 1KiB) "
      "(argument: number 2KiB))) (item: varied name=c (in: range times (left: number 1) (right: number 8) (step: "
      "number 2))))" },
    { "goals of a sweep", "sweep x for w on s { pareto latency, area; minimize energy; }",
      "sweep name=x body (for: ref path=w) (on: ref path=s) (body: pareto (argument: path path=latency) (argument: "
      "path path=area)) (body: minimize (argument: path path=energy))" },
    { "limits of a sweep", "sweep x for w on s { require area < 20mm2, power < 5W; }",
      "sweep name=x body (for: ref path=w) (on: ref path=s) (body: require (argument: less (left: path path=area) "
      "(right: number 20mm2)) (argument: less (left: path path=power) (right: number 5W)))" },
    { "mapping of a sweep", "sweep x for w on s { mapping a.b; }",
      "sweep name=x body (for: ref path=w) (on: ref path=s) (body: sweep-mapping path=a.b)" },
    { "doc comment", "/// a\nlet b = 1;", "let name=b doc=\"a\" (value: number 1)" },
    { "doc comment of lines", "/// a \n///\n///b\nlet c = 1;", "let name=c doc=\"a\\x0a\\x0ab\" (value: number 1)" },
    { "doc comments everywhere",
      "/// a\nworkload w {\n/// b\nrank m = 1;\n/// c\noutput Z[m] = A[m];\n/// d\nexpect e;\n}\n/// f\n"
      "expect g from \"h\";",
      "workload name=w body doc=\"a\" (body: ranks doc=\"b\" (item: rank name=m (value: number 1))) (body: einsum "
      "role=output assign== doc=\"c\" (target: tensor path=Z (argument: path path=m)) (value: access path=A "
      "(argument: path path=m))) (body: check check=expect doc=\"d\" (value: path path=e)) | check check=expect "
      "doc=\"f\" (value: path path=g) (from: string \"h\")" },
    { "doc comment with line ends of another system", "/// a\r\n/// b\r\nlet c = 1;\r\n",
      "let name=c doc=\"a\\x0ab\" (value: number 1)" },
};

static dfl_strbuf dumped(parsed *p, const dfl_ast_file *file)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    dfl_dump_ast(&out, NULL, p->names, file);
    return out;
}

/* The text with `before` in front of every token, and without token number `without`. */
static const char *respaced(parsed *p, const char *before, uint32_t without)
{
    const dfl_source *source = p->syntax.source;
    uint32_t n, from = source->base;
    const dfl_token *tokens = dfl_syntax_tokens(p->arena, source, &n);
    dfl_strbuf out;

    dfl_strbuf_init(&out, p->arena);
    for (uint32_t i = 0; i + 1 < n; i++) {
        dfl_strbuf_add(&out, source->text + (from - source->base), tokens[i].span.start - from);
        dfl_strbuf_z(&out, before);
        if (i != without)
            dfl_strbuf_add(&out, source->text + (tokens[i].span.start - source->base),
                           tokens[i].span.end - tokens[i].span.start);
        else
            dfl_strbuf_char(&out, '\n');
        from = tokens[i].span.end;
    }
    dfl_strbuf_z(&out, source->text + (from - source->base));
    return out.text;
}

/* A missing `;` gives one report at its place, and the tree does not change. */
static void repairs_semicolons(parsed *p, const char *want)
{
    const dfl_source *source = p->syntax.source;
    uint32_t n;
    const dfl_token *tokens = dfl_syntax_tokens(p->arena, source, &n);

    for (uint32_t i = 0; i + 1 < n; i++) {
        const char *text;
        parsed without;

        if (tokens[i].kind != ';')
            continue;
        text = respaced(p, "", i);
        parsed_open(&without, text, strlen(text));
        if (dfl_sink_count(without.sink) != 1)
            fail_msg("%s\n%s", text, parsed_reports(&without));
        assert_int_equal(dfl_sink_at(without.sink, 0)->code, DFL_SYNTAX_NO_SEMICOLON);
        assert_int_equal(dfl_sink_at(without.sink, 0)->span.start - without.syntax.source->base,
                         tokens[i - 1].span.end - source->base);
        assert_true(without.syntax.whole && !without.syntax.ok);
        assert_string_equal(dumped(&without, without.syntax.file).text, want);
        tree_ok(&without);
        parsed_close(&without);
    }
}

static void parses(void **state)
{
    const parse_case *c = *state;
    const char *text, *want;
    parsed p, again;

    parsed_open(&p, c->text, strlen(c->text));
    assert_string_equal(parsed_reports(&p), "");
    assert_true(p.syntax.ok && p.syntax.whole);
    assert_int_equal(p.syntax.n_stray_docs, 0);
    assert_string_equal(compact_tree(&p, p.syntax.file), c->tree);
    tree_ok(&p);
    want = dumped(&p, p.syntax.file).text;
    text = respaced(&p, "\n/**/ ", UINT32_MAX);
    parsed_open(&again, text, strlen(text));
    assert_string_equal(parsed_reports(&again), "");
    assert_string_equal(dumped(&again, again.syntax.file).text, want);
    parsed_close(&again);
    repairs_semicolons(&p, want);
    parsed_close(&p);
}

int main(void)
{
    return CHECK_TABLE("syntax.parse", cases, parses);
}
