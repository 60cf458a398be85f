#!/usr/bin/env bash
# Runs every fuzz target of the module for a while each, one after the other:
# go test takes one target at a time.
# Usage: fuzz.sh [TIME]    TIME as for -fuzztime, default 5s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-5s}

# go test -list prints the names first and then "ok PACKAGE SECONDS".
targets=$(go test -list '^Fuzz' ./... | awk '
  /^Fuzz/ { name[++n] = $1 }
  /^ok/   { for (i = 1; i <= n; i++) print $2, name[i]; n = 0 }')
[[ -n $targets ]] || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }

failed=0
while read -r pkg target; do
  echo "== $pkg $target"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -timeout 10m "$pkg" </dev/null || failed=$((failed + 1))
done <<<"$targets"
((failed == 0)) || { echo "fuzz.sh: $failed of the targets failed; the inputs are in the testdata/fuzz folders above" >&2; exit 1; }
