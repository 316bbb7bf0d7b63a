#!/usr/bin/env bash
# Fits what a switch costs for collectives of NCCL, and writes stdlib/networks/measured.dfl. The even lines of the table of
# measurements fit the numbers; tests/unit/collective/test_measured.c judges them by the odd lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=${REFERENCE:-../shared/reference}/silicon/collectives.csv
[ -f "$table" ] || { echo "there is no $table"; exit 1; }

fit() { # fit CHIP RANKS PEAK
    awk -v chip="$1" -v ranks="$2" -v peak="$3" -f tests/truth/collectives.awk "$table"
}

# write NAME CHIP PEAK BANDWIDTH SYSTEM RANKS...: the systems of one chip type; PEAK in bytes/us is the value of BANDWIDTH.
write() {
    name=$1 chip=$2 peak=$3 bandwidth=$4 system=$5
    shift 5
    for ranks in "$@"; do
        read -r overhead s1 s2 s3 s4 s5 s6 median high rows <<< "$(fit "$chip" "$ranks" "$peak")"
        cat << EOF

/// $ranks $name. Errors on held-out times: median $median %, 90th percentile $high % ($rows rows).
system ${chip%_sxm}_x$ranks {
    source = "$([ "$chip" = b60 ] && echo oneCCL || echo NCCL) times: ai-dynamo/aiconfigurator 095f58a5 (Apache-2.0)";
    confidence = "medium";
    network fabric = switch {
        bandwidth = $bandwidth;
        latency = 0ns;
        overhead = ${overhead}us;
        algorithm = direct;
        efficiency = curve(0B, $s1, 4KiB, $s1, 32KiB, $s2, 256KiB, $s3, 2MiB, $s4, 16MiB, $s5, 128MiB, $s6);
    }
    array gpu[$ranks] over fabric { use $system; }
}
EOF
    done
}

{
    cat << 'EOF'
dfl 1;
// Servers whose collectives take the times of NCCL: overhead of a step, and share of the bandwidth by the
// bits of a collective. The numbers hold for groups of all GPUs; a smaller group takes those of the smaller
// system. The times contain all protocols of NCCL, so the share is not that of the links alone. Half of the
// measured times fit the numbers. Written by tests/truth/fit_collectives.sh.
import std.chips.a100 as ampere;
import std.chips.h100 as hopper;
import std.chips.b200 as blackwell;
import std.chips.l40s as ada;
import std.chips.arc_b60 as battlemage;
import std.networks.links as link;
EOF
    write "A100 SXM behind NVSwitch" a100_sxm 300e3 link.nvlink3_bandwidth ampere.a100_80g 2 4 8
    write "H100 SXM behind NVSwitch" h100_sxm 450e3 link.nvlink4_bandwidth hopper.h100 2 4 8
    write "B200 SXM behind NVSwitch" b200_sxm 900e3 link.nvlink5_bandwidth blackwell.b200 2 4 8
    write "L40S over PCIe 4" l40s 31.508e3 link.pcie4_x16_bandwidth ada.l40s 2 4 8
    write "Arc Pro B60 over PCIe 5 with 8 lanes" b60 31.5075e3 "link.pcie5_x16_bandwidth / 2" battlemage.arc_b60 2 4
} > "$work/measured.dfl"
"${DFLC:-build/dflc}" fmt "$work/measured.dfl" > stdlib/networks/measured.dfl
