# shellcheck shell=sh
# What tests with real programs count and compare. Sourced by a script that has fail().
tests=0

# passed NAME
passed() {
    tests=$((tests + 1))
    echo "ok $tests - $1"
}
# between NAME VALUE LEAST MOST, not only whole numbers
between() {
    awk -v x="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(x != "" && x + 0 >= a && x + 0 <= b) }' ||
        fail "$1: $2 is not in $3 to $4"
    echo "$1: $2"
}
