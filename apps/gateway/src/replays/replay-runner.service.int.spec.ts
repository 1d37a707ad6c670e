import { jest } from '@jest/globals';
import type { NewEvent } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { eventsFrom, orderOf, ReplaySetup, store, type ReplayGateway } from '../../test/replay-setup.js';
import { Replay } from './replay.entity.js';
import { ReplayRunner } from './replay-runner.service.js';
import { ReplaysRepository, type ReplayOrder } from './replays.repository.js';

let setup: ReplaySetup;
let gateways: ReplayGateway[];
let days = 0;
const unknownGateway = '01999999-9999-7999-8999-999999999999';

beforeAll(async () => {
  setup = await ReplaySetup.start();
});
afterAll(() => setup.stop());

beforeEach(async () => {
  await setup.dataSource.query('DELETE FROM replays');
  gateways = await Promise.all([setup.startGateway(), setup.startGateway()]);
});
afterEach(() => Promise.all(gateways.map((gateway) => gateway.stop())));

function gatewayAt(index: number): ReplayGateway {
  const gateway = gateways[index];
  if (!gateway) throw new Error(`there is no gateway ${index}`);
  return gateway;
}
const first = (): ReplayGateway => gatewayAt(0);
const second = (): ReplayGateway => gatewayAt(1);

/** Returns a day that only one test uses. */
function newDay(): number {
  days += 1;
  return Date.UTC(2025, 0, days);
}

const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id);
/** Returns the events that a gateway received, without repeats. */
const distinct = (gateway: ReplayGateway): string[] => [...new Set(idsOf(gateway.replayed))];

function read(id: string): Promise<Replay> {
  return setup.dataSource.manager.findOneByOrFail(Replay, { id });
}

function untilEnded(id: string): Promise<Replay> {
  return eventually(
    async () => {
      const found = await read(id);
      expect(found.status).not.toBe('running');
      return found;
    },
    { timeoutMs: 60_000 },
  );
}

async function replay(order: ReplayOrder): Promise<Replay> {
  const { id } = await first().runner.begin(order);
  return untilEnded(id);
}

/** Stores events, starts to replay them slowly, and waits for the first ones. */
async function beginSlowly(count: number, rate: number): Promise<{ id: string; events: NewEvent[] }> {
  const day = newDay();
  const events = eventsFrom(day, count);
  await store(first().client, events);
  const { id } = await first().runner.begin(orderOf(day, day + count, { rate }));
  await eventually(() => expect(second().replayed.length).toBeGreaterThan(5));
  return { id, events };
}

