#!/bin/sh
# Instructions per packet of qdiscs on processors of routers, as bench-kernel.sh counts them on x86-64: Debian 12's
# kernels for Cortex-A7 and Cortex-A53, emulated by QEMU with a clock that counts instructions. Not MIPS 24K: with
# such a clock QEMU's machine stops for minutes, at another place in each run.
# Writes target/bench-routers/NAME.json, and prints what that leaves of the processor at most.
# usage: scripts/bench-routers.sh [--short] [cortex-a7|cortex-a53]...     (all by default; some minutes each)
set -eu
cd "$(dirname "$0")/.."
say() { echo "bench-routers: $*"; }
fail() {
    say "error: $*" >&2
    exit 1
}

flows="1 10 100 1000"
if [ "${1:-}" = --short ]; then flows=1 && shift; fi
[ $# != 0 ] || set -- cortex-a7 cortex-a53

# of NAME: its kernel, its Debian, the kernel's name for it, the compiler's; the machine; its terminal; its clock in MHz.
# The clocks are those of common routers: IPQ4018, MT7981.
of() {
    case $1 in
    cortex-a7) set -- armmp armhf arm arm-linux-gnueabihf 'arm -M virt -cpu cortex-a7' ttyAMA0 717 ;;
    cortex-a53) set -- arm64 arm64 arm64 aarch64-linux-gnu 'aarch64 -M virt -cpu cortex-a53' ttyAMA0 1300 ;;
    *) fail "there is no processor $1: expected cortex-a7 or cortex-a53" ;;
    esac
    flavour=$1 architecture=$2 arch=$3 compiler=$4 machine=$5 terminal=$6 clock=$7
}
for name in "$@"; do of "$name"; done

sh scripts/apt.sh make gcc cpio kmod qemu-system-arm \
    gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf libc6-dev-arm64-cross libc6-dev-armhf-cross debian-archive-keyring
# All that test-cross.sh wants: another list would fetch everything again.
headers=$(sh scripts/cross-headers.sh arm64:arm64 armmp:armhf 4kc-malta:mipsel)
bench=$(sh scripts/built.sh bench)
results=$PWD/target/bench-routers

# built: the modules, the gate and tc's side for the processor, into $work.
built() {
    build=$headers/usr/src/$(cat "$headers/$flavour.name")
    sh kernel/copy.sh "$work/modules"
    cp -R kernel/bench "$work/gate"
    for folder in modules gate; do
        make -C "$build" M="$work/$folder" ARCH="$arch" CROSS_COMPILE="$compiler-" modules >>"$work/build.log" 2>&1 ||
            { tail -n 20 "$work/build.log" >&2; fail "$name: the modules do not build"; }
    done
    # Beside the modules, whose list of disciplines its makefile reads.
    mkdir "$work/modules/tc"
    cp kernel/tc/Makefile kernel/tc/*.[ch] "$work/modules/tc/"
    make -s -C "$work/modules/tc" CC="$compiler-gcc"
}

# initramfs: a system of Debian's, with what run.sh needs, into $work/initrd.
initramfs() {
    root=$(sh scripts/cross-root.sh "$flavour" "$architecture")
    release=$(ls "$root/lib/modules")
    system=$work/system
    mkdir -p "$system/bin" "$system/job" "$system/proc" "$system/sys" "$system/dev" "$system/lib/modules/$release" \
        "$system/usr/lib"
    cp "$root/bin/busybox" "$root/bin/ip" "$root/sbin/tc" "$system/bin/"
    cp -R "$root"/lib/*-linux-gnu* "$root"/lib/ld* "$system/lib/"
    cp -R "$root"/usr/lib/*-linux-gnu* "$system/usr/lib/"
    # What is not built in, with what it needs.
    for module in dummy pktgen sch_fq_codel sch_cake sch_fq; do
        modprobe -d "$root" -S "$release" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
    done | sort -u | while read -r file; do
        cp "$file" "$system/lib/modules/$release/"
    done
    cp "$root/lib/modules/$release"/modules.builtin* "$root/lib/modules/$release/modules.order" "$system/lib/modules/$release/"
    depmod -b "$system" "$release"
    cp kernel/bench/run.sh "$work"/modules/sch_*.ko "$work/gate/sch_gate.ko" "$work"/modules/tc/q_*.so "$system/job/"
    cat >"$system/init" <<'INIT'
#!/bin/busybox sh
for name in $(/bin/busybox --list); do
    case $name in ip | tc) ;; *) /bin/busybox ln -s busybox "/bin/$name" 2>/dev/null ;; esac
done
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
cd /job
sh ./run.sh $(sed 's/.*flows=\([0-9]*\).*/\1/' /proc/cmdline)
echo "run.sh ended: $?"
poweroff -f
INIT
    chmod +x "$system/init"
    (cd "$system" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
}

# measured FLOWS: what run.sh says of so many flows, into $work/said-FLOWS.
measured() {
    console=$work/console-$1
    # The list is split into words.
    # shellcheck disable=SC2086
    timeout 1800 qemu-system-$machine -m 512 -nographic -no-reboot -icount shift=0,sleep=off \
        -kernel "$root/boot/vmlinuz-$release" -initrd "$work/initrd" \
        -append "console=$terminal quiet panic=-1 flows=$1" </dev/null >"$console" 2>&1 || fail "$name: see $console"
    grep -q '^run.sh ended: 0' "$console" || { tail -n 20 "$console" >&2; fail "$name: run.sh failed, see $console"; }
    tr -d '\r' <"$console" | grep -E '^(near_empty|backlogged|drops) ' >"$work/said-$1"
}

for name in "$@"; do
    of "$name"
    work=$results/$name
    rm -rf "$work"
    mkdir -p "$work"
    say "$name: building"
    built
    initramfs
    said=
    for number in $flows; do
        say "$name: $number flows"
        measured "$number"
        said="$said $work/said-$number"
    done
    echo "$name, $release"
    # shellcheck disable=SC2086 # words
    "$bench" kernel-said --machine "$name $release" --out "$results/$name.json" $said
    python3 - "$results/$name.json" "$clock" <<'P'
import json, sys
costs = json.load(open(sys.argv[1]))["instructions_per_packet"]
bits = 8 * 1500
print(f"\nat {sys.argv[2]} MHz and an instruction a cycle, in packets of 1500 bytes, the discipline alone:")
for name in ("fq_codel", "mencius", "cake"):
    dearest = max(cost for state in costs.values() for cost in state[name].values())
    most = float(sys.argv[2]) / dearest * bits
    print(f"  {name:10} {100 * 100 / most:4.1f} % of the processor for 100 Mbit/s, at most {most:.0f} Mbit/s")
P
done
