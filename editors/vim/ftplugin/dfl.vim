" Vim settings for DFL: four blanks a level, lines of 100 columns, `dflc fmt` behind gq, `dflc check` behind :make.
if exists('b:did_ftplugin')
    finish
endif
let b:did_ftplugin = 1

setlocal comments=:///,:// commentstring=//\ %s
setlocal shiftwidth=4 softtabstop=4 expandtab textwidth=100
setlocal formatoptions-=t formatoptions+=croql
setlocal cindent cinoptions=+4,(4,:0 cinkeys-=:
setlocal formatprg=dflc\ fmt\ -
setlocal makeprg=dflc\ check\ --format\ short\ %:S
setlocal errorformat=%f:%l:%c:\ %trror[%*[^]]]:\ %m,%f:%l:%c:\ %tarning[%*[^]]]:\ %m
setlocal suffixesadd=.dfl

let b:undo_ftplugin = 'setlocal comments< commentstring< shiftwidth< softtabstop< expandtab< textwidth< formatoptions<'
            \ . ' cindent< cinoptions< cinkeys< formatprg< makeprg< errorformat< suffixesadd<'
