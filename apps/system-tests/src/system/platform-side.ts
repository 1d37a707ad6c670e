import { randomBytes } from 'node:crypto';
import { freePort, ServiceProcess } from '@stream-events/testing';
import { databaseUrlFor } from './database-roles.js';
import type { ServerAddresses } from './servers.js';
import { requestJson, type System } from './system.js';

/** The simulated platform, the connectors, and the monitors, as separate processes. */
export interface PlatformSide {
  simulator: ServiceProcess;
  connectors: ServiceProcess[];
  monitors: ServiceProcess[];
  /** Calls the simulator's control API with JSON. `path` starts below `/simulator`. */
  control<Reply>(method: string, path: string, body?: object): Promise<Reply>;
  stop(): Promise<void>;
}

/** The platform application that the connectors use. */
export interface Application {
  clientId: string;
  clientSecret: string;
}

// Shared by all systems of a run, so that one can start on a copy of another's database.
const secretKey = randomBytes(32).toString('hex');

/**
 * Adds the simulator (without generated events), two connectors, and two monitors to a running system. Uses that system's options.
 *
 * @param environment additional variables for the connectors
 */
export async function startPlatformSide(
  servers: ServerAddresses,
  databaseUrl: string,
  system: System,
  environment: Readonly<Record<string, string>> = {},
): Promise<PlatformSide> {
  const application = { clientId: 'load-test', clientSecret: randomBytes(16).toString('hex') };
  const gatewayUrl = system.gateways[0]?.url ?? '';
  const controlSecret = randomBytes(32).toString('hex');
  const simulator = await createSimulator(application, controlSecret, gatewayUrl);
  await simulator.start();
  const createConnector = async (): Promise<ServiceProcess> =>
    new ServiceProcess(
      'platform-connector',
      {
        ...(await environmentOf('platform-connector', servers, databaseUrl)),
        ...credentialsOf(application),
        SECRET_KEY: secretKey,
        PLATFORM_API_URL: `${simulator.url}/helix`,
        PLATFORM_AUTH_URL: `${simulator.url}/oauth2`,
        PLATFORM_WEBHOOK_SECRET: system.webhookSecret,
        PLATFORM_SOCKET_URL: `${simulator.url.replace(/^http/, 'ws')}/ws`,
        PUBLIC_URL: gatewayUrl,
        ...environment,
      },
      system.options,
    );
  const createMonitor = async (): Promise<ServiceProcess> =>
    new ServiceProcess(
      'streamer-monitor',
      await environmentOf('streamer-monitor', servers, databaseUrl),
      system.options,
    );
  const connectors = [await createConnector(), await createConnector()];
  const monitors = [await createMonitor(), await createMonitor()];
  const services = [...connectors, ...monitors];
  const stop = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.stop()));
    await simulator.stop();
  };
  try {
    await Promise.all(services.map((service) => service.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    simulator,
    connectors,
    monitors,
    control: (method, path, body) =>
      requestJson(method, `${simulator.url}/simulator${path}`, `Bearer ${controlSecret}`, body),
    stop,
  };
}

async function createSimulator(
  application: Application,
  controlSecret: string,
  gatewayUrl: string,
): Promise<ServiceProcess> {
  return new ServiceProcess('platform-simulator', {
    ...(await basics()),
    ...credentialsOf(application),
    PORT: String(await freePort()),
    SIMULATOR_RATE: '0',
    SIMULATOR_SEED: 'load-test',
    SIMULATOR_CONTROL_SECRET: controlSecret,
    SIMULATOR_CALLBACK_ORIGINS: gatewayUrl,
  });
}

async function environmentOf(
  app: 'platform-connector' | 'streamer-monitor',
  servers: ServerAddresses,
  databaseUrl: string,
) {
  return {
    ...(await basics()),
    DATABASE_URL: databaseUrlFor(app, databaseUrl),
    NATS_URL: servers.nats.urlFor(app),
    PLATFORM: 'simulator',
  };
}

async function basics(): Promise<Record<string, string>> {
  return { HOST: '127.0.0.1', ADMIN_PORT: String(await freePort()), LOG_LEVEL: 'warn' };
}

function credentialsOf({ clientId, clientSecret }: Application): Record<string, string> {
  return { PLATFORM_CLIENT_ID: clientId, PLATFORM_CLIENT_SECRET: clientSecret };
}
