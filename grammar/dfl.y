/* The grammar of DFL. Each action makes one node. Later passes look up names and compute values. */
%require "3.8"
%define api.pure full
%define api.prefix {dfl_yy}
%define api.token.prefix {DFL_TOK_}
%define api.location.type {dfl_span}
%define parse.error custom
/* Canonical LR tables, without default reductions in states with a choice: the parser detects a wrong token before any
   reduction, so that the list of expected tokens needs no second walk. */
%define lr.type canonical-lr
%define lr.default-reduction consistent
%locations
%expect 0
%param { dfl_parse *p }

%code requires {
#include "syntax/ast_build.h"
}
%code provides {
/* The state of the parser: its stack of automaton states from bottom to top, and the error status of bison (yyerrstatus). */
typedef struct dfl_parser_state { const void *bottom, *top; int error; } dfl_parser_state;

/* Whether the parser could accept the `n` tokens `kinds`, one after the other. */
bool dfl_parser_accepts(const dfl_parser_state *state, const int *kinds, size_t n);
/* Whether the parser is recovering from an error by skipping tokens up to a `;` or `}`. */
static inline bool dfl_parser_recovers(const dfl_parser_state *state) { return state->error == 3; }
enum { DFL_NO_TOKEN = -3 };
}
%code {
#include <string.h>

#include "syntax/unexpected.h"

static void yyerror(dfl_span *at, dfl_parse *p, const char *message);

/* dfl_parse_next needs the state of the parser to decide whether to insert a missing `;` or `}`. */
#undef yylex
#define yylex(value, at, p)                                                                                            \
    ({                                                                                                                 \
        int next = dfl_parse_next(p, &(dfl_parser_state){ yyss, yyssp, yyerrstatus }, value, at);                      \
        if (next == DFL_NO_TOKEN)                                                                                      \
            YYABORT;                                                                                                   \
        next;                                                                                                          \
    })

/* The span of a rule: from its first symbol to its last one. An empty rule is a point at the end of the symbol before it. */
#define YYLLOC_DEFAULT(now, rhs, n)                                                                                    \
    do {                                                                                                               \
        (now).start = (n) != 0 ? YYRHSLOC(rhs, 1).start : YYRHSLOC(rhs, 0).end;                                        \
        (now).end = YYRHSLOC(rhs, n).end;                                                                              \
        if ((n) != 0 && YYRHSLOC(rhs, 1).end > (now).end)                                                              \
            (now).end = YYRHSLOC(rhs, 1).end;                                                                          \
    } while (0)
}

%union {
    dfl_ast_name name;
    dfl_name_list names;
    dfl_ast_path *path;
    dfl_path_list paths;
    dfl_ast_ref *ref;
    dfl_expr *expr;
    dfl_expr_list exprs;
    dfl_ast_rows rows;
    dfl_ast_right *right;
    const dfl_ast_more *more;
    dfl_ast_node *node;
    dfl_ast_list nodes;
    dfl_ast_role role;
    dfl_ast_check check;
    dfl_kmode mode;
}

%token END 0 "end of file"
%token <name> IDENT "a name"
%token NUMBER "a number" QUANTITY "a quantity" STRING "a string"
%token DOTDOT ".." ELLIPSIS "..." ADDEQ "+=" LE "<=" GE ">=" EQ "==" NE "!=" AND "&&" OR "||"
%token <name> DFL "dfl" IMPORT "import" OPTION "option" PARAM "param" LET "let" OP "op" WORKLOAD "workload"
%token <name> SYSTEM "system" MAPPING "mapping" SWEEP "sweep" RANK "rank" INPUT "input" WEIGHT "weight" OUTPUT "output"
%token <name> STATE "state" APPLY "apply" REPEAT "repeat" CARRYING "carrying" WHERE "where" GATHER "gather"
%token <name> MEMORY "memory" COMPUTE "compute" NETWORK "network" ARRAY "array" ELEMENT "element" USE "use"
%token <name> TEMPORAL "temporal" SPATIAL "spatial" KEEP "keep" FUSE "fuse" PIPELINE "pipeline" RECOMPUTE "recompute"
%token <name> EACH "each" ONLINE "online" CYCLIC "cyclic" FRESH "fresh" WINDOW "window" AS "as" BY "by" ELSE "else"
%token <name> EXACTLY "exactly" FOR "for" FROM "from" IF "if" IN "in" OF "of" ON "on" OVER "over" STEP "step"
%token <name> TIMES "times" WITHIN "within" REQUIRE "require" EXPECT "expect" ASSUME "assume" MINIMIZE "minimize"
%token <name> PARETO "pareto" SPLIT "split" REUSE "reuse" LOAD "load"

