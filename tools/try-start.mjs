// node tools/try-start.mjs [<folder of a built earlier version>]: tests `npm start` on this system, like a new user. Starts the service on
// an empty data folder, stores an event, stops the service, and checks that the next start finds the event. Stops the service once with
// SIGKILL (on Windows, each time), to test that the next start handles the orphaned servers. With an earlier version, the first and the
// last start use it, to test the upgrade and the downgrade of the data.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from './prepare.mjs';

// Time limit of a start. The first one installs the packages and builds the projects.
const startTimeoutMs = 600_000;
const stopTimeoutMs = 90_000;
const directory = mkdtempSync(join(tmpdir(), 'try-start-'));
const previous = process.argv[2];
const isWindows = process.platform === 'win32';

let token;
const stored = [];
let hasOrphans = false;
for (const [folder, signal] of listStarts()) {
  const run = start(folder);
  const url = await waitFor(run, /ready at (http:\S+)/);
  const foundOrphans = /left behind/.test(run.output);
  if (foundOrphans !== hasOrphans)
    fail(`the start found servers of a killed run: ${foundOrphans}, expected: ${hasOrphans}`, run);
  token ??= readToken(run.output);
  const health = await fetch(`${url}/health/ready`);
  if (health.status !== 200) fail(`GET /health/ready responded with ${health.status}`, run);
  stored.push(await store(url));
  for (const id of stored) {
    const event = await request(`${url}/api/v1/platform-events/${id}`);
    if (event.event_type !== 'stream-offline')
      fail(`the API returned a wrong event: ${JSON.stringify(event)}`, run);
  }
  await end(run, signal);
  hasOrphans = signal === 'SIGKILL';
  process.stdout.write(
    `\n── Found the ${stored.length} events of ${stored.length} starts, stopped the service with ${signal}\n`,
  );
}
if (!hasOrphans) rmSync(directory, { recursive: true });
process.stdout.write('npm start works on this system.\n');
process.exit(0);

/**
 * Returns the folder to start from and the signal to stop with, for each start. On Windows, a program cannot send Ctrl-C to another
 * program.
 */
function listStarts() {
  if (isWindows) return [root, root].map((folder) => [folder, 'SIGKILL']);
  const own = [
    [root, 'SIGINT'],
    [root, 'SIGKILL'],
    [root, 'SIGINT'],
  ];
  const other = [previous, 'SIGINT'];
  return previous ? [other, ...own, other] : own;
}

function start(folder) {
  const env = { ...process.env, DATA_DIR: directory, SIMULATOR_RATE: '0' };
  const child = spawn(process.execPath, [join(folder, 'tools', 'start.mjs')], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const run = { child, output: '' };
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    run.output += chunk;
  });
  return run;
}

async function waitFor(run, pattern) {
  const deadline = Date.now() + startTimeoutMs;
  while (!pattern.test(run.output)) {
    if (run.child.exitCode !== null) fail(`it exited with code ${run.child.exitCode}`, run);
    if (Date.now() > deadline) fail('it was not ready in time', run);
    await wait(100);
  }
  return pattern.exec(run.output)[1];
}

/** Finds the owner's token. The output is not a terminal, so the first start writes the credentials to a file and prints its path. */
function readToken(output) {
  const [, path] = /^ *(\S.*owner-credentials)\r?$/m.exec(output) ?? [];
  const [, found] = /^ *token +(\S+)/m.exec(path ? readFileSync(path, 'utf8') : '') ?? [];
  return found ?? fail('it printed no path of a file with the token');
}

async function store(url) {
  const body = {
    event_type: 'stream-offline',
    event_source: 'PlatformSub',
    event_data: { broadcaster_user_id: '1' },
  };
  const event = await request(`${url}/api/v1/platform-events`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return event.id;
}

async function request(url, options = {}) {
  const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { ...options, headers });
  if (!response.ok) fail(`${url} responded with ${response.status}: ${await response.text()}`);
  return response.json();
}

async function end({ child, ...run }, signal) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const ended = await Promise.race([exited, wait(stopTimeoutMs)]);
  if (!ended) fail('it did not stop in time', { child });
  const [code] = ended;
  if (signal === 'SIGINT' && code !== 0) fail(`it exited with code ${code} after SIGINT`, run);
}

function fail(reason, run) {
  run?.child?.kill('SIGKILL');
  process.stderr.write(`npm start does not work on this system: ${reason}\n`);
  process.exit(1);
}
