#!/usr/bin/env bash
# The npm package "eventsource" forgets a position that arrives without data.
#
# Versions:    eventsource 4.1.0 with eventsource-parser 3.0.6, undici 7.30.2 (npm); httpx-sse 0.4.3 (PyPI).
# Input:       a stream with an event (`id: p1`, `data: 1`), then a block that has only `id: p2`, then the end of the connection.
# Expectation: the client reconnects with `Last-Event-ID: p2` and dispatches nothing for the second block. The HTML standard sets the last
#              event id before it drops a block without data (section "Interpreting an event stream", step 1 of dispatching,
#              https://html.spec.whatwg.org/multipage/server-sent-events.html).
# Behavior:    undici follows the standard. eventsource reconnects with p1, because its parser reports only blocks that have data.
#              httpx-sse yields the second block as an event with empty data, so parsing each event's data as JSON fails.
# Output seen: eventsource: dispatched 1, reconnected with p1
#              undici: dispatched 1, reconnected with p2
#              httpx-sse: p1 "1", p2 ""
# Consequence: a server that sends positions between events cannot rely on clients to keep them. A client with a rare filter can resume at a
#              position that is older than the server keeps.
#
# Needs Node.js, npm, and Python 3 with venv. Fails if the behavior changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error eventsource@4.1.0 eventsource-parser@3.0.6 undici@7.30.2 >/dev/null
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check httpx==0.28.1 httpx-sse==0.4.3

cat >client.py <<'PY'
import json, sys
import httpx, httpx_sse
with httpx.Client() as client, httpx_sse.connect_sse(client, 'GET', sys.argv[1]) as source:
    print('httpx-sse:', ', '.join(f'{event.id} {json.dumps(event.data)}' for event in source.iter_sse() if event.id))
PY

cat >compare.mjs <<'JS'
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { EventSource as Eventsource } from 'eventsource';
import { EventSource as Undici } from 'undici';

let reconnected;
const server = createServer((request, response) => {
  const position = request.headers['last-event-id'];
  if (position !== undefined) reconnected(position);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.end('retry: 10\n\nid: p1\ndata: 1\n\nid: p2\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

for (const [name, EventSource] of [['eventsource', Eventsource], ['undici', Undici]]) {
  let dispatched = 0;
  const position = new Promise((resolve) => (reconnected = resolve));
  const source = new EventSource(url);
  source.onmessage = () => dispatched++;
  const last = await position;
  const first = dispatched;
  source.close();
  console.log(`${name}: dispatched ${first}, reconnected with ${last}`);
}
const { stdout } = await promisify(execFile)('python/bin/python', ['client.py', url]);
console.log(stdout.trim());
server.close();
server.closeAllConnections();
JS

output=$(node --no-warnings compare.mjs)
echo "$output"
[ "$output" = 'eventsource: dispatched 1, reconnected with p1
undici: dispatched 1, reconnected with p2
httpx-sse: p1 "1", p2 ""' ] || { echo 'The behavior has changed.' >&2; exit 1; }
