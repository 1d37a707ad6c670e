// npm run dev: like npm start, with the inspector and source maps. Builds and restarts the services when a source file changes.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { build, prepare, root } from './prepare.mjs';

// Scan the files instead of watching them: file system events get lost when an editor replaces a file or adds a folder. Scanning about
// 1,000 files takes about 20 ms.
const scanIntervalMs = 500;
const inspector = '127.0.0.1:9229';

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isStopping = true));

process.stdout.write(`
Stream Event Service in development mode

  Restarts when a .ts, .json, .css, or .html file in apps/*/src or libs/*/src changes, except tests and files in apps/console.
  Inspector: ${inspector} (in Chrome: chrome://inspect). Stack traces point to the TypeScript sources.
  All variables of npm start work here too, for example LOG_LEVEL=debug. Ctrl-C stops everything.

`);
prepare();
const consoleServer = serveConsole();
let seen = scanSources();
for (let service = start(); ; service = start()) {
  const changed = await waitForChange();
  if (isStopping) {
    await stop(service);
    break;
  }
  process.stdout.write(`\n  Changed: ${changed}\n`);
  // Stop the old services only after a successful build. After a failed build, wait for the next change.
  while (!build() && !isStopping) await waitForChange();
  await stop(service);
  if (isStopping) break;
}
consoleServer.kill();

/** Serves the console from its sources, so that the page shows changes without a restart of the services. */
function serveConsole() {
  const gatewayUrl = `http://127.0.0.1:${process.env.PORT ?? 8_000}`;
  return spawn(process.execPath, ['tools/console.mjs', 'serve', gatewayUrl], { cwd: root, stdio: 'inherit' });
}

function start() {
  const service = spawn(
    process.execPath,
    ['--enable-source-maps', `--inspect=${inspector}`, 'apps/all-in-one/dist/main.js'],
    { cwd: root, stdio: 'inherit' },
  );
  service.once('exit', (code) => {
    if (!isStopping && code) process.stdout.write('\n  Waiting for a change before the next start\n');
  });
  return service;
}

/** Stops the services. Ctrl-C in a terminal already signals them, but they ignore a second signal within one second. */
async function stop(service) {
  if (service.exitCode !== null || service.signalCode !== null) return;
  const exit = once(service, 'exit');
  service.kill('SIGTERM');
  await exit;
}

/** Waits for a change and returns the first changed file, or undefined after Ctrl-C. */
async function waitForChange() {
  while (!isStopping) {
    await wait(scanIntervalMs);
    const now = scanSources();
    const paths = new Set([...seen.keys(), ...now.keys()]);
    const changed = [...paths].find((path) => seen.get(path) !== now.get(path));
    seen = now;
    if (changed) return changed;
  }
  return undefined;
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
