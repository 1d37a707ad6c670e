import { randomBytes } from 'node:crypto';
import type { DatabaseService } from '@stream-events/database/roles';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import type { AllInOneConfig } from './all-in-one.config.js';
import { choosePort, gatewayPort } from './choose-port.js';
import { monitorDemoStreamers } from './demo-streamers.js';
import { refuseUnknownSchemas } from './databases.js';
import { offerFirstConnection, reportConnection } from './first-connection.js';
import { presentCredentials, type CredentialsNotice } from './owner-credentials.js';
import { dataDirectory, type Servers } from './servers.js';
import { ServiceStarter } from './service-starter.js';
import { choosePlatform, simulatorAddresses, startSimulator } from './simulated-platform.js';
import { chooseStreamSizes } from './stream-sizes.js';

export interface Services {
  url: string;
  simulatorUrl: string | undefined;
  /** Instructions for connecting the first channel; empty if there is nothing to connect. */
  firstConnection: readonly string[];
  /** Credentials of the owner, if this start created one. */
  credentials: CredentialsNotice | undefined;
  stop(): Promise<void>;
}

/** The start created the first owner and then failed. No later start can show this owner's password. */
export class StartError extends Error {
  constructor(
    cause: unknown,
    readonly credentials: CredentialsNotice,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Starts every service in this process. Services that store or receive events start before the services that cause events.
 *
 * @throws StartError if starting fails after the first owner was created
 */
export async function startServices(
  config: AllInOneConfig,
  servers: Servers,
  say: (line: string) => void,
): Promise<Services> {
  const starter = new ServiceStarter(config.LOG_LEVEL);
  let credentials: CredentialsNotice | undefined;
  try {
    const platform = await choosePlatform(config);
    const shared = {
      ...process.env,
      ...platform,
      LOG_LEVEL: config.LOG_LEVEL,
      SECRET_KEY: servers.secretKey,
    };
    const connections = (service: DatabaseService): NodeJS.ProcessEnv => ({
      DATABASE_URL: servers.databases.urlFor(service),
      NATS_URL: servers.natsUrlFor(service),
    });

    // Check all schemas before any service changes its own.
    await refuseUnknownSchemas(servers.databases);

    say('Events service: starting');
    await starter.start(events, {
      ...(await chooseStreamSizes(dataDirectory(config))),
      ...shared,
      ...connections('events'),
    });

    say('Gateway: starting');
    const port = await choosePort(gatewayPort(config.PORT, say));
    const password = randomBytes(15).toString('base64url');
    const api = await starter.start(gateway, {
      ...shared,
      ...connections('gateway'),
      PORT: String(port),
      // Data folder of the embedded servers.
      DATA_DIR: dataDirectory(config),
      OWNER_USERNAME: config.OWNER_USERNAME ?? 'admin',
      OWNER_PASSWORD: config.OWNER_PASSWORD ?? password,
    });
    if (api.owner) {
      const owner = { ...api.owner, password: config.OWNER_PASSWORD === undefined ? password : undefined };
      credentials = await presentCredentials(owner, dataDirectory(config));
    }

    const simulator =
      config.PLATFORM === 'simulator' && !servers.simulator
        ? await startSimulator(starter, { config, platform, gatewayUrl: api.url, say })
        : servers.simulator;

    say('Streamer monitor: starting');
    await starter.start(streamerMonitor, { ...shared, ...connections('streamer-monitor') });

    say('Platform connector: starting');
    const { connections: consents } = await starter.start(platformConnector, {
      ...shared,
      ...connections('platform-connector'),
      ...(simulator && simulatorAddresses(simulator.url, api.url)),
    });

    if (simulator && api.owner)
      await monitorDemoStreamers({ url: api.url, token: api.owner.token, simulator }, say);
    const firstConnection = await offerFirstConnection(config, consents);
    if (firstConnection.id !== undefined) {
      const watching = new AbortController();
      const watch = reportConnection(consents, firstConnection.id, { say, signal: watching.signal });
      starter.onStop(() => {
        watching.abort();
        return watch;
      });
    }
    return {
      url: api.url,
      simulatorUrl: simulator?.url,
      firstConnection: firstConnection.lines,
      credentials,
      stop: () => starter.stop(),
    };
  } catch (error) {
    await starter.stop();
    throw credentials ? new StartError(error, credentials) : error;
  }
}
