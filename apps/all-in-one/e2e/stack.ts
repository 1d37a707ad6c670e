import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { eventsStreamName, natsUsers } from '@stream-events/contracts';
import { connectNats, RequestClient } from '@stream-events/messaging';
import {
  createTestDatabase,
  eventually,
  freePort,
  ServiceProcess,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import pg, { type QueryResultRow } from 'pg';
import { send, type Answer, type EventRecord, type RequestOptions } from './api.js';

/**
 * What a test needs of the system; the environment is added to that of every service. Two gateways and two events
 * services unless told otherwise: what holds for one instance only is no promise.
 */
export interface StackOptions {
  gateways?: number;
  events?: number;
  simulator?: boolean;
  environment?: Record<string, string>;
}

export const owner = { username: 'owner', password: 'the password of the owner' };

/** The secrets that the gateway verifies by: the first signs, both are valid. */
export const webhookSecrets = ['the first webhook secret', 'the second webhook secret'] as const;

/** A message on the EVENTS stream. */
export interface StreamMessage {
  subject: string;
  /** The `Nats-Msg-Id` header. */
  id: string;
  record: EventRecord;
  /** The payload as text. */
  text: string;
}

/** Writes that are held up. */
export interface HeldWrites {
  /** Waits until this many batches are being written. */
  untilWaiting(batches: number): Promise<void>;
  /** Lets them go on; nothing has been changed. */
  release(): Promise<void>;
}

/** For `beforeAll`: the start of a database, NATS and several processes on two busy cores. */
export const startLimitMs = 90_000;

/** Starts the system as separate processes on a database and NATS of its own. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const resources = await startResources();
  const stack = new Stack(resources, options.environment ?? {});
  try {
    const { gateways = 2, events = 2, simulator = false } = options;
    await Promise.all([
      ...Array.from({ length: events }, () => stack.startEvents()),
      ...Array.from({ length: gateways }, () => stack.startGateway()),
      ...(simulator ? [stack.startSimulator()] : []),
    ]);
    stack.balanceRequests();
    if (gateways > 0) stack.ownerToken = await stack.logIn(owner.username, owner.password);
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

interface Resources {
  testDatabase: TestDatabase;
  nats: TestNats;
  database: InstanceType<typeof pg.Client>;
  client: RequestClient;
  subscriber: NatsConnection;
  /** Ends all of them, the last one first. */
  stops: (() => Promise<unknown>)[];
}

async function startResources(): Promise<Resources> {
  Logger.overrideLogger(false); // Nest's NATS client, in this process, would tell of every connection
  const stops: Resources['stops'] = [];
  try {
    const testDatabase = await createTestDatabase();
    stops.push(() => testDatabase.drop());
    const nats = await startTestNats(Object.values(natsUsers));
    stops.push(() => nats.stop());
    const database = new pg.Client(testDatabase.url);
    await database.connect();
    stops.push(() => database.end());
    const client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'test' });
    await client.connect();
    stops.push(() => client.close());
    const subscriber = await connectNats({ urls: [nats.urlFor('subscriber')], name: 'test-subscriber' });
    stops.push(() => subscriber.close());
    return { testDatabase, nats, database, client, subscriber, stops };
  } catch (error) {
    await runAll(stops.reverse());
    throw error;
  }
}

/** Runs every step, also after one has failed. */
async function runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'not everything stopped in order');
}

/** The running system, and short words for what tests do with it. */
export class Stack {
  readonly gateways: ServiceProcess[] = [];
  readonly events: ServiceProcess[] = [];
  simulator: ServiceProcess | undefined;
  ownerToken = '';
  /** The gateways that take requests in turn. */
  private balanced: readonly ServiceProcess[] = [];
  private requests = 0;

  constructor(
    private readonly resources: Resources,
    private readonly environment: Record<string, string>,
  ) {}

  /** The first gateway. */
  get gateway(): ServiceProcess {
    return existing(this.gateways[0], 'gateway');
  }

  /** The first instance of the events service. */
  get eventsService(): ServiceProcess {
    return existing(this.events[0], 'events service');
  }

