# textmate.pl GRAMMAR < TEXT: for every line of the text a line of letters (see colours.txt), found by applying the
# TextMate grammar as an editor does: at each place the earliest match of the patterns that are active, the first of
# equals; `begin` opens patterns of its own up to `end`. Fails with a message if the grammar is not JSON, refers to a
# missing part, or has a pattern that matches the empty text.
use strict;
use warnings;

# ---- JSON ----
my $text;

sub value {
    $text =~ /\G\s*/gc;
    if ($text =~ /\G\{\s*/gc) {
        my %map;
        return \%map if $text =~ /\G\}/gc;
        do {
            $text =~ /\G\s*(?=")/gc or die "JSON: a key is missing at " . pos($text) . "\n";
            my $key = value();
            $text =~ /\G\s*:/gc or die "JSON: `:` is missing at " . pos($text) . "\n";
            die "JSON: `$key` twice\n" if exists $map{$key};
            $map{$key} = value();
        } while $text =~ /\G\s*,/gc;
        $text =~ /\G\s*\}/gc or die "JSON: `}` is missing at " . pos($text) . "\n";
        return \%map;
    }
    if ($text =~ /\G\[\s*/gc) {
        my @list;
        return \@list if $text =~ /\G\]/gc;
        do { push @list, value() } while $text =~ /\G\s*,/gc;
        $text =~ /\G\s*\]/gc or die "JSON: `]` is missing at " . pos($text) . "\n";
        return \@list;
    }
    if ($text =~ /\G"((?:[^"\\\x00-\x1f]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"/gc) {
        my ($s, %named) = ($1, b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
        $s =~ s/\\(?:u(.{4})|(.))/defined $1 ? chr hex $1 : $named{$2} || $2/ge;
        return $s;
    }
    return $1 if $text =~ /\G(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/gc;
    die "JSON: no value at " . (pos($text) || 0) . "\n";
}

sub read_json {
    open(my $in, '<', $_[0]) or die "$_[0]: $!\n";
    local $/;
    $text = <$in>;
    my $top = value();
    $text =~ /\G\s*\z/gc or die "JSON: text behind the end\n";
    return $top;
}

# ---- the grammar ----
my $grammar = read_json(shift @ARGV);
exit 0 if @ARGV && $ARGV[0] eq '--only-json';

sub compiled {
    my ($pattern) = @_;
    my $re = eval { qr/$pattern/ } or die "bad pattern: $pattern\n";
    die "matches nothing at all: $pattern\n" if $pattern ne '"|$' && '' =~ /\A(?:$re)\z/;
    return $re;
}

# The rules of a list of patterns, includes resolved, in order.
sub rules {
    my ($patterns) = @_;
    my @rules;
    for my $p (@{$patterns || []}) {
        if (my $name = $p->{include}) {
            $name =~ s/^#//;
            my $part = $grammar->{repository}{$name} or die "no part #$name\n";
            push @rules, rules($part->{patterns});
            next;
        }
        my $from = defined $p->{match} ? $p->{match} : $p->{begin};
        defined $from or die "a pattern without match or begin\n";
        push @rules, {
            re => compiled($from), name => $p->{name}, captures => $p->{captures} || {},
            end => defined $p->{end} ? compiled($p->{end}) : undef, inner => [rules($p->{patterns})],
        };
    }
    return @rules;
}

sub letter {
    my ($scope) = @_;
    return '.' unless defined $scope;
    for (['comment.line.doc', 'D'], ['comment', 'c'], ['string', 's'], ['constant.char', 's'], ['constant.numeric', 'n'],
         ['keyword.other.unit', 'u'], ['invalid', 'x'], ['entity.name', 'd'], ['keyword.operator', '.'], ['keyword', 'k']) {
        return $_->[1] if index($scope, $_->[0]) == 0;
    }
    return '.';
}

my @open = ({ rules => [rules($grammar->{patterns})] });

sub paint {
    my ($out, $from, $to, $scope) = @_;
    substr($$out, $_, 1) = letter($scope) for $from .. $to - 1;
}

while (my $line = <STDIN>) {
    chomp $line;
    my ($out, $at) = ('.' x length $line, 0);
    while ($at <= length $line) {
        my ($top, $best, $first, @start, @end) = ($open[-1], undef, undef);
        my @candidates = @{$top->{rules}};
        unshift @candidates, { re => $top->{end}, closes => 1 } if $top->{end};
        for my $rule (@candidates) {
            pos($line) = $at;
            next unless $line =~ /$rule->{re}/g;
            next if defined $first && $-[0] >= $first;
            ($best, $first, @start) = ($rule, $-[0], @-);
            @end = @+;
        }
        my $until = defined $best ? $first : length $line;
        paint(\$out, $at, $until, $top->{name}) if $top->{name};
        last unless defined $best;
        if ($best->{closes}) {
            paint(\$out, $start[0], $end[0], $top->{name});
            pop @open;
        } else {
            paint(\$out, $start[0], $end[0], $best->{name}) if $best->{name};
            for my $n (keys %{$best->{captures}}) {
                paint(\$out, $start[$n], $end[$n], $best->{captures}{$n}{name}) if defined $start[$n];
            }
            push @open, { rules => $best->{inner}, end => $best->{end}, name => $best->{name} } if $best->{end};
        }
        $at = $end[0] > $at || $best->{closes} ? $end[0] : $at + 1;
        last if $at >= length $line && !($open[-1]{end} && $line =~ /$open[-1]{end}/);
        last if $at >= length $line && $best->{closes};
    }
    print "$out\n";
}
