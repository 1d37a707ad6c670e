import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { outcomesOf, storeEventBatch, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
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
import { send, uniqueType, type Answer, type RequestOptions } from './api.js';
import { controlSecret, owner, application } from './credentials.js';
import { readEventsStream, type StreamMessage } from './events-stream.js';
import { HeldWrites } from './held-writes.js';
import { ServiceEnvironments } from './service-environments.js';
import { runAll, startResources, type Resources } from './stack-resources.js';

/** The services to start. By default, two gateways and two events services, because guarantees must hold across instances. */
export interface StackOptions {
  gateways?: number;
  events?: number;
  simulator?: boolean;
  /** Also starts the simulator, two connectors, and two streamer monitors. The first gateway receives the callbacks. */
  platform?: boolean;
  /** Callback URL for the simulator's messages. Default: the first gateway. */
  publicUrl?: string;
  /** Added to every service's environment. */
  environment?: Record<string, string>;
  /**
   * The services of these apps run in their own processes, so that tests can kill them or read their logs. All other services share the
   * host process of the Jest worker, which starts faster.
   */
  killable?: AppName[];
}

export interface RegisteredUser {
  id: string;
  username: string;
  password: string;
  /** The main token. */
  token: string;
}

/** For hooks and tests that start a database, NATS, and several processes. On two busy cores, a start takes up to 30 s. */
export const startLimitMs = 300_000;

// Default limit for hooks and tests. They send many requests, and each takes up to 2 s on two busy cores.
jest.setTimeout(180_000);

/** Starts the services with their own database and NATS server. */
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
  /** Requests rotate through these gateways. */
  private balanced: readonly TestService[] = [];
  private requests = 0;
  private readonly environments: ServiceEnvironments;

  constructor(
    private readonly resources: Resources,
    private readonly options: StackOptions,
  ) {
    this.environments = new ServiceEnvironments(resources, options.environment);
  }

  get gateway(): TestService {
    return existing(this.gateways[0], 'gateway');
  }

  get eventsService(): TestService {
    return existing(this.events[0], 'events service');
  }

  get url(): string {
    return this.gateway.url;
  }

  /** URL of the next gateway, in round-robin order. */
  get nextUrl(): string {
    this.requests += 1;
    const gateway = this.balanced[this.requests % this.balanced.length];
    return (gateway ?? this.gateway).url;
  }

  get urls(): string[] {
    return this.gateways.map((gateway) => gateway.url);
  }

  /** The superuser's database URL. Services use `databaseUrlFor`. */
  get databaseUrl(): string {
    return this.resources.testDatabase.url;
  }

  /** Returns the database URL of a service, with the role that owns its schema. */
  databaseUrlFor(service: DatabaseService): string {
    return this.resources.testDatabase.urlFor(serviceSchemas[service]);
  }

  /** The test's own database connection, as superuser. */
  get database(): InstanceType<typeof pg.Client> {
    return this.resources.database;
  }

  get nats(): TestNats {
    return this.resources.nats;
  }

  /** Sends NATS requests with the gateway's permissions. */
  get client(): RequestClient {
    return this.resources.client;
  }

  /** A NATS connection that can only read events, like one of your own services. */
  get subscriber(): NatsConnection {
    return this.resources.subscriber;
  }

  /** From now on, requests rotate through the running gateways. Gateways that start later get none. */
  balanceRequests(): void {
    this.balanced = this.gateways.filter((gateway) => gateway.isRunning);
  }

  /** Sends a request to the next gateway. Uses the owner's token by default. */
  request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const base = options.gateway ?? this.nextUrl;
    const token = options.token === undefined ? this.ownerToken : options.token;
    return send<Body>(method, new URL(path, base).href, { ...options, token });
  }

  /** Registers an ordinary user. */
  async registerUser(): Promise<RegisteredUser> {
    const body = { username: uniqueType('user'), password: 'correct horse battery staple' };
    const { json } = await this.request<{ id: string; auth_token: string }>('POST', '/api/v1/users', {
      body,
    });
    return { ...body, id: json.id, token: json.auth_token };
  }

  async logIn(username: string, password: string): Promise<string> {
    const answer = await this.request<{ token: string }>('POST', '/api-token-auth/', {
      token: null,
      body: { username, password },
    });
    if (answer.status !== 200) throw new Error(`login of ${username}: ${answer.status} ${answer.text}`);
    return answer.json.token;
  }

  /** Stores events like the gateway: resends them until a reply arrives. Resending never stores an event twice. */
  storeEvents(events: NewEvent[]): Promise<StoreOutcome[]> {
    return eventually(
      async () => outcomesOf(events, await this.client.request(storeEventBatch, { events })),
      { timeoutMs: 60_000 },
    );
  }

  async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.query<Row>(sql, values)).rows;
  }

  async count(table: string): Promise<number> {
    const [row] = await this.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return row?.count ?? 0;
  }

  /**
   * Sends a request to the simulator. Paths below `/helix` are the platform's API and get an access token; paths below `/simulator` control
   * the simulator.
   */
  async simulate<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    if (!this.simulator) throw new Error('the stack was started without the simulator');
    return send<Body>(method, this.simulator.url + path, {
      token: null,
      ...(path.startsWith('/helix') && { headers: await this.authorizeAtPlatform() }),
      ...(path.startsWith('/simulator') && { headers: { authorization: `Bearer ${controlSecret}` } }),
      ...(body !== undefined && { body }),
    });
  }

  /** Sums a metric over the running instances of a service. */
  async metric(
    app: 'gateways' | 'events' | 'connectors' | 'monitors',
    name: string,
    labels: Record<string, string> = {},
  ): Promise<number> {
    const running = this[app].filter((process) => process.isRunning);
    const values = await Promise.all(running.map((process) => process.metric(name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Adds `environment` to the stack's environment. */
  async startGateway(environment: Record<string, string> = {}): Promise<TestService> {
    const gateway = this.createService('gateway', await this.environments.gateway(environment));
    this.gateways.push(gateway);
    await gateway.start();
    return gateway;
  }

  /** Creates a gateway in its own process without starting it. */
  async prepareGateway(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const gateway = new ServiceProcess('gateway', await this.environments.gateway(environment));
    this.prepared.push(gateway);
    return gateway;
  }

  async startEvents(environment: Record<string, string> = {}): Promise<TestService> {
    const events = this.createService('events', await this.environments.events(environment));
    this.events.push(events);
    await events.start();
    return events;
  }

  /** Creates an events service in its own process without starting it. */
  async prepareEvents(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const events = new ServiceProcess('events', await this.environments.events(environment));
    this.prepared.push(events);
    return events;
  }

  /** The simulator sends only to gateways that are already running. */
  async startSimulator(): Promise<void> {
    const origins = this.options.publicUrl ?? this.urls.join(',');
    this.simulator = this.createService('platform-simulator', await this.environments.simulator(origins));
    await this.simulator.start();
  }

  async startPlatform(): Promise<void> {
    await Promise.all([
      this.startConnector(),
      this.startConnector(),
      this.startMonitor(),
      this.startMonitor(),
    ]);
  }

  /** The first gateway receives the simulator's callbacks, unless the option `publicUrl` is set. */
  async startConnector(environment: Record<string, string> = {}): Promise<TestService> {
    const connector = this.createService('platform-connector', await this.connectorEnvironment(environment));
    this.connectors.push(connector);
    await connector.start();
    return connector;
  }

  /** Returns a connector's environment, for tests that run the connector in their own process. */
  connectorEnvironment(environment: Record<string, string> = {}): Promise<Record<string, string>> {
    const platformUrl = existing(this.simulator, 'simulator').url;
    const publicUrl = this.options.publicUrl ?? this.url;
    return this.environments.connector({ platformUrl, publicUrl }, environment);
  }

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

  /** Waits until all stored events are on the stream: the outbox is empty, and a marker event that was stored last has arrived. */
  async waitUntilPublished(): Promise<void> {
    const marker = `marker-${randomUUID()}`;
    const body = { event_type: marker, event_source: 'marker', event_data: {} };
    // After an outage, each gateway checks once per second whether the store is back.
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
    // After a writer dies, other instances take over its batch 10 s later. Wait much longer than that.
    await eventually(check, { timeoutMs: 60_000 });
  }

  /** Reads the whole EVENTS stream, oldest first, with a subscriber's permissions. */
  readStream(): Promise<StreamMessage[]> {
    return readEventsStream(this.subscriber);
  }

  /** Stops all services and servers, even after a failed test. */
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
