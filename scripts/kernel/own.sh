# shellcheck shell=sh disable=SC2154
# Building kernels of our own from Debian's source, once, and modules for them. Sourced with the
# project's root as the current directory, after say() and fail(), and with
#   source    the kernel's source, left unchanged
#   own       the kernel's folder in the cache, an absolute path
#   arch      the architecture's name in the kernel's Makefile
#   config    the lines that the kernel's configuration must have
#   flags     a word for the kernel's Makefile, if there is one
#   logs      the folder of make's output, an absolute path

stamp() { cat "$@" | sha256sum | cut -c1-64; }
stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

kernel_make() { make -C "$source" "ARCH=$arch" "O=$own/build" ${flags:+"$flags"} "$@"; }

# Fails if the kernel's configuration lacks a line of ours: one that another forbids vanishes silently.
check_config() {
    lost=0
    while read -r line; do
        case $line in
        CONFIG_*) grep -qxF -- "$line" "$own/build/.config" || { say "lost: $line"; lost=1; } ;;
        "# CONFIG_"*" is not set")
            option=${line#\# }
            ! grep -q "^${option%% *}=" "$own/build/.config" || { say "lost: $line"; lost=1; } ;;
        esac
    done <"$config"
    [ $lost = 0 ] || fail "the kernel's configuration is not what $config says"
}

# build_kernel WHAT MINUTES DEFAULTS TARGET: the image TARGET and the modules; options that the
# configuration does not set are left at DEFAULTS, a target of the kernel's Makefile. A new one is not tested.
build_kernel() {
    package=$source/../package
    want=$(stamp "$package" "$config" kernel/test/uml-stacktrace.patch)${flags:-}
    if stamped "$own/built" "$want"; then return; fi
    rm -f "$own/built" "$own/proven"
    mkdir -p "$own/build"
    kernel_make -s "KCONFIG_ALLCONFIG=$PWD/$config" "$3" >"$logs/config.log" 2>&1 ||
        fail "configuring failed: $logs/config.log"
    check_config
    say "building $1 ($(cat "$package")); about $2 minutes on two cores"
    kernel_make -j"$(nproc)" "$4" modules >"$logs/build.log" 2>&1 &
    job=$!
    while kill -0 $job 2>/dev/null; do
        sleep 20
        say "  $(grep -c '^  CC' "$logs/build.log" || true) files compiled"
    done
    wait $job || { tail -n 20 "$logs/build.log" >&2; fail "the kernel does not build: $logs/build.log"; }
    check_config
    echo "$want" >"$own/built"
}

# build_module NAME SOURCES...: into $own/NAME, with a copy of the sources, files or folders, so that
# nothing is written next to them. A warning is an error.
build_module() {
    name=$1
    shift
    rm -rf "${own:?}/$name"
    mkdir -p "$own/$name"
    cp -R "$@" "$own/$name/"
    [ -f "$own/$name/Kbuild" ] || echo "obj-m := $name.o" >"$own/$name/Kbuild"
    make -s -C "$own/build" "ARCH=$arch" "M=$own/$name" modules >"$logs/$name.log" 2>&1 ||
        { cat "$logs/$name.log" >&2; fail "the module $name does not build"; }
    ! grep -q 'warning:' "$logs/$name.log" || { cat "$logs/$name.log" >&2; fail "the module $name has warnings"; }
}
