#!/bin/sh
# What analects.init starts and stops for /etc/config/analects, compared with expected.txt. Changes no network: the
# program is an echo of its words. SHELL_OF_ROUTER may be another shell, of two words too: busybox ash.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nfor word; do printf "[%%s]" "$word"; done\necho\n' >"$work/program"
chmod +x "$work/program"
sed "s|^PROGRAM=.*|PROGRAM=$work/program|" ../analects.init >"$work/init"

# option SECTION OPTION VALUE
option() {
    mkdir -p "$work/uci/$1"
    printf '%s' "$3" >"$work/uci/$1/$2"
}
# The section that the package has: its options as they stand, but switched on.
sed -n "s/^[[:space:]]*option \([a-z]*\) '\(.*\)'$/\1 \2/p" ../analects.config | while read -r name value; do
    option wan "$name" "$value"
done
option off device eth7
option off up 3mbit
option second enabled 1
option second device eth1
option second up 9mbit
option second overhead docsis
option second favour 'calls; $(reboot)'
option second page '192.168.1.1:8080'
option second page_password_file '/etc/a b'
option third enabled 1
option third device eth2

call() {
    echo "== $1"
    # Two words, where it is busybox.
    # shellcheck disable=SC2086
    UCI=$work/uci WORK=$work ${SHELL_OF_ROUTER:-sh} -c ". ./rc.sh; . $work/init; $1" 2>&1
}
{
    call start_service
    option wan enabled 1
    call start_service
    call service_stopped
    call service_triggers
} >"$work/said"
diff expected.txt "$work/said"
echo "procd: what is started and stopped is what was expected"
