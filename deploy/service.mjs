// The entry point of the image. Runs the program named by the first argument. The program runs in this process, so that it receives the
// container's signals.
import { constants } from 'node:os';
import { setImmediate } from 'node:timers';

const programs = {
  gateway: '../apps/gateway/dist/main.js',
  events: '../apps/events/dist/main.js',
  'platform-connector': '../apps/platform-connector/dist/main.js',
  'streamer-monitor': '../apps/streamer-monitor/dist/main.js',
  'platform-simulator': '../apps/platform-simulator/dist/main.js',
  // Creates the database roles of the services, and exits.
  'database-roles': '../libs/database/dist/roles/create-roles.main.js',
  // Controls a running platform simulator.
  simulator: '../apps/platform-simulator/dist/cli.js',
};

// A container's first process ignores signals that it does not handle. Until the program installs its own handlers, this one
// ends the process.
function exitEarly(signal) {
  process.exit(128 + constants.signals[signal]);
}
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, exitEarly);
process.on('newListener', (event) => {
  // Remove `exitEarly` only after the new listener was added: without any listener, Node would stop handling the signal.
  setImmediate(() => process.off(event, exitEarly));
});

const [name = ''] = process.argv.splice(2, 1);
if (Object.hasOwn(programs, name)) {
  await import(new URL(programs[name], import.meta.url));
} else {
  const problem = name === '' ? 'No service given.' : `There is no service "${name}".`;
  process.stderr.write(`${problem} The first argument is one of: ${Object.keys(programs).join(', ')}\n`);
  process.exitCode = 2;
}
