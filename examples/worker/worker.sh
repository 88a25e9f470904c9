#!/bin/sh
# A worker process in shell, with jq, for:
#
#     carillon executor --group reports --worker 'sh examples/worker/worker.sh'
#
# It does one run at a time. What its commands print becomes lines of the run's log.
set -u

# say TYPE ID [JQ-ARGUMENT…]: prints a message whose fields are $ARGS.named.
say() {
	type=$1 id=$2
	shift 2
	jq -cn --arg type "$type" --arg id "$id" "$@" '$ARGS.named'
}

# Each handler gets the message in $1, prints its log, and leaves its result in $result.
greet() {
	name=$(printf '%s' "$1" | jq -r '.params.name // "world"')
	echo "greeting $name"
	result=$(jq -n --arg text "Hello, $name!" '{$text}')
}

check_disk() {
	path=$(printf '%s' "$1" | jq -r '.params.path // "/"')
	df -P "$path" </dev/null || return 1
	result=$(df -P "$path" </dev/null | awk 'NR == 2 { print $5 + 0 }')
}

printf '%s\n' '{"type":"register","handlers":[
	{"name":"greet","description":"Greets somebody","params_schema":{"type":["object","null"],"properties":{"name":{"type":"string"}}}},
	{"name":"check-disk","description":"Returns how full a disk is, in percent","params_schema":{"type":["object","null"],"properties":{"path":{"type":"string"}}}}
]}' | tr -d '\n'
echo

while IFS= read -r message; do
	case $(printf '%s' "$message" | jq -r .type) in
	run) ;;
	shutdown) exit 0 ;;
	*) continue ;;
	esac
	id=$(printf '%s' "$message" | jq -r .id)
	handler=$(printf '%s' "$message" | jq -r .handler)
	result=null
	case $handler in
	greet) greet "$message" ;;
	check-disk) check_disk "$message" ;;
	*) false ;;
	esac
	code=$?
	if [ "$code" = 0 ]; then
		say result "$id" --argjson result "$result"
	else
		say error "$id" --arg message "$handler failed with exit code $code"
	fi
done