%left OR
%left AND
%nonassoc '<' '>' LE GE EQ NE
%left '+' '-'
%left '*' '/'
%precedence UNARY

%type <name> name word opt_as opt_over
%type <names> names
%type <path> path indexed member
%type <paths> paths knames
%type <ref> ref dtype
%type <expr> expr arg dim access domain range set hole open parg opt_from
%type <exprs> exprs args arglist pargs parglist dims opt_where
%type <rows> opt_rows
%type <right> right
%type <more> verdict
%type <role> role
%type <check> kind
%type <mode> kmod
%type <node> decl import param opdecl workload system mapping sweep check wstmt if tensor einsum rankd parm bind bind1 sstmt
%type <node> attr axis mline loop sgroup kgroup home child hd swline overd remade
%type <nodes> items params paramlist wstmts ranks tensors carry binds1 over binds sstmts attrs axes mbody children heads again
%type <nodes> loops sgroups kgroups homes swl overs

%%

file: items                                       { dfl_ast_file_make(p, @$, $1); } ;
items: %empty                                     { $$ = dfl_list_none(); }
  | items decl                                    { $$ = dfl_list_add($1, $2); }
  | items error ';'                               { $$ = $1; yyerrok; }
  | items error '}'                               { $$ = $1; yyerrok; } ;
/* The end of a block in braces. The tokens that error recovery skips before the `}` belong to an error that was reported. */
end: '}'
  | error '}'                                     { yyerrok; } ;

decl: DFL NUMBER[v] ';'                           { $$ = dfl_ast_valued(p, DFL_AST_EDITION, @$, dfl_name_none(), dfl_ast_number(p, @v)); }
  | OPTION name '=' expr ';'                      { $$ = dfl_ast_valued(p, DFL_AST_OPTION, @$, $2, $4); }
  | import | param | opdecl | workload | system | mapping | sweep
  | check ;

import: IMPORT path opt_as ';'                    { $$ = dfl_ast_import(p, @$, $2, NULL, $3); }
  | IMPORT STRING[s] ';'                          { $$ = dfl_ast_import(p, @$, NULL, dfl_ast_string(p, @s), dfl_name_none()); } ;
opt_as: %empty                                    { $$ = dfl_name_none(); }
  | AS name                                       { $$ = $2; } ;

/* Names: identifiers, and the keywords that may also be names. */
name: IDENT | word ;
word: APPLY | ARRAY | BY | CARRYING | COMPUTE | CYCLIC | DFL | EACH | ELEMENT | EXACTLY | FRESH | FROM | INPUT
  | LET | LOAD | MEMORY | MINIMIZE | NETWORK | OF | ONLINE | OP | OPTION | OUTPUT | PARAM | PARETO | RANK | RECOMPUTE | REPEAT
  | REUSE | SPLIT | STATE | STEP | SWEEP | SYSTEM | TIMES | WEIGHT | WINDOW | WITHIN | WORKLOAD ;
names: name                                       { $$ = dfl_names_add(p, (dfl_name_list){ 0 }, $1); }
  | names ',' name                                { $$ = dfl_names_add(p, $1, $3); } ;
path: IDENT                                       { $$ = dfl_path_of(p, $1); }
  | word                                          { $$ = dfl_path_of(p, $1); }
  | path '.' name                                 { $$ = dfl_path_add(p, $1, $3); }
  | indexed '.' name                              { $$ = dfl_path_add(p, $1, $3); } ;
indexed: path '[' dims ']'                        { $$ = dfl_path_add_index(p, @$, $1, $3); }
  | indexed '[' dims ']'                          { $$ = dfl_path_add_index(p, @$, $1, $3); } ;
member: path | indexed ;
paths: member                                     { $$ = dfl_paths_add(p, (dfl_path_list){ 0 }, $1, @1); }
  | paths ',' member                              { $$ = dfl_paths_add(p, $1, $3, @3); } ;
ref: path                                         { $$ = dfl_ast_ref_make(p, @$, $1, dfl_exprs_none(), false); }
  | path args                                     { $$ = dfl_ast_ref_make(p, @$, $1, $2, true); } ;
dtype: %empty                                     { $$ = NULL; }
  | ':' ref                                       { $$ = $2; } ;

