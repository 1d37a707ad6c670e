import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { findFreePort } from '@stream-events/embedded';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { platformSimulator } from '@stream-events/platform-simulator';
import {
  closeAll,
  createLogger,
  Health,
  loadConfig,
  Registry,
  type RunningService,
  type ServiceDefinition,
  type Variables,
} from '@stream-events/service';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import { collectDefaultMetrics } from 'prom-client';
import type { AllInOneConfig } from './all-in-one.config.js';
import { monitorDemoStreamers } from './demo-streamers.js';
import { keepSecret } from './kept-secret.js';
import { dataDirectory, type Servers } from './servers.js';

/** The owner that the first start makes; shown once and kept nowhere in clear. */
export interface FirstOwner {
  username: string;
  /** Only when it was made here, not given. */
  password: string | undefined;
  token: string;
}

/** All services, running in this process. */
export interface Services {
  url: string;
  simulatorUrl: string | undefined;
  firstOwner: FirstOwner | undefined;
  stop(): Promise<void>;
}

/** Starts every service in this process, in the order of their needs. */
export async function startServices(
  config: AllInOneConfig,
  servers: Servers,
  say: (line: string) => void,
): Promise<Services> {
  const starter = new ServiceStarter(config.LOG_LEVEL);
  try {
    const platform = await choosePlatform(config);
    const shared = {
      ...process.env,
      ...platform,
      DATABASE_URL: servers.databaseUrl,
      LOG_LEVEL: config.LOG_LEVEL,
      SECRET_KEY: servers.secretKey,
    };

    say('Events service: starting');
    await starter.start(events, {
      ...(await chooseStreamSizes(config)),
      ...shared,
      NATS_URL: servers.natsUrlFor('events'),
    });

    say('Gateway: starting');
    const port = await choosePort(config.PORT, 'the HTTP API', say);
    const password = randomBytes(15).toString('base64url');
    const api = await starter.start(gateway, {
      ...shared,
      NATS_URL: servers.natsUrlFor('gateway'),
      PORT: String(port),
      OWNER_USERNAME: config.OWNER_USERNAME ?? 'admin',
      OWNER_PASSWORD: config.OWNER_PASSWORD ?? password,
    });

    const simulatorUrl =
      config.PLATFORM === 'simulator' ? await startSimulator(starter, { config, platform, say }) : undefined;

    say('Streamer monitor: starting');
    await starter.start(streamerMonitor, { ...shared, NATS_URL: servers.natsUrlFor('streamer-monitor') });

    say('Platform connector: starting');
    await starter.start(platformConnector, {
      ...shared,
      NATS_URL: servers.natsUrlFor('platform-connector'),
      ...(simulatorUrl && addressesOfSimulator(simulatorUrl, api.url)),
    });

    if (simulatorUrl && api.owner)
      await monitorDemoStreamers({ ...api, simulatorUrl, token: api.owner.token }, say);
    const firstOwner = api.owner && { ...api.owner, password: config.OWNER_PASSWORD ? undefined : password };
    return { url: api.url, simulatorUrl, firstOwner, stop: () => starter.stop() };
  } catch (error) {
    await starter.stop();
    throw error;
  }
}

/** Starts services with one health report and one set of metrics between them. */
class ServiceStarter {
  private readonly health = new Health();
  private readonly metrics = new Registry();
  private readonly running: RunningService[] = [];

  constructor(private readonly logLevel: string) {
    collectDefaultMetrics({ register: this.metrics });
  }

  async start<V extends Variables, R extends RunningService>(
    definition: ServiceDefinition<V, R>,
    environment: NodeJS.ProcessEnv,
  ): Promise<R> {
    const service = await definition.start({
      config: loadConfig(definition.variables, environment),
      logger: createLogger(definition.name, this.logLevel),
      health: this.health,
      metrics: this.metrics,
    });
    this.running.push(service);
    return service;
  }

  /** Stops in the opposite order: who needs others goes first. */
  async stop(): Promise<void> {
    this.health.markStopping();
    await closeAll(
      this.running
        .splice(0)
        .reverse()
        .map((service) => () => service.close()),
    );
  }
}

interface SimulatorOptions {
  config: AllInOneConfig;
  platform: NodeJS.ProcessEnv;
  say: (line: string) => void;
}

async function startSimulator(
  starter: ServiceStarter,
  { config, platform, say }: SimulatorOptions,
): Promise<string> {
  say('Simulated platform: starting');
  const port = await choosePort(8100, 'the simulated platform', say);
  const simulator = await starter.start(platformSimulator, {
    ...process.env,
    ...platform,
    HOST: '127.0.0.1',
    PORT: String(port),
    LOG_LEVEL: config.LOG_LEVEL,
    SIMULATOR_RATE: String(config.SIMULATOR_RATE),
  });
  return simulator.url;
}

/** Where the platform and its callback are when both run on this machine. */
function addressesOfSimulator(simulatorUrl: string, gatewayUrl: string): NodeJS.ProcessEnv {
  return {
    PLATFORM_API_URL: `${simulatorUrl}/helix`,
    PLATFORM_AUTH_URL: `${simulatorUrl}/oauth2`,
    PLATFORM_EVENTSUB_URL: `${simulatorUrl}/helix/eventsub`,
    PUBLIC_URL: gatewayUrl,
  };
}

/** Which platform, and as whom: the simulated one knows an application of our own making. Its messages are signed with a secret of our own when none is given. */
async function choosePlatform(config: AllInOneConfig): Promise<NodeJS.ProcessEnv> {
  const { PLATFORM } = config;
  const directory = dataDirectory(config);
  const secret =
    config.PLATFORM_WEBHOOK_SECRET.join(',') || (await keepSecret(join(directory, 'webhook-secret')));
  if (PLATFORM !== 'simulator') return { PLATFORM, PLATFORM_WEBHOOK_SECRET: secret };
  return {
    PLATFORM,
    PLATFORM_WEBHOOK_SECRET: secret,
    PLATFORM_CLIENT_ID: 'stream-event-service',
    PLATFORM_CLIENT_SECRET: await keepSecret(join(directory, 'client-secret')),
  };
}

/** The sizes of the streams in GiB: 8 and 2, or half of what a small disk has left, which the broker reserves. */
async function chooseStreamSizes(config: AllInOneConfig): Promise<NodeJS.ProcessEnv> {
  const { bavail, bsize } = await statfs(dataDirectory(config));
  const half = Math.floor((bavail * bsize) / 1024 ** 3 / 2);
  const ingest = half < 10 ? 1 : 2;
  const events = Math.min(8, Math.max(1, half - ingest));
  return { EVENTS_MAX_GB: String(events), INGEST_MAX_GB: String(ingest) };
}

async function choosePort(wanted: number, purpose: string, say: (line: string) => void): Promise<number> {
  const port = await findFreePort(wanted);
  if (wanted !== 0 && port !== wanted) say(`Port ${wanted} is taken: ${purpose} uses ${port}`);
  return port;
}
