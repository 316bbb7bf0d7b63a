" Vim syntax file of DFL, made by `make editors` from editors/templates/dfl.vim.
if exists('b:current_syntax')
    finish
endif
syntax case match
syntax sync minlines=100

syntax match dflName "\<\h\w*\>"
syntax match dflOperator "+=\|<=\|>=\|==\|!=\|&&\|||\|\.\.\.\=\|[-=+*<>?]\|/"

" Words that are never names.
syntax match dflStatement #\v<%(import|mapping)>#
syntax keyword dflStatement where gather
syntax keyword dflStatement use
syntax keyword dflStatement temporal spatial keep fuse pipeline
syntax keyword dflStatement require expect assume
syntax keyword dflWord as else for if in on over

" Words that may also be names: they are keywords before a name or a value, between two values, or behind a value.
syntax match dflStatement #\v[.]@1<!<%(dfl|option|param|let|op|workload|system|sweep|rank|input|weight|output|state|apply|repeat|carrying|memory|compute|network|array|element|recompute|each|minimize|pareto)>%(\s+%(%(where|pipeline|as|else|for|if|in|on|over)>|%(by|exactly|from|of|reuse|load|step|times|within)>%(\s*[=({\[,;:])@!|%(online|cyclic|fresh|window|split)>%(\s*[=({\[:])@!|carrying>)@![[:alnum:]_"]|\s*$)@=#
syntax match dflStatement #\v%(%(^|[;{}])\s*)@32<=<%(repeat|minimize|pareto)>%(\s*[-(])@=#
syntax match dflWord #\v%([.]|[-(\[,=+*/<>:]\s=)@2<!<%(by|exactly|from|of|reuse|load|step|times|within)>%(\s+%(%(where|pipeline|as|else|for|if|in|on|over)>|%(by|exactly|from|of|reuse|load|step|times|within)>%(\s*[=({\[,;:])@!|%(online|cyclic|fresh|window|split)>%(\s*[=({\[:])@!|carrying>)@![-[:alnum:]_"(]|\s*$)@=#
syntax match dflModifier #\v%([.]|[-(\[,=+*/<>:]\s=|<%(on|in|by|as|for|use|keep|over|recompute)\s)@11<!<%(online|cyclic|fresh|window|split)>%(\s*[,;]|\s+on%(line)=>)@=#

" The name in a declaration.
syntax match dflDeclares #\v[.]@1<!<%(option|param|let|op|workload|system|mapping|sweep|memory|compute|network|element)>\ze\s+%(%(where|pipeline|as|else|for|if|in|on|over)>|%(by|exactly|from|of|reuse|load|step|times|within)>%(\s*[=({\[,;:])@!|%(online|cyclic|fresh|window|split)>%(\s*[=({\[:])@!|carrying>)@!\h\w*>%(\s*[\[;])@!# nextgroup=dflDeclared skipwhite
syntax match dflDeclared #\h\w*# contained

" Numbers, with known and with unknown units.
syntax match dflNumber #\v<\d[0-9_]*%(\.\d[0-9_]*)=%([eE][+-]=\d+)=# nextgroup=dflUnit,dflNoUnit
syntax match dflNoUnit #\v[A-Za-z%]\w*# contained
syntax match dflUnit #\v%(%([kMGTPE]|[KMGTPE]i)=%(B|bit)|[pnumkMGTPE]=%(s|J|W)|[kMGTPE]=%(FLOP|OP|MAC|FLOPS|OPS|MACS|Wh|Hz|cycle|USD|gCO2e)|%(min|h|day|year|m2|cm2|mm2|um2|[%]))%(\w)@!# contained nextgroup=dflPer
syntax match dflPer #\v/%(%([kMGTPE]|[KMGTPE]i)=%(B|bit)|[pnumkMGTPE]=%(s|J|W)|[kMGTPE]=%(FLOP|OP|MAC|FLOPS|OPS|MACS|Wh|Hz|cycle|USD|gCO2e)|%(min|h|day|year|m2|cm2|mm2|um2|[%]))%(\w)@!# contained nextgroup=dflPer

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
