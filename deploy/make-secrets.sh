#!/bin/sh
# Makes the secrets of compose.yaml in deploy/secrets, each a file. Those that are there stay.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets

random() {
  head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n'
}

# Processes in containers have other users than this one: the folder keeps others out.
write() {
  [ -e "secrets/$1" ] && return
  cat >"secrets/$1"
  chmod 0444 "secrets/$1"
}

for name in serve_secret serve_token metrics_token; do
  random | write "$name"
done

key=$(random | cut -c 1-20)
secret=$(random)
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$key" "$secret" | write s3_credentials

key=$(sed -n 's/^aws_access_key_id = //p' secrets/s3_credentials)
secret=$(sed -n 's/^aws_secret_access_key = //p' secrets/s3_credentials)
printf '{"identities":[{"name":"sluice","credentials":[{"accessKey":"%s","secretKey":"%s"}],"actions":["Admin","Read","Write","List","Tagging"]}]}\n' \
  "$key" "$secret" | write s3_identities

echo "The secrets are in deploy/secrets. The token that opens sessions is in deploy/secrets/serve_token."