  /** Address of the first gateway. */
  get url(): string {
    return this.gateway.url;
  }

  /** Address of the gateway whose turn it is, as a load balancer chooses it. */
  get nextUrl(): string {
    this.requests += 1;
    const gateway = this.balanced[this.requests % this.balanced.length];
    return (gateway ?? this.gateway).url;
  }

  /** Addresses of the gateways. */
  get urls(): string[] {
    return this.gateways.map((gateway) => gateway.url);
  }

  get databaseUrl(): string {
    return this.resources.testDatabase.url;
  }

  /** A connection to the database of the test's own. */
  get database(): InstanceType<typeof pg.Client> {
    return this.resources.database;
  }

  get nats(): TestNats {
    return this.resources.nats;
  }

  /** Sends requests over NATS, as the gateway may. */
  get client(): RequestClient {
    return this.resources.client;
  }

  /** A connection as another service of the customer's has it: it may read events and nothing else. */
  get subscriber(): NatsConnection {
    return this.resources.subscriber;
  }

  /** From now on requests go to the gateways that run now, not to those that are started later. */
  balanceRequests(): void {
    this.balanced = this.gateways.filter((gateway) => gateway.isRunning);
  }

  /** Sends a request to the gateways in turn, with the owner's token unless told otherwise. */
  request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const base = options.gateway ?? this.nextUrl;
    const token = options.token === undefined ? this.ownerToken : options.token;
    return send<Body>(method, new URL(path, base).href, { ...options, token });
  }

  /** The access token that a login gives. */
  async logIn(username: string, password: string): Promise<string> {
    const answer = await this.request<{ token: string }>('POST', '/api-token-auth/', {
      token: null,
      body: { username, password },
    });
    if (answer.status !== 200) throw new Error(`login of ${username}: ${answer.status} ${answer.text}`);
    return answer.json.token;
  }

  /** Rows of a query in the test's own connection. */
  async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.query<Row>(sql, values)).rows;
  }

  /** How many rows a table has. */
  async count(table: string): Promise<number> {
    const [row] = await this.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return row?.count ?? 0;
  }

  /** Asks the simulated platform, its own interface as an application with an access token. */
  async simulate<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    if (!this.simulator) throw new Error('the stack was started without the simulator');
    return send<Body>(method, this.simulator.url + path, {
      token: null,
      ...(path.startsWith('/helix') && { headers: await this.authorizeAtPlatform() }),
      ...(body !== undefined && { body }),
    });
  }

  private async authorizeAtPlatform(): Promise<Record<string, string>> {
    const grant = 'client_id=end-to-end&client_secret=end-to-end&grant_type=client_credentials';
    const { json } = await this.simulate<{ access_token: string }>('POST', `/oauth2/token?${grant}`);
    return { authorization: `Bearer ${json.access_token}`, 'client-id': 'end-to-end' };
  }

  /** The value of a metric, summed over the instances of the gateway or the events service that run. */
  async metric(
    app: 'gateways' | 'events',
    name: string,
    labels: Record<string, string> = {},
  ): Promise<number> {
    const running = this[app].filter((process) => process.isRunning);
    const values = await Promise.all(running.map((process) => process.metric(name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Starts one more gateway; the environment is added to that of the stack. */
  async startGateway(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const gateway = await this.prepareGateway(environment);
    this.gateways.push(gateway);
    await gateway.start();
    return gateway;
  }

  /** A gateway that is not started yet. */
  async prepareGateway(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    return new ServiceProcess('gateway', {
      ...(await this.shared()),
      NATS_URL: this.nats.urlFor('gateway'),
      PORT: String(await freePort()),
      SECRET_KEY: 'the secret key of the end-to-end tests',
      OWNER_USERNAME: owner.username,
      OWNER_PASSWORD: owner.password,
      PLATFORM_WEBHOOK_SECRET: webhookSecrets.join(','),
      ...this.environment,
      ...environment,
    });
  }

  /** Starts one more instance of the events service. */
  async startEvents(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    const events = await this.prepareEvents(environment);
    this.events.push(events);
    await events.start();
    return events;
  }

  /** An events service that is not started yet. */
  async prepareEvents(environment: Record<string, string> = {}): Promise<ServiceProcess> {
    return new ServiceProcess('events', {
      ...(await this.shared()),
      NATS_URL: this.nats.urlFor('events'),
      PLATFORM: 'simulator',
      EVENTS_MAX_GB: '1',
      INTAKE_MAX_GB: '1',
      ...this.environment,
      ...environment,
    });
  }

  async startSimulator(): Promise<void> {
    this.simulator = new ServiceProcess('platform-simulator', {
      ...(await this.shared()),
      PORT: String(await freePort()),
      SIMULATOR_RATE: '0',
      SIMULATOR_SEED: 'end-to-end',
    });
    await this.simulator.start();
  }

  /**
   * Holds up everything that the events service writes, without a time limit of our own, until `release`: what is in
   * flight meanwhile is in flight for certain.
   */
  async holdWrites(): Promise<HeldWrites> {
    const holder = new pg.Client(this.databaseUrl);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE events.received_messages IN EXCLUSIVE MODE');
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'events' AND wait_event_type = 'Lock'`;
    return {
      untilWaiting: (batches) =>
        eventually(async () => {
          const [row] = await this.query<{ count: number }>(waiting);
          if (row?.count !== batches) throw new Error(`${row?.count} batches wait, not ${batches}`);
        }),
      release: () => holder.end(),
    };
  }

  /**
   * Waits until everything stored so far is on the stream: the outbox is empty, and a marker event, stored after
   * everything else, has arrived.
   */
  async waitUntilPublished(): Promise<void> {
    const marker = `marker-${randomUUID()}`;
    const body = { event_type: marker, event_source: 'marker', event_data: {} };
    // After an outage each gateway tries by itself, once a second, whether it is over.
    await eventually(async () => {
      const { status, text } = await this.request('POST', '/api/v1/platform-events', { body });
      if (status !== 201) throw new Error(`the marker was not stored: ${status} ${text}`);
    });
    const check = async (): Promise<void> => {
      const waiting = await this.count('events.outbox');
      if (waiting > 0) throw new Error(`${waiting} batches are still in the outbox`);
      const messages = await this.readStream();
      if (!messages.some(({ record }) => record.event_type === marker))
        throw new Error('the marker has not arrived');
    };
    // Longer than the 10 s after which a batch whose writer died is free to take.
    await eventually(check, { timeoutMs: 25_000 });
  }

  /** Every message on the EVENTS stream, oldest first, read as a subscriber. */
  async readStream(): Promise<StreamMessage[]> {
    const manager = await jetstreamManager(this.subscriber, { checkAPI: false });
    const { state } = await manager.streams.info(eventsStreamName);
    if (state.messages === 0) return [];
    const consumer = await jetstream(this.subscriber).consumers.get(eventsStreamName, {
      inactive_threshold: 1_000,
    });
    const messages: StreamMessage[] = [];
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 10_000 })) {
      const text = message.string();
      const record = JSON.parse(text) as EventRecord; // holds as far as tests compare it with the API's
      messages.push({
        subject: message.subject,
        id: message.headers?.get('Nats-Msg-Id') ?? '',
        record,
        text,
      });
    }
    return messages;
  }

  /** Ends everything that was started, also what a test has left in a strange state. */
  async stop(): Promise<void> {
    const processes = [...this.gateways, ...this.events, ...(this.simulator ? [this.simulator] : [])];
    const stopProcesses = (): Promise<unknown> => Promise.all(processes.map((process) => process.stop()));
    await runAll([stopProcesses, ...this.resources.stops.reverse()]);
  }

  private async shared(): Promise<Record<string, string>> {
    return {
      HOST: '127.0.0.1',
      ADMIN_PORT: String(await freePort()),
      DATABASE_URL: this.databaseUrl,
      LOG_LEVEL: 'warn',
    };
  }
}

function existing(process: ServiceProcess | undefined, what: string): ServiceProcess {
  if (!process) throw new Error(`the stack was started without a ${what}`);
  return process;
}
