#!/bin/sh
# Adds what it reads to the notes, each line with the time.
set -eu
. "$(dirname "$0")/data.sh"

while IFS= read -r line; do
	echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $line" >>"$data/reports/notes.txt"
done
tail -n 4 "$data/reports/notes.txt"
