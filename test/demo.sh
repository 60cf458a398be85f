#!/usr/bin/env bash
# The whole job against the embedded simulator: calibrate, check, and two sick
# clusters that must not pass. Usage: demo.sh BINARY FOLDER
set -euo pipefail
bin=${1:?usage: demo.sh BINARY FOLDER} out=${2:?usage: demo.sh BINARY FOLDER}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rm -rf "$out"
mkdir -p "$out"
overlay=$out/gb300-eks-ubuntu-inference-dynamo.yaml
cp "$here/recipes/overlays/gb300-eks-ubuntu-inference-dynamo.yaml" "$overlay"

# expect CODE COMMAND…: show the command, run it, demand its exit code
expect() {
  local want=$1 got=0
  shift
  printf '\n$ %s\n' "perfsweep ${*:2}"
  "$@" || got=$?
  if ((got != want)); then
    echo "demo: exit code $got, expected $want" >&2
    exit 1
  fi
  echo "(exit code $got, as expected)"
}

expect 0 "$bin" calibrate --target sim:gb300 --effort quick --allow-simulated \
  --overlay "$overlay" --journal "$out/gb300.jsonl" --write
expect 0 "$bin" check --target sim:gb300 --effort quick --overlay "$overlay" --baseline "$out/gb300.jsonl"
echo
echo "The same overlay against a cluster at 70 % of its speed must fail:"
expect 8 "$bin" check --target 'sim:gb300?speed=0.7' --effort quick --overlay "$overlay" --baseline "$out/gb300.jsonl"
echo
echo "... and against one that stands still three windows of ten nothing may be concluded:"
expect 9 "$bin" check --target 'sim:gb300?stall=0.3' --effort quick --overlay "$overlay" --baseline "$out/gb300.jsonl"
echo
echo "demo: all four ended as they should; see $out"
