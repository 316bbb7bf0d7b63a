# Turns the pages EXXXX.md into rows of a C table: one string literal a line of text.
FNR == 1 {
    if (open)
        print "    },"
    name = FILENAME
    sub(/.*\//, "", name)
    number = substr(name, 2, 4)
    sub(/^0+/, "", number)
    print "    { " number ","
    open = 1
}
{
    gsub(/["\\]/, "\\\\&")
    gsub(/\t/, "    ")
    gsub(/\?\?/, "?\"\"?")
    print "      \"" $0 "\\n\""
}
END {
    if (open)
        print "    },"
}
