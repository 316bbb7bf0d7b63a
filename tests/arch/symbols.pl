#!/usr/bin/perl
# symbols.pl ROOT OBJECTS: the rules of run_arch.sh that need the objects of a build, or the types of all files. OBJECTS is the
# folder that holds src/**/X.o and gen/**/X.o. Standard input is layers.txt. A finding is a line `RULE ROOM TEXT`. Rules:
#
#   calls      a function or table that a file uses is defined in its own room or in one that layers.txt allows
#   circles    no circle of uses between files of src/; the finding names the symbols of each use
#   declared   a function that X.c exports is declared in X.h, FOLDER.h or FOLDER_internal.h of its folder, or in the public headers
#              that the room may include
#   face       a room with a line `face ROOM: HEADER...` declares in these headers all functions and tables for other rooms, except
#              for its sub-rooms (`mapper/tiling` of `mapper`)
#   types      a type name in a header, or with the prefix dfl_, has one definition in the whole tree
use strict;
use warnings;

my ($root, $objects) = @ARGV;
my (%allowed, %face);
while (<STDIN>) {
    if (/^room ([^:]*): *(.*)/) {
        $allowed{$1}{$_} = 1 for $1, split ' ', $2;
    } elsif (/^face ([^:]*): *(.*)/) {
        $face{$1} = $2;
    }
}

sub lines_of { my ($command) = @_; my @lines = split /\n/, `$command`; return @lines }
sub finding { my ($rule, $room, $text) = @_; print "$rule $room $text\n" }
sub room_of { my ($file) = @_; return $file =~ m{^src/(.*)/[^/]*$} ? $1 : $file =~ m{^grammar/} ? 'syntax' : '' }