param: PARAM name '=' expr ';'                    { $$ = dfl_ast_valued(p, DFL_AST_PARAM, @$, $2, $4); }
  | PARAM name '=' expr IN domain ';'             { $$ = dfl_ast_domain(p, dfl_ast_valued(p, DFL_AST_PARAM, @$, $2, $4), $6); }
  | LET name '=' expr ';'                         { $$ = dfl_ast_valued(p, DFL_AST_LET, @$, $2, $4); } ;
opdecl: OP name '(' names ')' opt_over '=' expr ';' { $$ = dfl_ast_op(p, @$, $2, $4, $6, $8); } ;
opt_over: %empty                                  { $$ = dfl_name_none(); }
  | OVER name                                     { $$ = $2; } ;

params: %empty                                    { $$ = dfl_list_none(); }
  | '(' ')'                                       { $$ = dfl_list_none(); }
  | '(' paramlist ')'                             { $$ = $2; } ;
paramlist: parm                                   { $$ = dfl_list_one($1); }
  | paramlist ',' parm                            { $$ = dfl_list_add($1, $3); } ;
parm: name                                        { $$ = dfl_ast_valued(p, DFL_AST_PARM, @$, $1, NULL); }
  | name '=' expr                                 { $$ = dfl_ast_valued(p, DFL_AST_PARM, @$, $1, $3); } ;
args: '(' ')'                                     { $$ = dfl_exprs_none(); }
  | '(' arglist ')'                               { $$ = $2; } ;
arglist: arg                                      { $$ = dfl_exprs_add(dfl_exprs_none(), $1); }
  | arglist ',' arg                               { $$ = dfl_exprs_add($1, $3); } ;
arg: expr
  | name '=' expr                                 { $$ = dfl_ast_label($1, $3); }
  | name '=' set                                  { $$ = dfl_ast_label($1, $3); } ;

workload: WORKLOAD name params dtype '{' wstmts end { $$ = dfl_ast_declared(p, DFL_AST_WORKLOAD, @$, $2, $3, $4, $6); }
  | WORKLOAD name params '=' ref ';'              { $$ = dfl_ast_derived(p, DFL_AST_WORKLOAD, @$, $2, $3, $5, dfl_list_none()); } ;
wstmts: %empty                                    { $$ = dfl_list_none(); }
  | wstmts wstmt                                  { $$ = dfl_list_add($1, $2); }
  | wstmts error ';'                              { $$ = $1; yyerrok; } ;
wstmt: RANK ranks ';'                             { $$ = dfl_ast_items(p, DFL_AST_RANKS, @$, $2); }
  | role tensors ';'                              { $$ = dfl_ast_tensors(p, @$, $1, $2); }
  | einsum
  | role einsum                                   { $$ = dfl_ast_role_of(p, $2, $1, @$); }
  | check
  | APPLY ref AS name over                        { $$ = dfl_ast_derived(p, DFL_AST_APPLY, @$, $4, dfl_list_none(), $2, $5); }
  | REPEAT expr AS name carry '{' wstmts end      { $$ = dfl_ast_repeat(p, @$, $2, $4, $5, $7); }
  | FOR name IN domain '{' wstmts end             { $$ = dfl_ast_for(p, @$, $2, $4, $6); }
  | if
  | LET name '=' expr ';'                         { $$ = dfl_ast_valued(p, DFL_AST_LET, @$, $2, $4); } ;
if: IF expr '{' wstmts end                        { $$ = dfl_ast_if(p, @$, $2, $4, dfl_list_none()); }
  | IF expr '{' wstmts end ELSE '{' wstmts end    { $$ = dfl_ast_if(p, @$, $2, $4, $8); }
  | IF expr '{' wstmts end ELSE if[other]         { $$ = dfl_ast_if(p, @$, $2, $4, dfl_list_one($other)); } ;
carry: %empty                                     { $$ = dfl_list_none(); }
  | CARRYING binds1                               { $$ = $2; } ;
binds1: bind1                                     { $$ = dfl_list_one($1); }
  | binds1 ',' bind1                              { $$ = dfl_list_add($1, $3); } ;
bind1: path '=' path                              { $$ = dfl_ast_bind(p, @$, $1, dfl_exprs_add(dfl_exprs_none(), dfl_ast_path_expr(p, @3, $3))); } ;
over: ';'                                         { $$ = dfl_list_none(); }
  | '{' binds end                                 { $$ = $2; } ;
binds: %empty                                     { $$ = dfl_list_none(); }
  | binds bind                                    { $$ = dfl_list_add($1, $2); }
  | binds error ';'                               { $$ = $1; yyerrok; } ;
