// node tools/try-upgrade.mjs <folder of a built earlier version>: replaces the services of that version one by one while clients store
// events. Follows the order in docs/operations.md: first both versions of the events service run side by side, then both versions of the
// gateway. Finally checks that every accepted event is stored exactly once and published.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { prepare, root } from './prepare.mjs';

const eventsPerSecond = 40;
const phaseMs = 10_000;
const readyTimeoutMs = 120_000;

const previous = process.argv[2];
if (!previous) {
  process.stderr.write('Pass the folder of an earlier version that is already built.\n');
  process.exit(2);
}
prepare(['--exclude=tag:type:page']);
const { findFreePort, startEmbeddedNats, startEmbeddedPostgres } =
  await import('../libs/embedded/dist/index.js');
const { natsUsers } = await import('../libs/contracts/dist/index.js');

const directory = mkdtempSync(join(tmpdir(), 'try-upgrade-'));
chmodSync(directory, 0o711);
const postgres = await startEmbeddedPostgres({ directory, log: say });
// The new NATS configuration also works for the earlier version, so use it from the start.
const nats = await startEmbeddedNats({ directory, users: Object.values(natsUsers), log: say });
const services = new Set();
const shared = {
  PATH: process.env.PATH,
  PLATFORM: 'none',
  LOG_LEVEL: 'warn',
  DATABASE_URL: postgres.url,
  SECRET_KEY: randomBytes(32).toString('hex'),
  OWNER_USERNAME: 'admin',
  OWNER_PASSWORD: randomBytes(16).toString('hex'),
};
const accepted = [];
const refused = new Map();
const gateways = [];
let token;
let isLoading = true;

try {
  await upgrade();
  await check();
} catch (error) {
  process.stderr.write(
    `The upgrade failed: ${error.message}\nThe logs of the services are in ${directory}\n`,
  );
  process.exitCode = 1;
}
isLoading = false;
for (const service of services) await stop(service);
await Promise.all([postgres, nats].map((server) => server.stop()));
if (!process.exitCode) rmSync(directory, { recursive: true });
process.exit();

async function upgrade() {
  const oldEvents = await start(previous, 'events');
  const oldConnector = await start(previous, 'platform-connector');
  const oldGateway = await start(previous, 'gateway');
  token = await logIn(oldGateway.url);
  gateways.push(oldGateway.url);
  const load = runLoad();
  await phase('only the earlier version');
  await start(root, 'events');
  await phase('both versions of the events service, the earlier gateway');
  await stop(oldEvents);
  await phase('the new events service, the earlier gateway');
  const newGateway = await start(root, 'gateway');
  gateways.push(newGateway.url);
  await phase('the new events service, both versions of the gateway');
  gateways.shift();
  // Like a proxy, send no new requests to the gateway before it stops, so that its requests in flight finish.
  await wait(1_000);
  await stop(oldGateway);
  await start(root, 'platform-connector');
  await stop(oldConnector);
  await phase('only this version');
  isLoading = false;
  await load;
}

async function start(folder, app) {
  const [port, adminPort] = [await findFreePort(0), await findFreePort(0)];
  const env = {
    ...shared,
    NATS_URL: nats.urlFor(app),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    HOST: '127.0.0.1',
  };
  const log = openSync(join(directory, `${app}-${port}.log`), 'w');
  const child = spawn(process.execPath, [join(folder, 'apps', app, 'dist', 'main.js')], {
    env,
    stdio: ['ignore', log, log],
  });
  const service = { app, child, url: `http://127.0.0.1:${port}` };
  services.add(service);
  const isReady = () =>
    fetch(`http://127.0.0.1:${adminPort}/health/ready`).then(
      ({ ok }) => ok,
      // The service does not listen yet. The loop below tries again until the deadline.
      () => false,
    );
  for (const deadline = Date.now() + readyTimeoutMs; !(await isReady()); await wait(100))
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${app} of ${folder} is not ready`);
  return service;
}

async function stop(service) {
  const { app, child } = service;
  services.delete(service);
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await exited;
  if (code !== 0) throw new Error(`${app} ended with ${code}`);
}

async function logIn(url) {
  const response = await fetch(`${url}/api-token-auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: shared.OWNER_USERNAME, password: shared.OWNER_PASSWORD }),
  });
  return (await response.json()).token;
}

async function phase(name) {
  const before = accepted.length;
  await wait(phaseMs);
  say(`${name}: ${accepted.length - before} events accepted in ${phaseMs / 1_000} s`);
}

async function runLoad() {
  const requests = [];
  for (let number = 0; isLoading; number++) {
    requests.push(send(gateways[number % gateways.length], number));
    await wait(1_000 / eventsPerSecond);
  }
  await Promise.all(requests);
}

async function send(url, number) {
  const body = {
    event_type: 'stream-offline',
    event_source: 'PlatformSub',
    event_data: { broadcaster_user_id: String(number) },
  };
  const response = await fetch(`${url}/api/v1/platform-events`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((error) => ({ status: error.cause?.code ?? error.name }));
  if (response.status === 201) accepted.push((await response.json()).id);
  else refused.set(response.status, (refused.get(response.status) ?? 0) + 1);
}

/**
 * Checks that every accepted event is stored and published, and that no request failed. An event whose request failed can be stored, too.
 */
async function check() {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(100))
    if ((await client.query('SELECT FROM events.outbox')).rowCount === 0) break;
  const { rowCount: waiting } = await client.query('SELECT FROM events.outbox');
  const { rows } = await client.query('SELECT id FROM events.events');
  await client.end();
  const stored = new Set(rows.map(({ id }) => id));
  const lost = accepted.filter((id) => !stored.has(id));
  say(
    `${accepted.length} accepted, ${stored.size} stored, ${lost.length} lost, ${waiting} batches not published`,
  );
  say(`not accepted: ${JSON.stringify(Object.fromEntries(refused))}`);
  if (lost.length > 0 || waiting > 0 || refused.size > 0 || stored.size !== accepted.length)
    process.exitCode = 1;
}

function say(line) {
  process.stdout.write(`  ${line}\n`);
}