describe(ReplayRunner.name, () => {
  it('replays the range from since to before until, oldest first, and reports it', async () => {
    const day = newDay();
    const events = eventsFrom(day, 450);
    await store(first().client, events);

    const ended = await replay(orderOf(day + 10, day + 440));

    expect(ended).toMatchObject({ status: 'done', replayed: 430, error: null, endedAt: expect.any(Date) });
    for (const gateway of gateways)
      await eventually(() => expect(idsOf(gateway.replayed)).toEqual(idsOf(events.slice(10, 440))));
  });

  it('replays the events that match all filters, even without an index', async () => {
    const day = newDay();
    const events = eventsFrom(day, 300, (index) => ({
      eventType: index % 2 ? 'channel-cheer' : 'channel-follow',
      eventSource: index % 3 ? 'Mine' : 'PlatformSub',
      eventData: JSON.stringify({ user_id: 'x', user_name: index % 5 ? 'Ada' : 'Grace' }),
    }));
    await store(first().client, events);

    const filters = { event_type: 'channel-cheer', event_source: 'PlatformSub', user_name: 'grace' };
    const ended = await replay(orderOf(day, day + 300, { filters }));

    const expected = idsOf(events.filter((_, index) => index % 30 === 15));
    expect(ended).toMatchObject({ status: 'done', replayed: expected.length });
    await eventually(() => expect(idsOf(second().replayed)).toEqual(expected));
  });

  it('replays thousands of events, some of them large, each once and no faster than the rate', async () => {
    const day = newDay();
    const large = JSON.stringify({ text: 'x'.repeat(200_000) });
    const events = eventsFrom(day, 3_000, (index) => (index % 100 === 7 ? { eventData: large } : {}));
    await store(first().client, events);

    const startedAt = performance.now();
    const ended = await replay(orderOf(day, day + 3_000));

    expect(ended).toMatchObject({ status: 'done', replayed: 3_000 });
    await eventually(() => expect(second().replayed).toHaveLength(3_000));
    await eventually(() => expect(idsOf(second().replayed)).toEqual(idsOf(events)));
    // The replay sends the first event immediately.
    expect((second().replayed.at(-1)?.at ?? 0) - startedAt).toBeGreaterThan(2_990);
  });

  it('stops within a second when any gateway cancels it, and reports how many events were sent', async () => {
    const { id } = await beginSlowly(400, 50);

    expect(await second().replays.cancelOrRemove(id)).toBe(true);
    const sentBefore = second().replayed.length;
    // Replay other events, for long enough to see whether the canceled replay continues.
    const day = newDay();
    const others = eventsFrom(day, 30);
    await store(first().client, others);
    await replay(orderOf(day, day + 30, { rate: 10 }));

    await eventually(() => expect(idsOf(second().replayed)).toEqual(expect.arrayContaining(idsOf(others))));
    const sent = second().replayed.length - others.length;
    // Allow for the events of half a second, those that the replay catches up on, and those in flight.
    expect(sent - sentBefore).toBeLessThan(75);
    await eventually(async () =>
      expect(await read(id)).toMatchObject({ status: 'cancelled', replayed: sent }),
    );
  });

  it('continues at once in another gateway when one is stopped, and sends nothing twice', async () => {
    const { id, events } = await beginSlowly(150, 50);

    await first().stop();

    expect(await untilEnded(id)).toMatchObject({ status: 'done', replayed: 150 });
    await eventually(() => expect(idsOf(second().replayed)).toEqual(idsOf(events)));
  });

  it('runs at once in another gateway when its own gateway is stopping', async () => {
    const day = newDay();
    const events = eventsFrom(day, 20);
    await store(first().client, events);

    // Without the release, the lease would outlast the test.
    const { replays, runner } = first();
    const create = replays.create.bind(replays);
    jest.spyOn(replays, 'create').mockImplementationOnce(async (...order) => {
      const created = await create(...order);
      await setup.dataSource.query("UPDATE replays SET leased_until = now() + interval '1 hour'");
      return created;
    });

    await runner.stop();
    const { id } = await runner.begin(orderOf(day, day + 20));

    expect(await untilEnded(id)).toMatchObject({ status: 'done' });
    await eventually(() => expect(idsOf(second().replayed)).toEqual(idsOf(events)));
  });

  it('continues in another gateway when one has died, and repeats the last events', async () => {
    const { id, events } = await beginSlowly(150, 50);

    await first().die();
    await setup.dataSource.query("UPDATE replays SET leased_until = now() - interval '1 ms'");

    expect(await untilEnded(id)).toMatchObject({ status: 'done' });
    await eventually(() => expect(distinct(second())).toEqual(idsOf(events)));
    // Allow for the events of half a second, plus those that the replay catches up on.
    expect(second().replayed.length - events.length).toBeLessThan(50);
  });

  it('is dropped by a gateway that lost its lease, and continues when the new lease has expired', async () => {
    // Enough events that the replay is still running when a busy machine executes the statement.
    const { id, events } = await beginSlowly(300, 50);

    // Use one statement, so that a running gateway can neither take over the replay nor renew the lease in between.
    await setup.dataSource.query(
      `UPDATE replays SET leased_by = $1, leased_until = now() + interval '5 seconds'`,
      [unknownGateway],
    );

    expect(await untilEnded(id)).toMatchObject({ status: 'done' });
    await eventually(() => expect(distinct(second())).toEqual(idsOf(events)));
    expect(second().replayed.length - events.length).toBeLessThan(50);
    const times = second().replayed.map(({ at }) => at);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.max(...pauses)).toBeGreaterThan(3_000);
  });

  it('waits for the database, and continues', async () => {
    const { id, events } = await beginSlowly(150, 50);

    await setup.dropDatabaseConnections();

    expect(await untilEnded(id)).toMatchObject({ status: 'done', replayed: 150 });
    await eventually(() => expect(idsOf(second().replayed)).toEqual(idsOf(events)));
  });

  it('waits for the events service, and continues', async () => {
    const { id, events } = await beginSlowly(400, 100);

    await setup.events.kill('SIGKILL');
    // The replay sends its current page. Then it needs the next page.
    await eventually(() => expect(second().replayed.length % 100).toBe(0), { intervalMs: 5 });
    await setup.events.start();

    expect(await untilEnded(id)).toMatchObject({ status: 'done', replayed: 400 });
    await eventually(() => expect(idsOf(second().replayed)).toEqual(idsOf(events)));
  });

  it('is taken over by its own gateway if the gateway does not run it', async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    const replays = new ReplaysRepository(setup.dataSource);
    const { id } = await replays.create(orderOf(newDay(), newDay()), unknownGateway);
    await setup.dataSource.query(`UPDATE replays SET leased_until = now() - interval '1 ms'`);

    expect(await replays.takeOver(unknownGateway, [id])).toEqual([]);
    expect(await replays.takeOver(unknownGateway, [])).toMatchObject([{ id, status: 'running' }]);
    // The lease is renewed.
    expect(await replays.takeOver(unknownGateway, [])).toEqual([]);
  });

  it('fails with an error when retrying cannot help', async () => {
    const { id } = await beginSlowly(400, 50);
    // Store a filter that the events service rejects. The gateway that takes over the replay reads it.
    await setup.dataSource.query(`UPDATE replays SET filters = '{"event_type":5}'`);
    await first().stop();

    const ended = await untilEnded(id);
    expect(ended).toMatchObject({ status: 'failed', endedAt: expect.any(Date) });
    expect(ended.error).toContain('Search the gateway logs for the id of this replay');
  });

  it('counts more events than an integer holds', async () => {
    const { id } = await beginSlowly(150, 50);
    await first().die();
    await setup.dataSource.query(
      `UPDATE replays SET replayed = replayed + 2147483647, leased_until = now() - interval '1 ms'`,
    );

    expect((await untilEnded(id)).status).toBe('done');
    expect((await read(id)).replayed).toBeGreaterThanOrEqual(2_147_483_647 + 150);
  });

  it('fails even when its progress cannot be saved', async () => {
    const day = newDay();
    await store(first().client, eventsFrom(day, 20));
    await setup.dataSource.query('ALTER TABLE replays ADD CONSTRAINT test_check CHECK (replayed < 10)');
    try {
      const ended = await replay(orderOf(day, day + 20));

      expect(ended).toMatchObject({ status: 'failed', error: expect.stringContaining('test_check') });
    } finally {
      await setup.dataSource.query('ALTER TABLE replays DROP CONSTRAINT test_check');
    }
  });

  it('runs ten at a time, however many are requested together', async () => {
    const day = newDay();
    await store(first().client, eventsFrom(day, 50));
    // Slow enough that no replay finishes before all have started.
    const order = orderOf(day, day + 50, { rate: 1 });

    // Only 14, because they wait for each other in the database for at most 10 s.
    const outcomes = await Promise.allSettled(
      Array.from({ length: 14 }, (_, index) => gatewayAt(index % 2).runner.begin(order)),
    );

    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(refused).toHaveLength(4);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'conflict' });
    const [running] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    await first().replays.cancelOrRemove(running?.id ?? '');
    await second().runner.begin(order);
  });

  it('keeps the newest hundred replays and all running ones', async () => {
    // Slow enough that the replay does not end during the test.
    const { id } = await beginSlowly(1_000, 10);
    await setup.dataSource.query(
      `INSERT INTO replays (id, status, filters, since, until, rate, replayed, created_at, created_by, ended_at, leased_by, leased_until)
       SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + n), 12, '0') || '70008000000000000000')::uuid, 'done', '{}',
              now(), now(), 1, 0, now(), 'ada', now(), gen_random_uuid(), now()
       FROM generate_series(-50, 80) AS n`,
    );

    await replay(orderOf(newDay(), newDay()));

    const kept = await first().replays.list();
    expect(kept.map((one) => one.id)).toContain(id);
    expect(kept).toHaveLength(101);
  });

  // Keep this test last: it stops NATS.
  it('waits for NATS, and continues', async () => {
    // Enough events that the replay is still running when a busy machine kills NATS.
    const { id, events } = await beginSlowly(300, 50);

    await setup.nats.kill();
    const sentBefore = first().replayed.length;
    await setup.nats.restart();

    expect(await untilEnded(id)).toMatchObject({ status: 'done' });
    // A gateway receives its own replays.
    await eventually(() => expect(distinct(first())).toEqual(idsOf(events)));
    expect(sentBefore).toBeLessThan(events.length);
  });
});
