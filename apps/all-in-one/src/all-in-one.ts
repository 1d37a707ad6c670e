import {
  closeAll,
  ConfigError,
  createLogger,
  exitOnUnexpectedErrors,
  onceStopped,
  writeLogsAsSentences,
} from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { announce } from './announcement.js';
import { dataDirectory, startServers, useServers, type KeptServers } from './servers.js';
import { StartError, startServices, type Services } from './services.js';

// Stopping PostgreSQL can take 40 s: 30 s for a fast shutdown with a checkpoint, then 10 s for an immediate one.
const shutdownTimeoutMs = 60_000;

/** Runs the embedded servers, and runs all services and the simulator in this process, until Ctrl-C. */
export async function runAllInOne(): Promise<void> {
  const config = configOrExit();
  if (process.stderr.isTTY) writeLogsAsSentences();
  const logger = createLogger('all-in-one', config.LOG_LEVEL);
  const interruption = new AbortController();
  const starting = startAll(config, interruption.signal);
  const stop = async (): Promise<void> => {
    interruption.abort();
    say('Stopping');
    // A failed start cleans up after itself. The code below prints its error, unless this stop interrupted the start.
    const running = await starting.catch(() => undefined);
    await running?.stop();
    say('Stopped');
  };
  // Install the Ctrl-C handler before PostgreSQL starts. Otherwise Ctrl-C during the start would leave PostgreSQL running.
  const end = onceStopped(logger, stop, shutdownTimeoutMs);
  exitOnUnexpectedErrors(logger, () => end(1));
  try {
    const { services, subscriberUrl, failed: failure } = await starting;
    process.stdout.write(announce(config, { ...services, subscriberUrl }));
    const failed = await failure;
    if (interruption.signal.aborted) return;
    process.stderr.write(`\n${failed} stopped unexpectedly. Its log is in ${dataDirectory(config)}.\n`);
  } catch (error) {
    if (error instanceof StartError)
      process.stdout.write(`\n${['Created the first owner.', ...error.credentials.lines].join('\n')}\n`);
    if (interruption.signal.aborted) return;
    process.stderr.write(`\nStream Event Service could not start: ${describeError(error)}\n`);
  }
  end(1);
}

interface Running {
  services: Services;
  subscriberUrl: string | undefined;
  failed: Promise<string>;
  stop(): Promise<void>;
}

async function startAll(config: AllInOneConfig, signal: AbortSignal): Promise<Running> {
  const { DEVELOPMENT_SERVERS: kept } = process.env;
  const servers =
    kept === undefined
      ? await startServers(config, say, signal)
      : useServers(JSON.parse(kept) as KeptServers); // Safe cast: development.ts writes it.
  try {
    signal.throwIfAborted();
    const services = await startServices(config, servers, say);
    const stop = (): Promise<void> => closeAll([() => services.stop(), () => servers.stop()]);
    return { services, subscriberUrl: servers.subscriberUrl, failed: servers.failed, stop };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads the configuration. If it has faults, lists them and exits. */
export function configOrExit(): AllInOneConfig {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

/** Prints progress to standard output. Logs go to standard error. */
export function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
