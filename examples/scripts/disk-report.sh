#!/bin/sh
# Writes a report on the disks, and on what takes space in the data folder. It fails
# when a disk is fuller than DISK_LIMIT percent (default 98).
set -eu
. "$(dirname "$0")/data.sh"

limit=${DISK_LIMIT:-98}
report="$data/reports/disk-$(date -u +%Y%m%d).txt"
{
	echo "${1:-disk usage} of $(uname -n), $(date -u)"
	df -P -k "$data"
	du -sk "$data"/* | sort -rn
} >"$report"
cat "$report"

used=$(df -P -k "$data" | awk 'NR == 2 { sub("%", "", $5); print $5 }')
if [ "$used" -gt "$limit" ]; then
	echo "the disk is $used % full, more than $limit %" >&2
	exit 1
fi
