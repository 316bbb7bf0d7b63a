" Vim syntax file of DFL, made by `make editors` from editors/templates/dfl.vim.
if exists('b:current_syntax')
    finish
endif
syntax case match
syntax sync minlines=100

syntax match dflName "\<\h\w*\>"
syntax match dflOperator "+=\|<=\|>=\|==\|!=\|&&\|||\|\.\.\.\=\|[-=+*<>?]\|/"

" Words that are never names.
syntax match dflStatement #\v<%(@DECLARATION|@)>#
syntax keyword dflStatement @WORKLOAD@
syntax keyword dflStatement @SYSTEM@
syntax keyword dflStatement @MAPPING@
syntax keyword dflStatement @CHECK@
syntax keyword dflWord @WORD@

" Words that may also be names: they are keywords before a name or a value, between two values, or behind a value.
syntax match dflStatement #\v[.]@1<!<%(@PREFIX|@)>%(\s+%(%(@BETWEEN|@)>|%(@INFIX|@)>%(\s*[=({\[,;:])@!|%(@POSTFIX|@)>%(\s*[=({\[:])@!|carrying>)@![[:alnum:]_"]|\s*$)@=#
syntax match dflStatement #\v%(%(^|[;{}])\s*)@32<=<%(repeat|minimize|pareto)>%(\s*[-(])@=#
syntax match dflWord #\v%([.]|[-(\[,=+*/<>:]\s=)@2<!<%(@INFIX|@)>%(\s+%(%(@BETWEEN|@)>|%(@INFIX|@)>%(\s*[=({\[,;:])@!|%(@POSTFIX|@)>%(\s*[=({\[:])@!|carrying>)@![-[:alnum:]_"(]|\s*$)@=#
syntax match dflModifier #\v%([.]|[-(\[,=+*/<>:]\s=|<%(on|in|by|as|for|use|keep|over|recompute)\s)@11<!<%(@POSTFIX|@)>%(\s*[,;]|\s+on%(line)=>)@=#

" The name in a declaration.
syntax match dflDeclares #\v[.]@1<!<%(@DECLARES|@)>\ze\s+%(%(@BETWEEN|@)>|%(@INFIX|@)>%(\s*[=({\[,;:])@!|%(@POSTFIX|@)>%(\s*[=({\[:])@!|carrying>)@!\h\w*>%(\s*[\[;])@!# nextgroup=dflDeclared skipwhite
syntax match dflDeclared #\h\w*# contained

" Numbers, with known and with unknown units.
syntax match dflNumber #\v<\d[0-9_]*%(\.\d[0-9_]*)=%([eE][+-]=\d+)=# nextgroup=dflUnit,dflNoUnit
syntax match dflNoUnit #\v[A-Za-z%]\w*# contained
syntax match dflUnit #\v%(%([kMGTPE]|[KMGTPE]i)=%(@PREFIXED_BINARY|@)|[pnumkMGTPE]=%(@PREFIXED_SI|@)|[kMGTPE]=%(@PREFIXED_BIG|@)|%(@PREFIXED_NO|@))%(\w)@!# contained nextgroup=dflPer
syntax match dflPer #\v/%(%([kMGTPE]|[KMGTPE]i)=%(@PREFIXED_BINARY|@)|[pnumkMGTPE]=%(@PREFIXED_SI|@)|[kMGTPE]=%(@PREFIXED_BIG|@)|%(@PREFIXED_NO|@))%(\w)@!# contained nextgroup=dflPer

syntax region dflString start=+"+ skip=+\\.+ end=+"+ end=+$+ oneline
syntax match dflComment "//.*$" contains=@Spell
syntax match dflDoc "///\%(/\)\@!.*$" contains=@Spell
syntax region dflComment start="/\*" end="\*/" contains=@Spell

highlight default link dflStatement Keyword
highlight default link dflWord Keyword
highlight default link dflModifier Keyword
highlight default link dflDeclares Keyword
highlight default link dflDeclared Function
highlight default link dflNumber Number
highlight default link dflUnit Type
highlight default link dflPer Type
highlight default link dflNoUnit Error
highlight default link dflString String
highlight default link dflComment Comment
highlight default link dflDoc SpecialComment
highlight default link dflOperator Operator
let b:current_syntax = 'dfl'
