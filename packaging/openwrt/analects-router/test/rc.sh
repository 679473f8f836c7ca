# shellcheck shell=sh
# What analects.init calls of OpenWrt's rc.common, procd.sh and functions.sh, reduced to what the test needs: UCI's
# options come from files SECTION/OPTION below $UCI, and what procd would be told is printed.

config_load() { :; }
config_foreach() {
    for section in "$UCI"/*; do "$1" "${section##*/}"; done
}
config_get() { eval "$1=\$(cat \"\$UCI/\$2/\$3\" 2>/dev/null || true)"; }
config_get_bool() {
    case $(cat "$UCI/$2/$3" 2>/dev/null) in
        1 | on | true | yes | enabled) eval "$1=1" ;;
        *) eval "$1=0" ;;
    esac
}
procd_open_instance() {
    echo "instance $1"
    : >"$WORK/command"
}
procd_set_param() {
    case $1 in
        command) shift && printf '%s\n' "$@" >"$WORK/command" ;;
        *) echo "$*" ;;
    esac
}
procd_append_param() { shift && printf '%s\n' "$@" >>"$WORK/command"; }
procd_add_reload_trigger() { echo "trigger $1"; }
# Runs what procd would run, in its place.
procd_close_instance() {
    set --
    while IFS= read -r word; do set -- "$@" "$word"; done <"$WORK/command"
    "$@"
}
