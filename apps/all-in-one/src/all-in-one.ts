import {
  closeAll,
  ConfigError,
  createLogger,
  exitOnUnexpectedErrors,
  onceStopped,
} from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { dataDirectory, startServers, subscriberPasswordPath } from './servers.js';
import { startServices, type Services } from './services.js';

// PostgreSQL alone may take half a minute for its last checkpoint, and is cut off after that.
const shutdownTimeoutMs = 60_000;

/** Runs everything in this process until Ctrl-C: embedded servers, all services, and the simulated platform. */
export async function runAllInOne(): Promise<void> {
  const config = configOrExit();
  const logger = createLogger('all-in-one', config.LOG_LEVEL);
  const starting = startAll(config);
  const interruption = new AbortController();
  const stop = async (): Promise<void> => {
    interruption.abort();
    say('Stopping');
    // A start that fails leaves nothing to stop, and is told of below.
    const running = await starting.catch(() => undefined);
    await running?.stop();
    say('Stopped');
  };
  // From the first moment on: Ctrl-C while PostgreSQL starts must not leave it behind.
  const end = onceStopped(logger, stop, shutdownTimeoutMs);
  exitOnUnexpectedErrors(logger, () => end(1));
  try {
    const running = await starting;
    announce(config, running);
    const failed = await running.failed;
    if (interruption.signal.aborted) return;
    process.stderr.write(`\n${failed} has ended unexpectedly; its log is under ${dataDirectory(config)}\n`);
  } catch (error) {
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

async function startAll(config: AllInOneConfig): Promise<Running> {
  const servers = await startServers(config, say);
  try {
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

function configOrExit(): AllInOneConfig {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

/** Tells the person at the terminal what is going on. Standard output only: logs go to standard error. */
function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}

function announce(config: AllInOneConfig, { services, subscriberUrl }: Running): void {
  const { url, simulatorUrl, firstOwner } = services;
  const token = firstOwner?.token ?? '<your token>';
  const lines = [
    '',
    `Stream Event Service is ready at ${url}`,
    '',
    `  API description  ${url}/api/docs`,
    `  Health           ${url}/health/ready`,
    ...(simulatorUrl
      ? [
          `  Platform         SIMULATED (PLATFORM=simulator), ${config.SIMULATOR_RATE} event(s) per second; its controls: ${simulatorUrl}/simulator`,
        ]
      : []),
    ...(subscriberUrl
      ? [
          `  Event stream     ${subscriberUrl}, user subscriber, password in ${subscriberPasswordPath(config)}`,
        ]
      : []),
    `  Data             ${dataDirectory(config)}`,
    '',
    ...(firstOwner
      ? describeOwner(firstOwner)
      : [
          '  Lost the token? POST api-token-auth gives it again; lost the password too? npm run owner:reset',
          '',
        ]),
    '  Try:',
    `    curl -H "Authorization: Token ${token}" '${url}/api/v1/platform-events?page_size=3'`,
    '',
    '  Ctrl-C stops everything.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function describeOwner(owner: NonNullable<Services['firstOwner']>): string[] {
  return [
    '  The first owner was made. This is shown once, and kept nowhere in clear:',
    `    user      ${owner.username}`,
    ...(owner.password ? [`    password  ${owner.password}`] : []),
    `    token     ${owner.token}`,
    '',
  ];
}
