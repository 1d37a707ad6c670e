import { join } from 'node:path';
import {
  controlSecretPath,
  platformSimulator,
  recordSimulator,
  removeSimulatorRecord,
} from '@stream-events/platform-simulator';
import { simulatorUrls, toPlatformEnvironment } from '@stream-events/platforms';
import type { AllInOneConfig } from './all-in-one.config.js';
import { choosePort } from './choose-port.js';
import { keepSecret } from './kept-secret.js';
import { dataDirectory } from './servers.js';
import type { ServiceStarter } from './service-starter.js';
import { webhookSecretPath } from './webhook-secret.js';

interface SimulatorOptions {
  config: AllInOneConfig;
  /** From `choosePlatform`. */
  platform: NodeJS.ProcessEnv;
  /** The simulator sends only to this address. */
  gatewayUrl: string;
  say: (line: string) => void;
}

export interface Simulator {
  url: string;
  controlSecret: string;
}

/** Starts the simulator. Records its address and control secret for `npm run simulator`. */
export async function startSimulator(
  starter: ServiceStarter,
  { config, platform, gatewayUrl, say }: SimulatorOptions,
): Promise<Simulator> {
  say('Simulated platform: starting');
  const directory = dataDirectory(config);
  const controlSecret = await keepSecret(controlSecretPath(directory));
  const port = await choosePort({
    wanted: simulatorPortBeside(config.PORT),
    isFixed: false,
    purpose: 'the simulated platform',
    say,
  });
  const { url } = await starter.start(platformSimulator, {
    ...process.env,
    ...platform,
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: config.LOG_LEVEL,
    SIMULATOR_CONTROL_SECRET: controlSecret,
    SIMULATOR_CALLBACK_ORIGINS: gatewayUrl,
    SIMULATOR_RATE: String(config.SIMULATOR_RATE),
  });
  starter.onStop(() => removeSimulatorRecord(directory));
  await recordSimulator(directory, { url, pid: process.pid });
  return { url, controlSecret };
}

/** Returns the port to try first: 8100 for the default PORT. Installations with different PORTs do not compete for one. */
function simulatorPortBeside(gatewayPort: number): number {
  const port = gatewayPort + 100;
  return gatewayPort === 0 || port > 65_535 ? 0 : port;
}

/** Returns the variables with the addresses of a simulator and a gateway that run on the same machine. */
export function simulatorAddresses(simulatorUrl: string, gatewayUrl: string): NodeJS.ProcessEnv {
  return { ...toPlatformEnvironment(simulatorUrls(simulatorUrl)), PUBLIC_URL: gatewayUrl };
}

/**
 * Returns the variables that select the platform and the application on it. Generates an application for the simulator, and a webhook
 * secret if none is configured.
 */
export async function choosePlatform(config: AllInOneConfig): Promise<NodeJS.ProcessEnv> {
  const { PLATFORM } = config;
  const directory = dataDirectory(config);
  const secret = config.PLATFORM_WEBHOOK_SECRET.join(',') || (await keepSecret(webhookSecretPath(directory)));
  if (PLATFORM !== 'simulator') return { PLATFORM, PLATFORM_WEBHOOK_SECRET: secret };
  return {
    PLATFORM,
    PLATFORM_WEBHOOK_SECRET: secret,
    PLATFORM_CLIENT_ID: 'stream-event-service',
    PLATFORM_CLIENT_SECRET: await keepSecret(join(directory, 'client-secret')),
  };
}
