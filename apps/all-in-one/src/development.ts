import { createLogger, exitOnUnexpectedErrors, onceStopped } from '@stream-events/service';
import { configOrExit, say } from './all-in-one.js';
import { choosePort, gatewayPort } from './choose-port.js';
import { dataDirectory, describeServers, startServers } from './servers.js';
import { ServiceStarter } from './service-starter.js';
import { choosePlatform, startSimulator } from './simulated-platform.js';

// Main module of the process in which `npm run dev` keeps PostgreSQL, NATS, and the simulated platform while it restarts the services. Sends
// the services' variables to its parent, and stops when it gets a signal or the parent ends.

const shutdownTimeoutMs = 60_000;

const config = configOrExit();
const logger = createLogger('development', config.LOG_LEVEL);
const interruption = new AbortController();
const starter = new ServiceStarter(config.LOG_LEVEL);
const starting = start();
const end = onceStopped(
  logger,
  async () => {
    interruption.abort();
    await starting.catch(() => undefined); // printed below
    await starter.stop();
  },
  shutdownTimeoutMs,
);
exitOnUnexpectedErrors(logger, () => end(1));
process.once('disconnect', () => end(0)); // the parent was killed
try {
  await starting;
} catch (error) {
  if (!interruption.signal.aborted) process.stderr.write(`\nCannot start the servers: ${String(error)}\n`);
  end(1);
}

async function start(): Promise<void> {
  const servers = await startServers(config, say, interruption.signal);
  starter.onStop(() => servers.stop());
  void servers.failed.then((name) => {
    if (interruption.signal.aborted) return;
    process.stderr.write(`\n${name} stopped unexpectedly. Its log is in ${dataDirectory(config)}.\n`);
    end(1);
  });
  const port = await choosePort(gatewayPort(config.PORT, say));
  const simulator =
    config.PLATFORM === 'simulator'
      ? await startSimulator(starter, {
          config,
          platform: await choosePlatform(config),
          gatewayUrl: `http://127.0.0.1:${port}`,
          say,
        })
      : undefined;
  const kept = JSON.stringify(describeServers(servers, simulator));
  process.send?.({ PORT: String(port), DEVELOPMENT_SERVERS: kept });
}
