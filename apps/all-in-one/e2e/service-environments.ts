import { serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import { freePort } from '@stream-events/testing';
import { application, controlSecret, owner, secretKey, webhookSecrets } from './credentials.js';
import type { Resources } from './stack-resources.js';

type Environment = Record<string, string>;

/** Builds the environment of each service, with its own ports, database role, and NATS user. */
export class ServiceEnvironments {
  constructor(
    private readonly resources: Pick<Resources, 'testDatabase' | 'nats'>,
    /** Added to every service's environment. */
    private readonly common: Environment = {},
  ) {}

  async gateway(added: Environment = {}): Promise<Environment> {
    return {
      ...(await this.connected('gateway')),
      PORT: String(await freePort()),
      SECRET_KEY: secretKey,
      OWNER_USERNAME: owner.username,
      OWNER_PASSWORD: owner.password,
      PLATFORM_WEBHOOK_SECRET: webhookSecrets.join(','),
      // Most specs log in, but not to test the strength of hashes.
      PASSWORD_HASH_COST: '8',
      // Disable the limits: most specs send many requests as one user.
      RATE_LIMIT_REQUESTS: '0',
      RATE_LIMIT_WRITES: '0',
      MAX_STORED_MB_PER_DAY: '0',
      ...this.common,
      ...added,
    };
  }

  async events(added: Environment = {}): Promise<Environment> {
    return {
      ...(await this.connected('events')),
      PLATFORM: 'simulator',
      SECRET_KEY: secretKey,
      EVENTS_MAX_GB: '1',
      INGEST_MAX_GB: '1',
      ...this.common,
      ...added,
    };
  }

  /** @param callbackOrigins comma-separated origins to which the simulator may send messages */
  async simulator(callbackOrigins: string): Promise<Environment> {
    return {
      ...(await this.listening()),
      ...application,
      PORT: String(await freePort()),
      SIMULATOR_RATE: '0',
      SIMULATOR_SEED: 'end-to-end',
      SIMULATOR_CONTROL_SECRET: controlSecret,
      SIMULATOR_CALLBACK_ORIGINS: callbackOrigins,
      ...this.common,
    };
  }

  async connector(
    { platformUrl, publicUrl }: { platformUrl: string; publicUrl: string },
    added: Environment = {},
  ): Promise<Environment> {
    return {
      ...(await this.connected('platform-connector')),
      ...application,
      SECRET_KEY: secretKey,
      PLATFORM: 'simulator',
      PLATFORM_API_URL: `${platformUrl}/helix`,
      PLATFORM_AUTH_URL: `${platformUrl}/oauth2`,
      PLATFORM_SOCKET_URL: `${platformUrl.replace(/^http/, 'ws')}/ws`,
      PLATFORM_WEBHOOK_SECRET: webhookSecrets.join(','),
      PUBLIC_URL: publicUrl,
      ...this.common,
      ...added,
    };
  }

  async monitor(added: Environment = {}): Promise<Environment> {
    return { ...(await this.connected('streamer-monitor')), PLATFORM: 'simulator', ...this.common, ...added };
  }

  private async connected(service: DatabaseService): Promise<Environment> {
    const { testDatabase, nats } = this.resources;
    return {
      ...(await this.listening()),
      DATABASE_URL: testDatabase.urlFor(serviceSchemas[service]),
      NATS_URL: nats.urlFor(service),
    };
  }

  private async listening(): Promise<Environment> {
    return { HOST: '127.0.0.1', ADMIN_PORT: String(await freePort()), LOG_LEVEL: 'warn' };
  }
}