bind: path '=' exprs ';'                          { $$ = dfl_ast_bind(p, @$, $1, $3); } ;
ranks: rankd                                      { $$ = dfl_list_one($1); }
  | ranks ',' rankd                               { $$ = dfl_list_add($1, $3); } ;
rankd: name '=' expr                              { $$ = dfl_ast_valued(p, DFL_AST_RANK, @$, $1, $3); } ;
role: INPUT                                       { $$ = DFL_AST_INPUT; }
  | WEIGHT                                        { $$ = DFL_AST_WEIGHT; }
  | OUTPUT                                        { $$ = DFL_AST_OUTPUT; }
  | STATE                                         { $$ = DFL_AST_STATE; } ;
tensors: tensor                                   { $$ = dfl_list_one($1); }
  | tensors ',' tensor                            { $$ = dfl_list_add($1, $3); } ;
tensor: path '[' dims ']' dtype                   { $$ = dfl_ast_tensor(p, @$, $1, $3, $5); }
  | path '[' ']' dtype                            { $$ = dfl_ast_tensor(p, @$, $1, dfl_exprs_none(), $4); }
  | IDENT dtype                                   { $$ = dfl_ast_tensor(p, @$, dfl_path_of(p, $1), dfl_exprs_none(), $2); } ;
dims: dim                                         { $$ = dfl_exprs_add(dfl_exprs_none(), $1); }
  | dims ',' dim                                  { $$ = dfl_exprs_add($1, $3); } ;
dim: expr
  | name ':' expr                                 { $$ = dfl_ast_label($1, $3); } ;
einsum: tensor '=' right ';'                      { $$ = dfl_ast_einsum(p, @$, $1, DFL_ASSIGN_DEFINE, (dfl_ast_name){ 0, @2 }, $3); }
  | tensor ADDEQ right ';'                        { $$ = dfl_ast_einsum(p, @$, $1, DFL_ASSIGN_ADD, (dfl_ast_name){ 0, @2 }, $3); }
  | tensor IDENT '=' right ';'                    { $$ = dfl_ast_einsum(p, @$, $1, DFL_ASSIGN_NAMED, $2, $4); } ;
right: expr opt_over opt_rows opt_where           { $$ = dfl_ast_right_make(p, $1, $2, $3, $4); } ;
opt_rows: %empty                                  { $$ = (dfl_ast_rows){ NULL, NULL }; }
  | opt_rows REUSE expr                           { $$ = (dfl_ast_rows){ $3, $1.load }; }
  | opt_rows LOAD expr                            { $$ = (dfl_ast_rows){ $1.reuse, $3 }; } ;
opt_where: %empty                                 { $$ = dfl_exprs_none(); }
  | WHERE exprs                                   { $$ = $2; } ;
access: path '[' dims ']'                         { $$ = dfl_ast_with_args(p, DFL_EXPR_ACCESS, @$, $1, $3); }
  | path '[' ']'                                  { $$ = dfl_ast_with_args(p, DFL_EXPR_ACCESS, @$, $1, dfl_exprs_none()); } ;

system: SYSTEM name params '{' sstmts end         { $$ = dfl_ast_declared(p, DFL_AST_SYSTEM, @$, $2, $3, NULL, $5); }
  | SYSTEM name params '=' ref over               { $$ = dfl_ast_derived(p, DFL_AST_SYSTEM, @$, $2, $3, $5, $6); } ;
sstmts: %empty                                    { $$ = dfl_list_none(); }
  | sstmts sstmt                                  { $$ = dfl_list_add($1, $2); }
  | sstmts error ';'                              { $$ = $1; yyerrok; } ;
sstmt: attr
  | MEMORY name '{' attrs end                     { $$ = dfl_ast_bodied(p, DFL_AST_MEMORY, @$, $2, $4); }
  | COMPUTE name '{' attrs end                    { $$ = dfl_ast_bodied(p, DFL_AST_COMPUTE, @$, $2, $4); }
  | NETWORK name '=' ref '{' attrs end            { $$ = dfl_ast_network(p, @$, $2, $4, $6); }
  | NETWORK name '=' ref ';'                      { $$ = dfl_ast_network(p, @$, $2, $4, dfl_list_none()); }
  | USE ref opt_as over                           { $$ = dfl_ast_use(p, @$, $2, $3, $4); }
  | ELEMENT name '{' sstmts end                   { $$ = dfl_ast_bodied(p, DFL_AST_ELEMENT, @$, $2, $4); }
  | ARRAY axes opt_over '{' sstmts end            { $$ = dfl_ast_array(p, @$, $2, $3, $5); }
  | mapping
  | check ;