my %code; # text of a file without comments
sub code_of {
    my ($file) = @_;
    if (!defined $code{$file}) {
        my $text = '';
        if (open my $handle, '<', "$root/$file") { local $/; $text = <$handle> }
        $text =~ s{/\*.*?\*/}{ }gs;
        $text =~ s{//[^\n]*}{}g;
        $code{$file} = $text;
    }
    return $code{$file};
}

# ---- symbols of the objects ----

my (%where, %exports, %uses); # symbol -> file; file -> symbols; user -> used file -> symbols
my @wanted;
for my $object (sort(lines_of("find '$objects/src' '$objects/gen' -name '*.o' 2>/dev/null"))) {
    (my $file = $object) =~ s{^\Q$objects\E/}{};
    $file =~ s{\.o$}{.c};
    $file =~ s{^gen/}{src/};
    # Skip the object of a source that was removed or renamed.
    next if $object !~ m{/gen/[^/]*/[^/]*$} && !-f "$root/$file";
    push @wanted, [$object, $file];
}
my %file_of = map { $_->[0] => $_->[1] } @wanted;
my @undefined;
if (@wanted) {
    open my $names, '-|', 'nm', '-A', '-g', map { $_->[0] } @wanted or die "nm: $!";
    while (<$names>) {
        next unless /^(.*\.o):\s*([0-9a-f]*) ([A-Za-z]) (\S+)$/;
        my ($file, $kind, $symbol) = ($file_of{$1}, $3, $4);
        next if $symbol =~ /^_|^(?:main|yy)/;
        if ($kind eq 'U') {
            push @undefined, [$file, $symbol];
        } elsif ($kind =~ /[TRDBVWC]/) {
            $where{$symbol} = $file;
            push @{$exports{$file}}, $symbol if $kind =~ /[TW]/;
        }
    }
    close $names;
}
my %used_elsewhere; # symbol -> [user, ...] of other rooms
for my $use (@undefined) {
    my ($file, $symbol) = @$use;
    my $target = $where{$symbol};
    next if !defined $target || $target eq $file;
    push @{$uses{$file}{$target}}, $symbol;
    push @{$used_elsewhere{$symbol}}, $file if room_of($file) ne room_of($target);
}

for my $file (sort keys %uses) {
    my $room = room_of($file);
    for my $target (sort keys %{$uses{$file}}) {
        next if $allowed{$room}{room_of($target)};
        finding('calls', $room, "$file: room $room may not use $target: @{$uses{$file}{$target}}");
    }
}

# Strongly connected components by Tarjan's algorithm; a component of more than one file is a circle.
my (%index, %low, %on_stack, @stack, @circles);
my $next_index = 0;
sub visit {
    my ($file) = @_;
    no warnings 'recursion';
    $index{$file} = $low{$file} = $next_index++;
    push @stack, $file;
    $on_stack{$file} = 1;
    for my $target (sort keys %{$uses{$file} || {}}) {
        if (!defined $index{$target}) {
            visit($target);
            $low{$file} = $low{$target} if $low{$target} < $low{$file};
        } elsif ($on_stack{$target}) {
            $low{$file} = $index{$target} if $index{$target} < $low{$file};
        }
    }
    return if $low{$file} != $index{$file};
    my @members;
    my $member;
    do {
        $member = pop @stack;
        $on_stack{$member} = 0;
        push @members, $member;
    } while $member ne $file;
    push @circles, [sort @members] if @members > 1;
}
# Generated files of bison and flex may form circles: they must call back into their callers.
for my $file (grep { !-f "$root/$_" } keys %uses) {
    delete $uses{$file};
}
for my $file (sort keys %uses) {
    visit($file) if !defined $index{$file};
}
for my $circle (sort { $a->[0] cmp $b->[0] } @circles) {
    my %is_member = map { $_ => 1 } @$circle;
    my $room = room_of($circle->[0]);
    finding('circles', $room, scalar(@$circle) . " files: @$circle");
    for my $file (@$circle) {
        for my $target (grep { $is_member{$_} } sort keys %{$uses{$file}}) {
            finding('circles', $room, "    $file uses $target: @{$uses{$file}{$target}}");
        }
    }
}

# Collects the names before a parenthesis on lines that begin a declaration, without static functions.
my %declared;
sub declared_in {
    my ($header) = @_;
    if (!$declared{$header}) {
        $declared{$header} = {};
        for my $line (split /\n/, code_of($header)) {
            next if $line !~ /^[A-Za-z_]/ || $line =~ /^static\b/;
            $declared{$header}{$1} = 1 while $line =~ /\b(\w+)\s*\(/g;
        }
    }
    return $declared{$header};
}

my @public = map { s{^\Q$root\E/}{}r } sort(lines_of("find '$root/include' -name '*.h' 2>/dev/null"));
for my $file (sort keys %exports) {
    next if !-f "$root/$file";
    my $room = room_of($file);
    my ($stem) = $file =~ m{([^/]*)\.c$};
    my ($folder) = $room =~ m{([^/]*)$};
    my @headers = map { "src/$room/$_.h" } $stem, $folder, "${folder}_internal";
    push @headers, @public if $allowed{$room}{dfl};
    for my $symbol (sort @{$exports{$file}}) {
        next if grep { declared_in($_)->{$symbol} } @headers;
        finding('declared', $room, "$file: $symbol is not declared in $stem.h, $folder.h or ${folder}_internal.h");
    }
}
for my $symbol (sort keys %used_elsewhere) {
    my $room = room_of($where{$symbol});
    my @users = grep { index(room_of($_), "$room/") != 0 } @{$used_elsewhere{$symbol}};
    next if !$face{$room} || !@users || grep { code_of("src/$_") =~ /\b$symbol\b/ } split ' ', $face{$room};
    finding('face', $room, "$where{$symbol}: $symbol is used by $users[0], and not declared in $face{$room}");
}

# ---- names of types ----

my %types; # name -> files, one a definition
sub add_type {
    my ($file, $name) = @_;
    $types{$name}{$file} = 1 if $name =~ /^dfl_/ || $file =~ /\.h$/; # two definitions in one file are alternatives under #if
}
for my $file (map { s{^\Q$root\E/}{}r } sort(lines_of("find '$root/src' '$root/grammar' '$root/include' -name '*.[chy]' 2>/dev/null"))) {
    (my $text = code_of($file)) =~ s/__attribute__\s*\(\(.*?\)\)//gs;
    # Replace each body by one character, innermost first, so that `struct x {` is found inside of other structs, too.
    my @inner;
    1 while $text =~ s/\{([^{}]*)\}/push @inner, $1; "\001"/e;
    for my $part ($text, @inner) {
        while ($part =~ /\btypedef\b\s*([^;]*);/g) {
            my $type = $1;
            if ($type =~ /^(?:struct|union|enum)\s*(\w*)\s*\001\s*(\w+)/) {
                add_type($file, $2);
                add_type($file, $1) if $1 ne '' && $1 ne $2;
            } elsif ($type =~ /^(?:struct|union|enum)\s+(\w+)\s+(\w+)$/) {
                add_type($file, $2) if $1 ne $2; # else a declaration of the struct, which is defined elsewhere
            } elsif ($type =~ /\(\s*\*\s*(\w+)\s*\)\s*\(/ || $type =~ /(?:\)|\s|\*)(\w+)\s*(?:\(|\[|$)/) {
                add_type($file, $1);
            }
        }
        (my $rest = $part) =~ s/\btypedef\b[^;]*;//g;
        add_type($file, $1) while $rest =~ /\b(?:struct|union|enum)\s+(\w+)\s*\001/g;
    }
}
for my $name (sort keys %types) {
    my @files = sort keys %{$types{$name}};
    finding('types', $_, "$name is a type of " . join(', ', @files)) for @files > 1 ? room_of($files[0]) || 'dfl' : ();
}
