# Sourced by the other scripts: where they work, and what they work on. Everything is
# made on the first run, so that there is something to rotate, to save and to check.

data=${CARILLON_EXAMPLE_DATA:-${TMPDIR:-/tmp}/carillon-example}
mkdir -p "$data/log" "$data/files" "$data/backup" "$data/certificates" "$data/reports"
# Only a folder that is ours is written to: a marker says so.
if [ ! -e "$data/.carillon-example" ]; then
	echo "the scripts in examples/ work here" >"$data/.carillon-example"
	echo "invoices of the year" >"$data/files/invoices.txt"
	echo "customers" >"$data/files/customers.txt"
fi
