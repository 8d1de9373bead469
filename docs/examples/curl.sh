#!/bin/sh
# Creates a user group, updates it and rotates its token. Prints one response per line. Needs curl 7.76 or newer, and
# UGS_API_TOKEN (and UGS_URL if the service is not at http://127.0.0.1:8080) in the environment.
set -eu

: "${UGS_API_TOKEN:?set it to an API token}"
url="${UGS_URL:-http://127.0.0.1:8080}/api/user"

# call METHOD BODY [OPTION...]: the API token goes through standard input, so that no list of processes shows it.
call() {
  method=$1
  body=$2
  shift 2
  printf 'Authorization: Token %s\n' "$UGS_API_TOKEN" |
    curl --silent --show-error --fail-with-body --max-time 10 --request "$method" "$url" \
      --header @- --header 'Content-Type: application/json' --data "$body" "$@"
  echo
}

created=$(call GET '{"user_group_id":"customer-42","name":"Example customer","mapping":{"40":"213"},"properties":{"region":"EU"}}') ||
  { echo "$created" >&2; exit 1; }
echo "$created"

call PUT '{"user_group_id":"customer-42","properties":{"region":"EU","plan":"gold"}}'

token=$(echo "$created" | sed 's/.*"token":"\([^"]*\)".*/\1/')
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
call POST "{\"current_token\":\"$token\",\"grace_period_seconds\":3600}" --header "Idempotency-Key: $key"
