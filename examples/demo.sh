#!/usr/bin/env bash
# The main job on real text: notices written for this folder, support tickets in a table, and
# what every machine has, the modules of the Python installation itself.
set -euo pipefail
cd "$(dirname "$0")"
nearly=../.venv/bin/nearly
modules=$(../.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. A folder of notices: which are nearly the same?"
echo '$ nearly find notices --threshold 0.7'
"$nearly" find notices --threshold 0.7

say "2. A table of tickets: keep the newest of each cluster."
echo '$ nearly dedup tickets.csv --id ticket --text body --threshold 0.7 --keep newest:opened -o clean.csv'
"$nearly" dedup tickets.csv --id ticket --text body --threshold 0.7 --keep newest:opened -o "$work/clean.csv" --removed "$work/removed.csv"
cat "$work/removed.csv"

say "3. The modules of this Python: near-copies among the sources of the standard library."
echo '$ nearly find .../lib/python3.x --glob "*.py" --unit word --threshold 0.6'
"$nearly" find "$modules" --glob '*.py' --unit word --threshold 0.6 || [ $? -eq 3 ]

say "4. Two files side by side."
echo '$ nearly compare notices/library-hours.txt notices/library-hours-corrected.txt'
"$nearly" compare notices/library-hours.txt notices/library-hours-corrected.txt
