#!/bin/sh
# Builds a program of the workspace and prints its path: built.sh PROGRAM [ARGUMENT OF CARGO...]
# ANALECTS_PROFILE=dev takes the profile of the tests, which shares all dependencies with them.
set -eu
program=$1
shift
profile=${ANALECTS_PROFILE:-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
${CARGO:-cargo} build --locked --profile "$profile" -p "$program" "$@" >&2
echo "${CARGO_TARGET_DIR:-target}/$folder/$program"
