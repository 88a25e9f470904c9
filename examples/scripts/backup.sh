#!/bin/sh
# Saves the files into a tar archive, and keeps the newest seven. With "verify" it also
# reads the archive back.
set -eu
. "$(dirname "$0")/data.sh"

archive="$data/backup/files-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
tar -czf "$archive.part" -C "$data" files
mv "$archive.part" "$archive" # a backup that was cut off never looks like one
echo "saved $(tar -tzf "$archive" | grep -c '[^/]$') files in $(basename "$archive"), $(wc -c <"$archive") bytes"

if [ "${1:-}" = verify ]; then
	gzip -t "$archive"
	tar -xzOf "$archive" | cksum
fi

# Names sort by age.
ls "$data"/backup/files-*.tar.gz | sort -r | tail -n +8 | while read -r old; do
	rm -- "$old"
	echo "removed $(basename "$old")"
done
