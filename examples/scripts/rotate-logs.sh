#!/bin/sh
# Rotates the logs that have more than 2000 bytes, or all with --all, and keeps four
# old ones of each.
set -eu
. "$(dirname "$0")/data.sh"

limit=2000
[ "${1:-}" = "--all" ] && limit=0

# An application that logs would be here; its part is played by these lines.
i=0
while [ $i -lt 40 ]; do
	echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) request $i served, and nothing to complain about" >>"$data/log/app.log"
	i=$((i + 1))
done

for log in "$data"/log/*.log; do
	size=$(wc -c <"$log")
	if [ "$size" -le $limit ]; then
		echo "$(basename "$log"): $size bytes, left alone"
		continue
	fi
	for n in 3 2 1; do
		if [ -e "$log.$n.gz" ]; then mv "$log.$n.gz" "$log.$((n + 1)).gz"; fi
	done
	mv "$log" "$log.1"
	gzip -f "$log.1"
	echo "$(basename "$log"): $size bytes, rotated to $(basename "$log").1.gz"
done