axes: axis                                        { $$ = dfl_list_one($1); }
  | axes ',' axis                                 { $$ = dfl_list_add($1, $3); } ;
axis: name '[' expr ']'                           { $$ = dfl_ast_valued(p, DFL_AST_AXIS, @$, $1, $3); } ;
attrs: %empty                                     { $$ = dfl_list_none(); }
  | attrs attr                                    { $$ = dfl_list_add($1, $2); }
  | attrs error ';'                               { $$ = $1; yyerrok; } ;
attr: name '=' exprs ';'                          { $$ = dfl_ast_listed(p, DFL_AST_ATTR, @$, $1, $3); }
  | name '{' attrs end                            { $$ = dfl_ast_bodied(p, DFL_AST_ATTRS, @$, $1, $3); } ;

mapping: MAPPING name params FOR ref[w] ON ref[s] '{' mbody[b] end
                                                  { $$ = dfl_ast_joined(p, dfl_ast_declared(p, DFL_AST_MAPPING, @$, $2, $3, NULL, $b), $w, $s); }
  | MAPPING name params '=' ref[t] ';'            { $$ = dfl_ast_bound(p, @$, $2, $3, $t, NULL, NULL); }
  | MAPPING name params '=' ref[t] FOR ref[w] ';' { $$ = dfl_ast_bound(p, @$, $2, $3, $t, $w, NULL); }
  | MAPPING name params '=' ref[t] ON ref[s] ';'  { $$ = dfl_ast_bound(p, @$, $2, $3, $t, NULL, $s); }
  | MAPPING name params '=' ref[t] FOR ref[w] ON ref[s] ';'
                                                  { $$ = dfl_ast_bound(p, @$, $2, $3, $t, $w, $s); } ;
mbody: %empty                                     { $$ = dfl_list_none(); }
  | mbody mline                                   { $$ = dfl_list_add($1, $2); }
  | mbody error ';'                               { $$ = $1; yyerrok; } ;
mline: TEMPORAL loops ';'                         { $$ = dfl_ast_temporal(p, @$, $2, false); }
  | TEMPORAL loops ONLINE ';'                     { $$ = dfl_ast_temporal(p, @$, $2, true); }
  | SPATIAL sgroups ';'                           { $$ = dfl_ast_items(p, DFL_AST_SPATIAL, @$, $2); }
  | SPATIAL sgroups FOR paths ';'                 { $$ = dfl_ast_pathed(p, DFL_AST_SPATIAL, @$, $2, $4); }
  | KEEP kgroups ';'                              { $$ = dfl_ast_items(p, DFL_AST_KEEP, @$, $2); }
  | KEEP kgroups SPLIT sgroups ';'                { $$ = dfl_ast_split(p, dfl_ast_items(p, DFL_AST_KEEP, @$, $2), $4); }
  | ON path ';'                                   { $$ = dfl_ast_at_path(p, DFL_AST_ON, @$, $2); }
  | RECOMPUTE again ';'                           { $$ = dfl_ast_again(p, @$, $2); }
  | FUSE '{' children end                         { $$ = dfl_ast_bodied(p, DFL_AST_FUSE, @$, dfl_name_none(), $3); }
  | PIPELINE '{' children end                     { $$ = dfl_ast_bodied(p, DFL_AST_PIPELINE, @$, dfl_name_none(), $3); }
  | FUSE '?' ';'                                  { $$ = dfl_ast_items(p, DFL_AST_FUSE_HOLE, @$, dfl_list_none()); }
  | ELLIPSIS ';'                                  { $$ = dfl_ast_items(p, DFL_AST_ANYTHING, @$, dfl_list_none()); }
  | heads '{' mbody end                           { $$ = dfl_ast_branch(p, @$, $1, false, $3); }
  | USE ref over                                  { $$ = dfl_ast_use(p, @$, $2, dfl_name_none(), $3); }
  | MINIMIZE exprs ';'                            { $$ = dfl_ast_listed(p, DFL_AST_MINIMIZE, @$, dfl_name_none(), $2); }
  | PARETO exprs ';'                              { $$ = dfl_ast_listed(p, DFL_AST_PARETO, @$, dfl_name_none(), $2); }
  | check
  | OPTION name '=' expr ';'                      { $$ = dfl_ast_valued(p, DFL_AST_OPTION, @$, $2, $4); } ;
children: %empty                                  { $$ = dfl_list_none(); }
  | children child                                { $$ = dfl_list_add($1, $2); }
  | children error ';'                            { $$ = $1; yyerrok; } ;
