// npm run dev: like npm start, with the inspector and source maps. Builds and restarts the services when a source file changes.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { build, prepare, root } from './prepare.mjs';

// Scan the files instead of watching them: file system events get lost when an editor replaces a file or adds a folder. Scanning about
// 1,000 files takes about 20 ms.
const scanIntervalMs = 250;
const inspector = '127.0.0.1:9229';

// A change to these restarts PostgreSQL, NATS, and the simulated platform too.
const keptProjects = ['apps/all-in-one/', 'apps/platform-simulator/', 'libs/embedded/'];

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isStopping = true));

process.stdout.write(`
Stream Event Service in development mode

  Restarts the services when a .ts, .json, .css, or .html file in apps/*/src or libs/*/src changes, except tests and files in apps/console.
  PostgreSQL, NATS, and the simulated platform keep running, unless their own code changes.
  Inspector: ${inspector} (in Chrome: chrome://inspect). Stack traces point to the TypeScript sources.
  All variables of npm start work here too, for example LOG_LEVEL=debug. Ctrl-C stops everything.

`);
prepare();
const consoleServer = serveConsole();
let seen = scanSources();
let servers = startServers();
let services = await startServices();
while (!isStopping) {
  const changed = await waitForChange();
  if (changed.length === 0) break;
  process.stdout.write(`\n  Changed: ${changed.join(', ')}\n`);
  // Stop the old services only after a successful build. After a failed build, wait for the next change.
  if (!build()) continue;
  await stop(services);
  if (hasEnded(servers.child) || changed.some((path) => keptProjects.some((kept) => path.startsWith(kept)))) {
    await stop(servers.child);
    servers = startServers();
  }
  services = await startServices();
}
await stop(services);
await stop(servers.child);
consoleServer.kill();

/** Serves the console from its sources, so that the page shows changes without a restart of the services. */
function serveConsole() {
  const gatewayUrl = `http://127.0.0.1:${process.env.PORT ?? 8_000}`;
  return spawn(process.execPath, ['tools/console.mjs', 'serve', gatewayUrl], { cwd: root, stdio: 'inherit' });
}

/** Starts the servers. `variables` resolves with the services' variables, or undefined if the servers end first. */
function startServers() {
  const child = fork(`${root}apps/all-in-one/dist/development.js`, {
    cwd: root,
    execArgv: ['--enable-source-maps'],
    // Ctrl-C must not reach the servers before the services have stopped.
    detached: true,
  });
  const variables = Promise.race([
    once(child, 'message').then(([message]) => message),
    once(child, 'exit').then(() => undefined),
  ]);
  return { child, variables };
}

async function startServices() {
  const variables = await servers.variables;
  if (variables === undefined || isStopping) return undefined;
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', `--inspect=${inspector}`, 'apps/all-in-one/dist/main.js'],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...variables } },
  );
  child.once('exit', (code) => {
    if (!isStopping && code) process.stdout.write('\n  Waiting for a change before the next start\n');
  });
  return child;
}

/** Stops the services. Ctrl-C in a terminal already signals them, but they ignore a second signal within one second. */
async function stop(child) {
  if (child === undefined || hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** Node sets one of these, depending on whether a process exited or a signal ended it. */
function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

/** Waits for a change and returns the changed files. Returns none after Ctrl-C. */
async function waitForChange() {
  while (!isStopping) {
    await wait(scanIntervalMs);
    const now = scanSources();
    const paths = new Set([...seen.keys(), ...now.keys()]);
    const changed = [...paths].filter((path) => seen.get(path) !== now.get(path));
    seen = now;
    if (changed.length > 0) return changed;
  }
  return [];
}

/** Returns the modification times of the source files by path. Omits tests, apps/console, and the generated API types. */
function scanSources() {
  const projects = ['apps', 'libs']
    .flatMap((group) => readdirSync(root + group).map((name) => `${group}/${name}/src`))
    .filter((source) => source !== 'apps/console/src');
  const files = projects.flatMap((source) =>
    readdirSync(root + source, { recursive: true }).map((path) => `${source}/${path}`),
  );
  const sources = files.filter(
    (path) => /\.(ts|json|css|html)$/.test(path) && !/(\.spec|[\\/]api)\.ts$/.test(path),
  );
  return new Map(
    sources.map((path) => [path, statSync(root + path, { throwIfNoEntry: false })?.mtimeMs ?? 0]),
  );
}
