import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { storeEvents, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import { serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import type { RequestClient } from '@stream-events/messaging';
import {
  eventually,
  HostedService,
  ServiceProcess,
  type AppName,
  type TestNats,
  type TestService,
} from '@stream-events/testing';
import type pg from 'pg';
import { type QueryResultRow } from 'pg';
import { send, type Answer, type RequestOptions } from './api.js';
import { controlSecret, owner, application } from './credentials.js';
import { readEventsStream, type StreamMessage } from './events-stream.js';
import { HeldWrites } from './held-writes.js';
import { ServiceEnvironments } from './service-environments.js';
import { runAll, startResources, type Resources } from './stack-resources.js';

/**
 * The services that a test needs. The default is two gateways and two events services, because guarantees must hold for several
 * instances.
 */
export interface StackOptions {
  gateways?: number;
  events?: number;
  simulator?: boolean;
  /** Starts the simulator, two connectors and two streamer monitors. The first gateway receives the callbacks. */
  platform?: boolean;
  /** Where the simulator sends its messages; by default the first gateway. */
  publicUrl?: string;
  /** Added to the environment of every service. */
  environment?: Record<string, string>;
  /**
   * Apps whose services each run in their own process, so that the test can kill them or read the log of one of them.
   * All other services share the host process of the Jest worker, which starts them quickly.
   */
  killable?: AppName[];
}

/** Limit for hooks and tests that start a database, NATS and several processes on two busy cores. A start takes up to 30 s there. */
export const startLimitMs = 300_000;

// The limit of the other hooks and tests. They send many requests to several services, and each request takes up to 2 s on two busy cores.
jest.setTimeout(180_000);

/** Starts the services of a test with their own database and NATS. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const resources = await startResources();
  const stack = new Stack(resources, options);
  try {
    const { gateways = 2, events = 2, platform = false, simulator = platform } = options;
    await Promise.all([
      ...Array.from({ length: events }, () => stack.startEvents()),
      ...Array.from({ length: gateways }, () => stack.startGateway()),
    ]);
    if (simulator) await stack.startSimulator();
    if (platform) await stack.startPlatform();
    stack.balanceRequests();
    if (gateways > 0) stack.ownerToken = await stack.logIn(owner.username, owner.password);
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** The running services, with shortcuts for tests. */
export class Stack {
  readonly gateways: TestService[] = [];
  readonly events: TestService[] = [];
  readonly connectors: TestService[] = [];
  readonly monitors: TestService[] = [];
  simulator: TestService | undefined;
  private readonly prepared: ServiceProcess[] = [];
  ownerToken = '';
  /** The gateways that take turns. */
  private balanced: readonly TestService[] = [];
  private requests = 0;
  private readonly environments: ServiceEnvironments;

  constructor(
    private readonly resources: Resources,
    private readonly options: StackOptions,
  ) {
    this.environments = new ServiceEnvironments(resources, options.environment);
  }

  /** The first gateway. */
  get gateway(): TestService {
    return existing(this.gateways[0], 'gateway');
  }

  /** The first instance of the events service. */
  get eventsService(): TestService {
    return existing(this.events[0], 'events service');
  }

  /** Address of the first gateway. */
  get url(): string {
    return this.gateway.url;
  }

  /** Address of the next gateway, as a round-robin load balancer chooses it. */
  get nextUrl(): string {
    this.requests += 1;
    const gateway = this.balanced[this.requests % this.balanced.length];
    return (gateway ?? this.gateway).url;
  }

  /** Addresses of the gateways. */
  get urls(): string[] {
    return this.gateways.map((gateway) => gateway.url);
  }

  /** The database as a superuser. Services use `databaseUrlFor`. */
  get databaseUrl(): string {
    return this.resources.testDatabase.url;
  }

  /** Returns the URL of the database that a service gets, with the role that owns its schema. */
  databaseUrlFor(service: DatabaseService): string {
    return this.resources.testDatabase.urlFor(serviceSchemas[service]);
  }

  /** The test's own connection to the database, as a superuser. */
  get database(): InstanceType<typeof pg.Client> {
    return this.resources.database;
  }

  get nats(): TestNats {
    return this.resources.nats;
  }

  /** Sends requests over NATS with the gateway's permissions. */
  get client(): RequestClient {
    return this.resources.client;
  }

  /** A NATS connection with the permissions of a user's own service, which can only read events. */
  get subscriber(): NatsConnection {
    return this.resources.subscriber;
  }

  /** Sends requests to the gateways that are running now, not to gateways that start later. */
  balanceRequests(): void {
    this.balanced = this.gateways.filter((gateway) => gateway.isRunning);
  }

  /** Sends a request to the next gateway, by default with the owner's token. */
  request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const base = options.gateway ?? this.nextUrl;
    const token = options.token === undefined ? this.ownerToken : options.token;
    return send<Body>(method, new URL(path, base).href, { ...options, token });
  }

  /** Logs in and returns the access token. */
  async logIn(username: string, password: string): Promise<string> {
    const answer = await this.request<{ token: string }>('POST', '/api-token-auth/', {
      token: null,
      body: { username, password },
    });
    if (answer.status !== 200) throw new Error(`login of ${username}: ${answer.status} ${answer.text}`);
    return answer.json.token;
  }

  /** Stores events like the gateway: resends them when no reply arrives in time, which never stores an event twice. */
  storeEvents(events: NewEvent[]): Promise<StoreOutcome[]> {
    return eventually(async () => (await this.client.request(storeEvents, { events })).outcomes, {
      timeoutMs: 60_000,
    });
  }

  /** Runs a query on the test's own connection and returns the rows. */
  async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.query<Row>(sql, values)).rows;
  }

  /** Counts the rows of a table. */
  async count(table: string): Promise<number> {
    const [row] = await this.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return row?.count ?? 0;
  }

  /** Sends a request to the simulated platform: below `/helix` with an application's access token, below `/simulator` to control it. */
  async simulate<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    if (!this.simulator) throw new Error('the stack was started without the simulator');
    return send<Body>(method, this.simulator.url + path, {
      token: null,
      ...(path.startsWith('/helix') && { headers: await this.authorizeAtPlatform() }),
      ...(path.startsWith('/simulator') && { headers: { authorization: `Bearer ${controlSecret}` } }),
      ...(body !== undefined && { body }),
    });
  }

  /** Returns the sum of a metric over the running instances of a service. */
  async metric(
    app: 'gateways' | 'events' | 'connectors' | 'monitors',
    name: string,
    labels: Record<string, string> = {},
  ): Promise<number> {
    const running = this[app].filter((process) => process.isRunning);
    const values = await Promise.all(running.map((process) => process.metric(name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Starts another gateway. The environment is added to the stack's. */
  async startGateway(environment: Record<string, string> = {}): Promise<TestService> {
    const gateway = this.createService('gateway', await this.environments.gateway(environment));
    this.gateways.push(gateway);
    await gateway.start();
    return gateway;
  }

  /** Creates a gateway with its own process, without starting it. */
  async prepareGateway(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const gateway = new ServiceProcess('gateway', await this.environments.gateway(environment));
    this.prepared.push(gateway);
    return gateway;
  }

  /** Starts another instance of the events service. */
  async startEvents(environment: Record<string, string> = {}): Promise<TestService> {
    const events = this.createService('events', await this.environments.events(environment));
    this.events.push(events);
    await events.start();
    return events;
  }

  /** Creates an events service with its own process, without starting it. */
  async prepareEvents(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const events = new ServiceProcess('events', await this.environments.events(environment));
    this.prepared.push(events);
    return events;
  }

  /** Starts the simulator, which sends to the gateways that were started before. */
  async startSimulator(): Promise<void> {
    const origins = this.options.publicUrl ?? this.urls.join(',');
    this.simulator = this.createService('platform-simulator', await this.environments.simulator(origins));
    await this.simulator.start();
  }

  /** Starts two connectors and two streamer monitors. */
  async startPlatform(): Promise<void> {
    await Promise.all([
      this.startConnector(),
      this.startConnector(),
      this.startMonitor(),
      this.startMonitor(),
    ]);
  }

  /** Starts another platform connector. The first gateway receives the simulator's callbacks. */
  async startConnector(environment: Record<string, string> = {}): Promise<TestService> {
    const connector = this.createService('platform-connector', await this.connectorEnvironment(environment));
    this.connectors.push(connector);
    await connector.start();
    return connector;
  }

  /** Returns the environment of a connector, for a test that starts one in its own process. */
  connectorEnvironment(environment: Record<string, string> = {}): Promise<Record<string, string>> {
    const platformUrl = existing(this.simulator, 'simulator').url;
    const publicUrl = this.options.publicUrl ?? this.url;
    return this.environments.connector({ platformUrl, publicUrl }, environment);
  }

  /** Starts another streamer monitor. */
  async startMonitor(environment: Record<string, string> = {}): Promise<TestService> {
    const monitor = this.createService('streamer-monitor', await this.environments.monitor(environment));
    this.monitors.push(monitor);
    await monitor.start();
    return monitor;
  }

  /** Blocks every write of the events service until `release`. */
  holdWrites(): Promise<HeldWrites> {
    return HeldWrites.begin(this.databaseUrl, this.database);
  }

  /**
   * Waits until all stored events are on the stream: the outbox is empty, and a marker event that was stored last has
   * arrived.
   */
  async waitUntilPublished(): Promise<void> {
    const marker = `marker-${randomUUID()}`;
    const body = { event_type: marker, event_source: 'marker', event_data: {} };
    // After an outage, each gateway checks once a second whether the store is back.
    await eventually(
      async () => {
        const { status, text } = await this.request('POST', '/api/v1/platform-events', { body });
        if (status !== 201) throw new Error(`the marker was not stored: ${status} ${text}`);
      },
      { timeoutMs: 60_000 },
    );
    const check = async (): Promise<void> => {
      const waiting = await this.count('events.outbox');
      if (waiting > 0) throw new Error(`${waiting} batches are still in the outbox`);
      const messages = await this.readStream();
      if (!messages.some(({ record }) => record.event_type === marker))
        throw new Error('the marker has not arrived');
    };
    // Much longer than the 10 s after which any instance may claim the batch of a dead writer.
    await eventually(check, { timeoutMs: 60_000 });
  }

  /** Reads every message on the EVENTS stream, oldest first, with a subscriber's permissions. */
  readStream(): Promise<StreamMessage[]> {
    return readEventsStream(this.subscriber);
  }

  /** Stops everything that was started, even after a failed test. */
  async stop(): Promise<void> {
    const { gateways, events, connectors, monitors, simulator, prepared } = this;
    const services: TestService[] = [...prepared, ...gateways, ...events, ...connectors, ...monitors];
    if (simulator) services.push(simulator);
    const stopServices = (): Promise<unknown> => Promise.all(services.map((service) => service.stop()));
    await runAll([stopServices, ...this.resources.stops.reverse()]);
  }

  private async authorizeAtPlatform(): Promise<Record<string, string>> {
    const { PLATFORM_CLIENT_ID: client_id, PLATFORM_CLIENT_SECRET: client_secret } = application;
    const grant = new URLSearchParams({ client_id, client_secret, grant_type: 'client_credentials' });
    const { json } = await this.simulate<{ access_token: string }>(
      'POST',
      `/oauth2/token?${grant.toString()}`,
    );
    return { authorization: `Bearer ${json.access_token}`, 'client-id': client_id };
  }

  private createService(app: AppName, environment: Record<string, string>): TestService {
    const isKillable = this.options.killable?.includes(app) ?? false;
    return isKillable ? new ServiceProcess(app, environment) : new HostedService(app, environment);
  }
}

function existing(process: TestService | undefined, what: string): TestService {
  if (!process) throw new Error(`the stack was started without a ${what}`);
  return process;
}
