#!/bin/sh
# Creates .env for docker-compose.yml, with a new secret for each database role, NATS user, and key. Only you can read the file. Also writes
# the passwords of PostgreSQL's superuser and of the owner to files, which only the containers that need them can read.
#
#   deploy/create-env.sh               then set PLATFORM and the credentials of your application in .env
#   deploy/create-env.sh --simulator   for a first look: events come from a simulated platform
#
# After an upgrade, or after you change a password, run the script again: it adds missing variables and keeps every line of the file. To use
# another file, set ENV_FILE.
set -eu
cd "$(dirname "$0")/.."
file=${ENV_FILE:-.env}
umask 077

case "${1:-}" in
  '') platform=none ;;
  --simulator) platform=simulator ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

# Prints a new secret. Secrets become part of URLs and of the NATS configuration, so they contain only letters and digits and start with a
# letter.
secret() {
  printf 'p'
  od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# Adds a variable unless the file already contains it.
add() {
  grep -q "^$1=" "$file" || printf '%s=%s\n' "$1" "$2" >>"$file"
}

[ -e "$file" ] || echo '# Created by deploy/create-env.sh. Contains secrets: keep this file, and do not share it.' >"$file"
chmod 600 "$file"
# Containers read these files as other users. A strict umask may have hidden the files from them.
chmod a+r deploy/haproxy.cfg deploy/nats-server.conf deploy/nats-accounts.conf
# Prints the value of a variable in the file.
value() {
  sed -n "s/^$1=//p" "$file"
}

# An edited file may lack the line break at its end, and `add` would then append to its last line.
[ -z "$(tail -c 1 "$file")" ] || echo >>"$file"

if [ "$platform" = simulator ] && grep '^PLATFORM=' "$file" | grep -qv '=simulator$'; then
  echo "$file has another PLATFORM. Events of two platforms must not mix: use another ENV_FILE and another COMPOSE_PROJECT_NAME." >&2
  exit 1
fi

add OWNER_USERNAME admin
add OWNER_PASSWORD "$(secret)"
add SECRET_KEY "$(secret)"
add METRICS_TOKEN "$(secret)"
for role in '' GATEWAY_ EVENTS_ PLATFORM_CONNECTOR_ STREAMER_MONITOR_; do
  add "POSTGRES_${role}PASSWORD" "$(secret)"
done
for user in GATEWAY EVENTS PLATFORM_CONNECTOR STREAMER_MONITOR SUBSCRIBER; do
  add "NATS_${user}_PASSWORD" "$(secret)"
done
add PLATFORM_WEBHOOK_SECRET "$(secret)"
add PLATFORM "$platform"
# Keeps the port of `PORT=… deploy/create-env.sh` for later shells.
if [ -n "${PORT:-}" ]; then add PORT "$PORT"; fi
if [ "$platform" = simulator ]; then
  add COMPOSE_PROFILES simulator
  add PLATFORM_CLIENT_ID stream-event-service
  add PLATFORM_CLIENT_SECRET "$(secret)"
  add SIMULATOR_CONTROL_SECRET "$(secret)"
  add PLATFORM_API_URL http://platform-simulator:8100/helix
  add PLATFORM_AUTH_URL http://platform-simulator:8100/oauth2
  add PLATFORM_SOCKET_URL ws://platform-simulator:8100/ws
fi

# A random network, so that several installations on this machine do not overlap. It has addresses for the proxy, the gateways, the
# simulator, and the host.
add PROXY_SUBNET "10.$(od -An -N3 -tu1 /dev/urandom | awk '{ printf "%d.%d.%d", 128 + $1 % 127, $2, $3 - $3 % 64 }')/26"
case $file in
  /*) add SECRETS_DIR "$file.secrets" ;;
  *) add SECRETS_DIR "./$file.secrets" ;;
esac
secrets=$(value SECRETS_DIR)
mkdir -p "$secrets"
# Containers read these files as other users. On the host, only you can enter the folder.
chmod 700 "$secrets"
write() {
  rm -f "$secrets/$1"
  printf '%s' "$2" >"$secrets/$1"
  chmod 444 "$secrets/$1"
}
write postgres-password "$(value POSTGRES_PASSWORD)"
write postgres-url "postgres://postgres:$(value POSTGRES_PASSWORD)@postgres:5432/stream_events"
write owner-password "$(value OWNER_PASSWORD)"

if grep -q '^PLATFORM=none$' "$file"; then
  echo "$file has PLATFORM=none. For events of a platform, set PLATFORM, PLATFORM_CLIENT_ID, and PLATFORM_CLIENT_SECRET in $file before the first start: the platform of an installation cannot change later."
fi
if [ "$file" = .env ]; then options=; else options="--env-file $file --project-name NAME "; fi
echo "$file is complete. Start with: docker compose ${options}up --detach --wait"
echo "Then open http://127.0.0.1:$(sed -n 's/^PORT=//p' "$file" | grep . || echo 8000)/ and log in as $(sed -n 's/^OWNER_USERNAME=//p' "$file") with OWNER_PASSWORD from $file."