child: heads '{' mbody end                        { $$ = dfl_ast_branch(p, @$, $1, false, $3); }
  | EACH heads '{' mbody end                      { $$ = dfl_ast_branch(p, @$, $2, true, $4); }
  | ELLIPSIS ';'                                  { $$ = dfl_ast_items(p, DFL_AST_ANYTHING, @$, dfl_list_none()); } ;
heads: hd                                         { $$ = dfl_list_one($1); }
  | heads ',' hd                                  { $$ = dfl_list_add($1, $3); } ;
hd: member                                        { $$ = dfl_ast_at_path(p, DFL_AST_HEAD, @$, $1); } ;
loops: loop                                       { $$ = dfl_list_one($1); }
  | loops ',' loop                                { $$ = dfl_list_add($1, $3); } ;
loop: path                                        { $$ = dfl_ast_loop(p, @$, $1, DFL_SPLIT_NONE, NULL, false); }
  | path ':' hole                                 { $$ = dfl_ast_loop(p, @$, $1, DFL_SPLIT_SIZE, $3, false); }
  | path ':' hole CYCLIC                          { $$ = dfl_ast_loop(p, @$, $1, DFL_SPLIT_SIZE, $3, true); }
  | path '/' hole                                 { $$ = dfl_ast_loop(p, @$, $1, DFL_SPLIT_PARTS, $3, false); }
  | '?'                                           { $$ = dfl_ast_loop(p, @$, NULL, DFL_SPLIT_NONE, dfl_ast_hole(p, @$, NULL), false); }
  | '?'[h] '/' hole[k]                            { $$ = dfl_ast_any_rank(p, @$, dfl_ast_hole(p, @h, NULL), $k); }
  | '?'[h] IN set[s] '/' hole[k]                  { $$ = dfl_ast_any_rank(p, @$, dfl_ast_hole(p, dfl_span_join(@h, @s), $s), $k); } ;
hole: expr | open ;
open: '?'                                         { $$ = dfl_ast_hole(p, @$, NULL); }
  | '?' IN domain                                 { $$ = dfl_ast_hole(p, @$, $3); } ;
again: remade                                     { $$ = dfl_list_one($1); }
  | again '|' remade                              { $$ = dfl_list_add($1, $3); } ;
remade: paths                                     { $$ = dfl_ast_pathed(p, DFL_AST_RECOMPUTE, @$, dfl_list_none(), $1); }
  | '?'                                           { $$ = dfl_ast_remade(p, @$, (dfl_path_list){ 0 }); }
  | '?' IN '{' paths '}'                          { $$ = dfl_ast_remade(p, @$, $4); } ;
sgroups: sgroup                                   { $$ = dfl_list_one($1); }
  | sgroups ',' sgroup                            { $$ = dfl_list_add($1, $3); } ;
sgroup: loops ON path                             { $$ = dfl_ast_spread(p, @$, $1, $3); }
  | loops ON path PIPELINE pargs                  { $$ = dfl_ast_pipelined(p, @$, dfl_ast_spread(p, @$, $1, $3), $5); } ;
pargs: '(' ')'                                    { $$ = dfl_exprs_none(); }
  | '(' parglist ')'                              { $$ = $2; } ;
parglist: parg                                    { $$ = dfl_exprs_add(dfl_exprs_none(), $1); }
  | parglist ',' parg                             { $$ = dfl_exprs_add($1, $3); } ;
parg: arg | open
  | name '=' open                                 { $$ = dfl_ast_label($1, $3); } ;
kgroups: kgroup                                   { $$ = dfl_list_one($1); }
  | kgroups ',' kgroup                            { $$ = dfl_list_add($1, $3); } ;
kgroup: knames IN path kmod                       { $$ = dfl_ast_kept(p, @$, $1, $3, $4); }
  | knames IN homes kmod                          { $$ = dfl_ast_kept_in_one(p, @$, $1, $3, $4); } ;
homes: home[a] '|' home[b]                        { $$ = dfl_list_add(dfl_list_one($a), $b); }
  | homes '|' home                                { $$ = dfl_list_add($1, $3); } ;
home: path                                        { $$ = dfl_ast_at_path(p, DFL_AST_HOME, @$, $1); } ;
kmod: %empty                                      { $$ = DFL_KMODE_NONE; }
  | FRESH                                         { $$ = DFL_KMODE_FRESH; }
  | WINDOW                                        { $$ = DFL_KMODE_WINDOW; } ;
