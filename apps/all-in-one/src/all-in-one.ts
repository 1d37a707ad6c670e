import { ConfigError, createLogger, onceStopped } from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { dataDirectory, startServers } from './servers.js';
import { startServices, type Services } from './services.js';

/** Runs everything in this process until Ctrl-C: embedded servers, all services, and the simulated platform. */
export async function runAllInOne(): Promise<void> {
  const config = configOrExit();
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  const logger = createLogger('all-in-one', config.LOG_LEVEL);
  // From the first moment on: Ctrl-C while PostgreSQL starts must not leave it behind.
  let isStopping = false;
  onceStopped(logger, async () => {
    isStopping = true;
    say('Stopping');
    await stopAll();
    say('Stopped');
  });
  try {
    const servers = await startServers(config, say);
    stops.push(() => servers.stop());
    const services = await startServices(config, servers, say);
    stops.push(() => services.stop());
    announce(config, services);
    const failed = await servers.failed;
    if (!isStopping)
      await giveUp(`${failed} has ended unexpectedly; its log is under ${dataDirectory(config)}`, stopAll);
  } catch (error) {
    if (!isStopping) await giveUp(error instanceof Error ? error.message : String(error), stopAll);
  }
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

async function giveUp(reason: string, stopAll: () => Promise<void>): Promise<never> {
  process.stderr.write(`\nStream Event Service stops: ${reason}\n`);
  await stopAll();
  process.exit(1);
}

/** Tells the person at the terminal what is going on. Standard output only: logs go to standard error. */
function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}

function announce(config: AllInOneConfig, services: Services): void {
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
    `  Data             ${dataDirectory(config)}`,
    '',
    ...(firstOwner
      ? describeOwner(firstOwner)
      : [
          '  Lost the token? POST api-token-auth gives it again; lost the password too? npm run owner:reset',
          '',
        ]),
    '  Try:',
    `    curl -H "Authorization: Token ${token}" ${url}/api/v1/platform-events?page_size=3`,
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
