autocmd BufNewFile,BufRead *.dfl setfiletype dfl
