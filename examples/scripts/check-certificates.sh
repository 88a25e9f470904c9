#!/bin/sh
# Fails when a certificate expires within WARN_DAYS days (default 14).
set -eu
. "$(dirname "$0")/data.sh"

warn=${WARN_DAYS:-14}
if ! command -v openssl >/dev/null 2>&1; then
	echo "openssl is not installed: nothing was checked"
	exit 0
fi

# A certificate of our own, valid for a quarter, so that there is one to check.
if [ ! -e "$data/certificates/example.pem" ]; then
	openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=carillon.example \
		-keyout "$data/certificates/example.key" -out "$data/certificates/example.pem" 2>/dev/null
fi

bad=0
for pem in "$data"/certificates/*.pem; do
	end=$(openssl x509 -enddate -noout -in "$pem" | cut -d= -f2)
	if openssl x509 -checkend $((warn * 86400)) -noout -in "$pem" >/dev/null; then
		echo "$(basename "$pem"): good until $end"
	else
		echo "$(basename "$pem"): expires $end, in less than $warn days" >&2
		bad=1
	fi
done
exit $bad
