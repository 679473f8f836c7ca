# shellcheck shell=sh disable=SC2154
# Packages of Debian 12, or of the release `suite`, for other processors. Sourced with `cache`, a folder, and
# `architectures`, words; sets APT_CONFIG. apt's own settings and lists are left alone: it needs no root.
mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
: > "$cache/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${suite:-bookworm} main" \
    > "$cache/apt/sources.list"
{
    for setting in "State::lists \"$cache/apt/lists\"" "State::status \"$cache/apt/status\"" \
        "Cache \"$cache/apt\"" "Cache::archives \"$cache/apt/archives\"" \
        "Etc::SourceList \"$cache/apt/sources.list\"" 'Etc::SourceParts "/dev/null"' \
        'Etc::Preferences "/dev/null"' 'Etc::PreferencesParts "/dev/null"'; do
        echo "Dir::$setting;"
    done
    echo 'APT::Architectures {'
    # shellcheck disable=SC2086 # words
    printf '"%s";\n' amd64 $architectures
    echo '}; Acquire::Languages "none"; APT::Sandbox::User "";'
} > "$cache/apt.conf"
export APT_CONFIG="$cache/apt.conf"
apt-get update -qq >&2
