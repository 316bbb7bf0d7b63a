" Writes the letters of colours.txt for every line of the buffer to $LETTERS.
let s:letter = {'dflStatement': 'k', 'dflWord': 'k', 'dflModifier': 'k', 'dflDeclares': 'k', 'dflDeclared': 'd',
            \ 'dflNumber': 'n', 'dflUnit': 'u', 'dflPer': 'u', 'dflNoUnit': 'x', 'dflString': 's', 'dflComment': 'c',
            \ 'dflDoc': 'D'}
let s:lines = []
for s:row in range(1, line('$'))
    let s:out = ''
    for s:column in range(1, len(getline(s:row)))
        let s:out .= get(s:letter, synIDattr(synID(s:row, s:column, 1), 'name'), '.')
    endfor
    call add(s:lines, s:out)
endfor
call writefile(s:lines, $LETTERS)