knames: member                                    { $$ = dfl_paths_add(p, (dfl_path_list){ 0 }, $1, @1); }
  | '?'                                           { $$ = dfl_paths_add(p, (dfl_path_list){ 0 }, NULL, @1); }
  | knames ',' member                             { $$ = dfl_paths_add(p, $1, $3, @3); }
  | knames ',' '?'                                { $$ = dfl_paths_add(p, $1, NULL, @3); } ;

check: kind expr verdict ';'                      { $$ = dfl_ast_check_make(p, @$, $1, $2, $3); } ;
kind: REQUIRE                                     { $$ = DFL_AST_REQUIRES; }
  | EXPECT                                        { $$ = DFL_AST_EXPECTS; }
  | ASSUME                                        { $$ = DFL_AST_ASSUMES; } ;
verdict: opt_from                                 { $$ = dfl_ast_verdict(p, NULL, NULL, NULL, $1); }
  | EXACTLY expr opt_from                         { $$ = dfl_ast_verdict(p, $2, NULL, NULL, $3); }
  | WITHIN expr[w] OF expr[o] opt_from            { $$ = dfl_ast_verdict(p, NULL, $w, $o, $5); } ;
opt_from: %empty                                  { $$ = NULL; }
  | FROM STRING[s]                                { $$ = dfl_ast_string(p, @s); } ;

sweep: SWEEP name FOR ref[w] ON ref[s] '{' swl[b] end
                                                  { $$ = dfl_ast_joined(p, dfl_ast_bodied(p, DFL_AST_SWEEP, @$, $2, $b), $w, $s); } ;
swl: %empty                                       { $$ = dfl_list_none(); }
  | swl swline                                    { $$ = dfl_list_add($1, $2); }
  | swl error ';'                                 { $$ = $1; yyerrok; } ;
swline: OVER overs ';'                            { $$ = dfl_ast_items(p, DFL_AST_OVER, @$, $2); }
  | PARETO exprs ';'                              { $$ = dfl_ast_listed(p, DFL_AST_PARETO, @$, dfl_name_none(), $2); }
  | MINIMIZE exprs ';'                            { $$ = dfl_ast_listed(p, DFL_AST_MINIMIZE, @$, dfl_name_none(), $2); }
  | REQUIRE exprs ';'                             { $$ = dfl_ast_listed(p, DFL_AST_REQUIRE, @$, dfl_name_none(), $2); }
  | MAPPING path ';'                              { $$ = dfl_ast_at_path(p, DFL_AST_SWEEP_MAPPING, @$, $2); } ;
overs: overd                                      { $$ = dfl_list_one($1); }
  | overs ',' overd                               { $$ = dfl_list_add($1, $3); } ;
overd: name IN domain                             { $$ = dfl_ast_domain(p, dfl_ast_valued(p, DFL_AST_VARIED, @$, $1, NULL), $3); } ;
domain: range | set ;
range: expr DOTDOT expr                           { $$ = dfl_ast_range(p, @$, $1, $3, NULL, false); }
  | expr DOTDOT expr STEP expr                    { $$ = dfl_ast_range(p, @$, $1, $3, $5, false); }
  | expr DOTDOT expr TIMES expr                   { $$ = dfl_ast_range(p, @$, $1, $3, $5, true); } ;
set: '{' exprs '}'                                { $$ = dfl_ast_with_args(p, DFL_EXPR_SET, @$, NULL, $2); } ;
exprs: expr                                       { $$ = dfl_exprs_add(dfl_exprs_none(), $1); }
  | exprs ',' expr                                { $$ = dfl_exprs_add($1, $3); } ;

expr: NUMBER                                      { $$ = dfl_ast_number(p, @$); }
  | QUANTITY                                      { $$ = dfl_ast_number(p, @$); }
  | STRING                                        { $$ = dfl_ast_string(p, @$); }
  | path                                          { $$ = dfl_ast_path_expr(p, @$, $1); }
  | path args                                     { $$ = dfl_ast_with_args(p, DFL_EXPR_CALL, @$, $1, $2); }
  | access
  | GATHER access BY access                       { $$ = dfl_ast_binary(p, DFL_EXPR_GATHER, @$, @3, $2, $4); }
  | '(' expr ')'                                  { $$ = $2; }
  | '-' expr %prec UNARY                          { $$ = dfl_ast_binary(p, DFL_EXPR_NEG, @$, @1, $2, NULL); }
  | expr '+' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_ADD, @$, @2, $1, $3); }
  | expr '-' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_SUB, @$, @2, $1, $3); }
  | expr '*' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_MUL, @$, @2, $1, $3); }
  | expr '/' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_DIV, @$, @2, $1, $3); }
  | expr '<' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_LT, @$, @2, $1, $3); }
  | expr '>' expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_GT, @$, @2, $1, $3); }
  | expr LE expr                                  { $$ = dfl_ast_binary(p, DFL_EXPR_LE, @$, @2, $1, $3); }
  | expr GE expr                                  { $$ = dfl_ast_binary(p, DFL_EXPR_GE, @$, @2, $1, $3); }
  | expr EQ expr                                  { $$ = dfl_ast_binary(p, DFL_EXPR_EQ, @$, @2, $1, $3); }
  | expr NE expr                                  { $$ = dfl_ast_binary(p, DFL_EXPR_NE, @$, @2, $1, $3); }
  | expr AND expr                                 { $$ = dfl_ast_binary(p, DFL_EXPR_AND, @$, @2, $1, $3); }
  | expr OR expr                                  { $$ = dfl_ast_binary(p, DFL_EXPR_OR, @$, @2, $1, $3); } ;

