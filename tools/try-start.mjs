// node tools/try-start.mjs: tests `npm start` on this system, like a new user. Starts the service on an empty data folder, stores an event,
// stops the service, and checks that the next start finds the event. Stops the service once with SIGKILL (on Windows, each time), to test
// that the next start handles the orphaned servers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from './prepare.mjs';

// The first start installs the packages and builds the projects.
const startTimeoutMs = 600_000;
const stopTimeoutMs = 90_000;
// On Windows, a program cannot send Ctrl-C to another program.
const signals = process.platform === 'win32' ? ['SIGKILL', 'SIGKILL'] : ['SIGINT', 'SIGKILL', 'SIGINT'];

const body = JSON.stringify({ event_type: 'stream-offline', event_source: 'PlatformSub', event_data: {} });
const directory = mkdtempSync(join(tmpdir(), 'try-start-'));
const stored = [];
let token;
for (const [index, signal] of signals.entries()) {
  const { child, url, output } = await start();
  try {
    const isAfterKill = signals[index - 1] === 'SIGKILL';
    if (/left behind/.test(output) !== isAfterKill)
      throw new Error(`the start ${isAfterKill ? 'did not find' : 'found'} servers of a killed run`);
    token ??= readToken();
    stored.push((await request(`${url}/api/v1/platform-events`, { method: 'POST', body })).id);
    for (const id of stored) await request(`${url}/api/v1/platform-events/${id}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  await stop(child, signal);
  process.stdout.write(`\n── Found the events of ${stored.length} starts, stopped with ${signal}\n`);
}
if (signals.at(-1) === 'SIGINT') rmSync(directory, { recursive: true });
process.stdout.write('npm start works on this system.\n');

/** Starts the service and returns its address and output when it is ready. */
async function start() {
  const child = spawn(process.execPath, ['tools/start.mjs'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: directory, SIMULATOR_RATE: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: startTimeoutMs,
  });
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    process.stdout.write(chunk);
    output += chunk;
    const url = /ready at (http:\S+)/.exec(output)?.[1];
    if (!url) continue;
    child.stdout.pipe(process.stdout);
    return { child, url, output };
  }
  throw new Error('npm start exited before it was ready');
}

/** Reads the owner's token from the file to which the first start writes the credentials, because its output is not a terminal. */
function readToken() {
  const credentials = readFileSync(join(directory, 'simulator', 'owner-credentials'), 'utf8');
  return /^ *token +(\S+)/m.exec(credentials)[1];
}

async function request(url, options = {}) {
  const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { ...options, headers });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
  return response.json();
}

async function stop(child, signal) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const ended = await Promise.race([exited, wait(stopTimeoutMs)]);
  if (!ended) throw new Error('npm start did not stop in time');
  if (signal === 'SIGINT' && ended[0] !== 0)
    throw new Error(`npm start exited with ${ended[0]} after SIGINT`);
}
