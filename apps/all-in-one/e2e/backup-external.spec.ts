import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import {
  createGuardedDirectory,
  createEmptyDatabase,
  eventually,
  type GuardedDirectory,
  type TestDatabase,
} from '@stream-events/testing';
import pg from 'pg';
import { eventBody, eventsPath, uniqueType, type EventPage, type EventRecord } from './api.js';
import { runCommand, startHeldRestore } from './backup-commands.js';
import { LiveSocket } from './live-clients.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { secretKey } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer, readStreams, untilSubscribed, type StreamRecord } from './streamer-records.js';

const limitMs = 400_000;
const settled = { timeoutMs: 120_000 };

interface PlatformSubscription {
  id: string;
  type: string;
  status: string;
  condition: Record<string, string>;
}

/**
 * Runs the drill of docs/backup.md for external servers. Each service has its own database role. NATS and the platform keep their data; the
 * backup is restored into a new database.
 */
describe('backup and restore of external servers', () => {
  const type = uniqueType();
  let stack: Stack;
  let platform: SimulatedPlatform;
  let directory: GuardedDirectory;
  let target: TestDatabase;
  let database: pg.Client;
  let archive: string;
  let kept: SimulatedUser;
  let late: SimulatedUser;
  let streamer: string;
  let events: EventRecord[];
  let streams: StreamRecord[];
  let position: string;

  const environmentOf = (urlFor: (service: DatabaseService) => string): Record<string, string> => ({
    DATA_DIR: directory.path,
    EVENTS_DATABASE_URL: urlFor('events'),
    GATEWAY_DATABASE_URL: urlFor('gateway'),
    PLATFORM_CONNECTOR_DATABASE_URL: urlFor('platform-connector'),
    STREAMER_MONITOR_DATABASE_URL: urlFor('streamer-monitor'),
  });
  const urlOfTarget = (service: DatabaseService): string => target.urlFor(serviceSchemas[service]);
  const restoring = (): Record<string, string> => ({
    ...environmentOf(urlOfTarget),
    SECRET_KEY: secretKey,
  });
  const readEvents = async (): Promise<EventRecord[]> =>
    (await stack.request<EventPage>('GET', `${eventsPath}?page_size=100&event_type=${type}`)).json.results;
  const add = async (): Promise<void> => {
    const answer = await stack.request('POST', eventsPath, { body: eventBody({ event_type: type }) });
    expect(answer.status).toBe(201);
  };
  const subscriptionsAtPlatform = async (user: SimulatedUser): Promise<PlatformSubscription[]> => {
    const path = `/helix/eventsub/subscriptions?user_id=${user.id}`;
    return (await stack.simulate<{ data: PlatformSubscription[] }>('GET', path)).json.data;
  };
  const commentOf = async (schema: string): Promise<string | null> => {
    const { rows } = await database.query<{ comment: string | null }>(
      `SELECT obj_description($1::regnamespace, 'pg_namespace') AS comment`,
      [schema],
    );
    return rows[0]?.comment ?? null;
  };

  beforeAll(async () => {
    stack = await startStack({ platform: true, gateways: 1, events: 1 });
    platform = new SimulatedPlatform(stack);
    directory = await createGuardedDirectory();
    archive = join(directory.path, 'backup.tar.gz');
    target = await createEmptyDatabase();
    database = new pg.Client(target.url);
    await database.connect();
  }, startLimitMs);

  afterAll(async () => {
    await database.end();
    await stack.stop();
    await target.drop();
    await directory.remove();
  }, startLimitMs);

  it(
    'copies all schemas with their own roles, and needs no SECRET_KEY',
    async () => {
      kept = await platform.addUser();
      streamer = (await monitorStreamer(stack, kept.login)).id;
      await untilSubscribed(stack, kept.id);
      await platform.goLive(kept.id);
      await eventually(async () => expect(await readStreams(stack, streamer)).toHaveLength(1), settled);
      await platform.goOffline(kept.id);
      await eventually(async () => {
        const [ended] = await readStreams(stack, streamer);
        expect(ended?.ended_at).toEqual(expect.any(String));
      }, settled);
      const socket = await LiveSocket.ready(stack.url, { token: stack.ownerToken, event_type: type });
      for (let count = 0; count < 30; count += 1) await add();
      await eventually(() => expect(socket.events).toHaveLength(30), settled);
      position = socket.position ?? '';
      await socket.close();
      [events, streams] = await Promise.all([readEvents(), readStreams(stack, streamer)]);

      const urlOfSource = (service: DatabaseService): string => stack.databaseUrlFor(service);
      const { code, output } = await runCommand('backup', [archive], environmentOf(urlOfSource));
      expect(output).toContain('rows of');
      expect(code).toBe(0);
    },
    limitMs,
  );

  it(
    'refuses to restore while a service uses the database, and into several databases at once',
    async () => {
      const inUse = { ...environmentOf((service) => stack.databaseUrlFor(service)), SECRET_KEY: secretKey };
      const refused = await runCommand('restore', [archive, '--replace'], inUse);
      expect(refused.output).toContain('Programs are using the database: events');

      const mixed = environmentOf((service) =>
        service === 'gateway' ? urlOfTarget(service) : stack.databaseUrlFor(service),
      );
      const other = join(directory.path, 'other.tar.gz');
      const impossible = await runCommand('backup', [other], mixed);
      expect(impossible.output).toContain('The services use several databases');
    },
    limitMs,
  );

  it(
    'begins again after a restore that was killed while it loaded rows',
    async () => {
      // Hold back the last rows, so that the restore waits for them.
      const { restore: killed, pipe } = await startHeldRestore(archive, restoring());
      const bytes = await readFile(archive);
      await pipe.writeFile(bytes.subarray(0, Math.floor(bytes.length * 0.8)));
      await eventually(async () => {
        const { rows } = await database.query('SELECT FROM events.event_stream');
        expect(rows).toHaveLength(1);
      }, settled);
      await killed.kill();
      await pipe.close();
      for (const schema of Object.values(serviceSchemas))
        expect(await commentOf(schema)).toBe('stream-events: a restore is not complete');

      const { code, output } = await runCommand('restore', [archive], restoring());
      expect(output).toContain('An earlier restore was interrupted: starting over');
      expect(output).toContain('Restored');
      expect(code).toBe(0);
      for (const schema of Object.values(serviceSchemas)) expect(await commentOf(schema)).toBeNull();
    },
    limitMs,
  );

  it(
    'continues on the new database: the same lists and streams, and a gap although NATS kept its stream',
    async () => {
      // Added after the backup: the backup contains neither this streamer nor this event.
      late = await platform.addUser();
      await monitorStreamer(stack, late.login);
      await untilSubscribed(stack, late.id);
      await add();
      const port = new URL(stack.url).port;
      const services = [...stack.gateways, ...stack.events, ...stack.connectors, ...stack.monitors];
      await Promise.all(services.map((service) => service.stop()));
      const [online] = (await subscriptionsAtPlatform(kept)).filter(
        ({ type: name }) => name === 'stream.online',
      );
      const { status } = await stack.simulate('DELETE', `/helix/eventsub/subscriptions?id=${online?.id}`);
      expect(status).toBe(204);
      expect((await subscriptionsAtPlatform(late)).length).toBeGreaterThan(0);

      await stack.startEvents({ DATABASE_URL: urlOfTarget('events') });
      await stack.startGateway({ DATABASE_URL: urlOfTarget('gateway'), PORT: port });
      await stack.startConnector({ DATABASE_URL: urlOfTarget('platform-connector') });
      await stack.startMonitor({ DATABASE_URL: urlOfTarget('streamer-monitor') });
      stack.balanceRequests();

      expect(await readEvents()).toEqual(events);
      expect(await readStreams(stack, streamer)).toEqual(streams);
      const socket = await LiveSocket.ready(stack.url, { token: stack.ownerToken, after: position });
      expect(socket.controls[0]).toMatchObject({ event: 'gap' });
      await socket.close();
    },
    limitMs,
  );

  it(
    'reconciles the subscriptions: creates what the platform lost, and removes what the backup does not know',
    async () => {
      await eventually(async () => {
        const ofKept = await subscriptionsAtPlatform(kept);
        const online = ofKept.filter(({ type: name }) => name === 'stream.online');
        expect(online).toMatchObject([{ status: 'enabled' }]);
        expect(await subscriptionsAtPlatform(late)).toEqual([]);
      }, settled);
    },
    limitMs,
  );
});