%%

/* Simulates the parser on a copy of its state stack, with the tables of the parser; no action runs. Only the top KEPT
   states of a deep stack are copied; a simulation that would pop below them, or grow beyond DEEP states, answers false. */
enum { DEEP = 512, KEPT = 256 };

typedef struct {
    yy_state_t state[DEEP];
    long depth;
} state_walk;

static bool walk_token(state_walk *w, yysymbol_kind_t symbol)
{
    for (;;) {
        yy_state_t state = w->state[w->depth - 1];
        int rule = yypact[state], left, to;

        if (!yypact_value_is_default(rule) && rule + symbol >= 0 && rule + symbol <= YYLAST &&
            yycheck[rule + symbol] == symbol) {
            rule = yytable[rule + symbol];
            if (yytable_value_is_error(rule) || w->depth == DEEP)
                return false;
            if (rule > 0) {
                w->state[w->depth++] = (yy_state_t)rule;
                return true;
            }
            rule = -rule;
        } else if ((rule = yydefact[state]) == 0) {
            return false;
        }
        w->depth -= yyr2[rule];
        if (w->depth < 1 || w->depth == DEEP)
            return false;
        left = yyr1[rule] - YYNTOKENS;
        to = yypgoto[left] + w->state[w->depth - 1];
        w->state[w->depth] = (yy_state_t)(to >= 0 && to <= YYLAST && yycheck[to] == w->state[w->depth - 1]
                                              ? yytable[to] : yydefgoto[left]);
        w->depth++;
    }
}

bool dfl_parser_accepts(const dfl_parser_state *state, const int *kinds, size_t n)
{
    const yy_state_t *bottom = state->bottom, *top = state->top;
    long all = top - bottom + 1;
    state_walk w = { .depth = all < KEPT ? all : KEPT };

    memcpy(w.state, bottom + (all - w.depth), (size_t)w.depth * sizeof *w.state);
    for (size_t i = 0; i < n; i++)
        if (kinds[i] == DFL_TOK_DFL_YYerror || !walk_token(&w, YYTRANSLATE(kinds[i])))
            return false;
    return true;
}

static bool is_name(yysymbol_kind_t symbol)
{
    state_walk w = { .depth = 1 };

    return walk_token(&w, YYSYMBOL_LET) && walk_token(&w, symbol);
}

bool dfl_token_is_name(int kind)
{
    return is_name(YYTRANSLATE(kind));
}

static int yyreport_syntax_error(const yypcontext_t *ctx, dfl_parse *p)
{
    yysymbol_kind_t expected[YYNTOKENS];
    const char *words[YYNTOKENS];
    int n = yypcontext_expected_tokens(ctx, expected, YYNTOKENS);
    size_t n_words = 0;
    bool takes_name = false;

    for (int i = 0; i < n; i++)
        takes_name = takes_name || expected[i] == YYSYMBOL_IDENT;
    for (int i = 0; i < n; i++) /* if a name is expected, omit the keywords that may be names */
        if (!takes_name || expected[i] == YYSYMBOL_IDENT || !is_name(expected[i]))
            words[n_words++] = yysymbol_name(expected[i]);
    if (yypcontext_token(ctx) != YYSYMBOL_YYEMPTY)
        dfl_parse_unexpected(p, *yypcontext_location(ctx), words, n_words);
    return 0;
}

static void yyerror(dfl_span *at, dfl_parse *p, const char *message)
{
    (void)message; /* bison calls yyerror only for "memory exhausted": parse.error is custom */
    dfl_parse_too_deep(p, *at);
}
