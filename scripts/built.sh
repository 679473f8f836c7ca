#!/bin/sh
# Builds a program of the workspace and prints its path: built.sh PROGRAM
# ANALECTS_PROFILE=dev takes the profile of the tests, which shares all dependencies with them.
set -eu
profile=${ANALECTS_PROFILE:-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
${CARGO:-cargo} build --locked --profile "$profile" -p "$1" >&2
echo "${CARGO_TARGET_DIR:-target}/$folder/$1"
