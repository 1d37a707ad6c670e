import { jest } from '@jest/globals';
import type { INestMicroservice } from '@nestjs/common';
import { getRebuild, rebuildStreams, type RebuildReply } from '@stream-events/contracts';
import type { Logger } from '@stream-events/service';
import { eventually, type TestNats } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { toStoredEvent } from '../../test/events-stream.js';
import { Caller, startMonitor, startMonitorNats, type MonitorInstance } from '../../test/monitor-process.js';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, listed, offline, online } from '../../test/facts.js';
import { StandInEvents, StandInPlatform, startStandInConnector, startStandInEvents } from '../../test/stand-in-services.js'; // prettier-ignore
import type { Streamer } from '../streamers/streamer.entity.js';
import type { StreamEvent } from '../streams/stream-recorder.service.js';
import { toSeenStream } from '../polling/seen-stream.js';
import { RebuildService } from './rebuild.service.js';
import { RebuildsRepository } from './rebuilds.repository.js';
import type { StreamRebuilder } from './stream-rebuilder.service.js';

const second = 1_000;
let store: MonitorStore;
let nats: TestNats;
let log: StandInEvents;
let services: INestMicroservice[];
let monitors: MonitorInstance[];
let caller: Caller;

beforeAll(async () => {
  [store, nats] = await Promise.all([MonitorStore.create(), startMonitorNats()]);
  log = new StandInEvents();
  const platform = new StandInPlatform();
  services = [await startStandInEvents(nats, log), await startStandInConnector(nats, platform)];
  platform.isAway = true; // no polls during a test
  monitors = [await startMonitor(store.database, nats), await startMonitor(store.database, nats)];
  caller = await Caller.connect(nats);
});
afterAll(async () => {
  await caller.close();
  await Promise.all(monitors.map((monitor) => monitor.close()));
  await Promise.all(services.map((service) => service.close()));
  await Promise.all([store.close(), nats.stop()]);
});
beforeEach(async () => {
  await store.clear();
  log.events = [];
  log.isAway = false;
  log.whileRead = () => Promise.resolve();
});

/** Gives an event an id that makes its time of receipt equal to the time when it happened. */
function old(said: StreamEvent): StreamEvent {
  const eventId = uuidV7({ msecs: said.at });
  return said.kind === 'online'
    ? { ...said, stream: { ...said.stream, eventId } }
    : { ...said, offline: { ...said.offline, eventId } };
}

async function rebuild(): Promise<RebuildReply> {
  await caller.ask(rebuildStreams, {});
  return eventually(async () => {
    const reply = await caller.ask(getRebuild, {});
    expect(reply.state).not.toBe('running');
    return reply;
  });
}

async function summarize(streamer: Streamer) {
  return (await store.streamsOf(streamer)).map(({ id, streamId, startedAt, endedAt }) => ({
    id,
    streamId,
    startedAt: startedAt.getTime() - epoch,
    endedAt: endedAt && endedAt.getTime() - epoch,
  }));
}

describe(RebuildService.name, () => {
  it('reports that no rebuild has run', async () => {
    expect(await caller.ask(getRebuild, {})).toMatchObject({ state: 'none', startedAt: null });
  });

  it('restores lost streams under the same ids, and changes nothing the second time', async () => {
    const streamer = await store.addStreamer();
    const said = [0, 1, 2].flatMap((index) => [
      old(online(streamer, `s${index}`, index * 1_000 * second)),
      old(offline(streamer, index * 1_000 * second + 500 * second, index === 1 ? 's1' : undefined)),
    ]);
    for (const event of said) await store.recorder.recordEvent(event);
    const before = await summarize(streamer);
    log.events = said.map(toStoredEvent).reverse();
    log.events.push(
      { ...toStoredEvent(old(online(streamer, 'by-hand', 5_000 * second))), eventId: null },
      { ...toStoredEvent(old(online(streamer, 'test', 5_000 * second))), origin: 'test' },
    );
    await store.dataSource.query('TRUNCATE streams, offline_events');

    const first = await rebuild();
    expect(first).toMatchObject({
      state: 'done',
      streamersDone: 1,
      streamersTotal: 1,
      streamsChanged: 3,
      error: null,
    });
    expect(await summarize(streamer)).toEqual(before);
    expect(await rebuild()).toMatchObject({ state: 'done', streamsChanged: 0 });
  });

  it('keeps no old offline events that no stream needs', async () => {
    const streamer = await store.addStreamer();
    const said = [online(streamer, 's0', 0), ...[500, 600, 700].map((at) => offline(streamer, at * second))];
    log.events = said.map(old).map(toStoredEvent);

    expect(await rebuild()).toMatchObject({ state: 'done', streamsChanged: 1 });

    const kept = await store.offlineEventsOf(streamer);
    expect(kept.map(({ occurredAt }) => occurredAt.getTime() - epoch)).toEqual([500 * second]);
  });

  it('keeps facts from an event of the log that cannot be read', async () => {
    const streamer = await store.addStreamer();
    const said = [old(online(streamer, 's0', 0)), old(online(streamer, 's1', 1_000 * second))];
    for (const event of said) await store.recorder.recordEvent(event);
    const before = await summarize(streamer);
    const [first, latest] = said.map(toStoredEvent);
    const eventData = JSON.stringify({ broadcaster_user_id: streamer.platformId });
    log.events = [first!, { ...latest!, eventData }];

    expect(await rebuild()).toMatchObject({ state: 'done', streamsChanged: 0 });
    expect(await summarize(streamer)).toEqual(before);
  });

  it('removes facts that the log does not confirm, and keeps facts from polls and facts older than the log', async () => {
    const streamer = await store.addStreamer();
    await store.recorder.recordEvent(old(online(streamer, 'older', 0)));
    const real = old(online(streamer, 'real', 1_000 * second));
    log.events = [toStoredEvent(real)];
    await store.recorder.recordEvent(real);
    await store.recorder.recordEvent(old(offline(streamer, 1_500 * second)));
    await store.recorder.recordEvent(old(online(streamer, 'wrong', 2_000 * second)));
    const seen = toSeenStream(listed(streamer, 'seen', 3_000 * second));
    await store.polls.recordPoll(streamer.id, {
      at: epoch + 3_100 * second,
      stream: seen,
      claimedUntil: null,
    });

    expect(await rebuild()).toMatchObject({ state: 'done', streamsChanged: 2 });

    expect((await summarize(streamer)).map(({ streamId, endedAt }) => [streamId, endedAt])).toEqual([
      ['older', 1_000 * second],
      ['real', 3_000 * second],
      ['seen', null],
    ]);
  });

  it('keeps facts that are recorded while the log is being read, even if their events are old', async () => {
    const streamer = await store.addStreamer();
    const first = old(online(streamer, 'first', 0));
    await store.recorder.recordEvent(first);
    log.events = [toStoredEvent(first)];
    const late = [old(offline(streamer, 500 * second)), old(online(streamer, 'late', 1_000 * second))];
    log.whileRead = async () => {
      for (const event of late) await store.recorder.recordEvent(event);
    };

    expect(await rebuild()).toMatchObject({ state: 'done' });

    expect((await summarize(streamer)).map(({ streamId, endedAt }) => [streamId, endedAt])).toEqual([
      ['first', 500 * second],
      ['late', null],
    ]);
  });

  it('keeps facts whose events retention removes while the log is being read', async () => {
    const streamer = await store.addStreamer();
    const said = [
      old(online(streamer, 'first', 0)),
      old(offline(streamer, 500 * second)),
      old(online(streamer, 'second', 1_000 * second)),
      old(offline(streamer, 1_500 * second)),
    ];
    for (const event of said) await store.recorder.recordEvent(event);
    const before = await summarize(streamer);
    log.events = said.map(toStoredEvent).reverse();
    // The first page contains both starts. Then retention removes the first stream's events, so the rebuild never reads its end.
    log.whileRead = () => {
      log.events = said.slice(2).map(toStoredEvent).reverse();
      return Promise.resolve();
    };

    expect(await rebuild()).toMatchObject({ state: 'done', streamsChanged: 0 });

    expect(await summarize(streamer)).toEqual(before);
  });

  it('keeps all facts when retention has removed all their events', async () => {
    const streamer = await store.addStreamer();
    for (const event of [old(online(streamer, 'first', 0)), old(offline(streamer, 500 * second))])
      await store.recorder.recordEvent(event);
    const before = await summarize(streamer);
    const other = await store.addStreamer();
    log.events = [toStoredEvent(old(online(other, 'unrelated', 9_000 * second)))];

    expect(await rebuild()).toMatchObject({ state: 'done', streamersDone: 2 });

    expect(await summarize(streamer)).toEqual(before);
  });

  it('fails when the event log cannot be read, and can be started again', async () => {
    await store.addStreamer();
    log.isAway = true;
    expect(await rebuild()).toMatchObject({ state: 'failed', error: expect.stringContaining('database') });
    log.isAway = false;

    expect(await rebuild()).toMatchObject({ state: 'done', streamersDone: 1 });
  });

  it('runs once when several instances are asked to start it, and every instance reports the progress', async () => {
    for (let index = 0; index < 40; index += 1) await store.addStreamer();
    // The rebuild must not end before all requests have arrived.
    let letRead = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (letRead = resolve));
    log.whileRead = () => isAsked;
    const replies = await Promise.all(Array.from({ length: 10 }, () => caller.ask(rebuildStreams, {})));
    letRead();

    expect(new Set(replies.map(({ startedAt }) => startedAt)).size).toBe(1);
    expect(await rebuild()).toMatchObject({ state: 'done', streamersDone: 40 });
  });

  it('does not count as done when another instance marked it as abandoned during the last streamer', async () => {
    await store.addStreamer();
    const rebuilder = {
      async rebuild() {
        await store.dataSource.query(`UPDATE rebuilds SET state = 'failed', error = 'abandoned'`);
        return 0;
      },
    } as unknown as StreamRebuilder; // Safe cast: a rebuild only calls this method.
    const logger = { info: jest.fn(), error: jest.fn() };
    const repository = new RebuildsRepository(store.dataSource);
    const sut = new RebuildService(repository, rebuilder, store.dataSource, logger as unknown as Logger); // Safe cast: a rebuild only calls these two methods.

    await sut.start();
    await eventually(() => expect(logger.error).toHaveBeenCalledTimes(1));

    expect(logger.error.mock.calls[0]?.[0]).toMatchObject({ err: { message: 'the rebuild lost its lease' } });
    expect(logger.info).not.toHaveBeenCalled();
    expect(await sut.read()).toMatchObject({ state: 'failed', error: 'abandoned' });
  });

  it.each([
    ['its instance was killed', "now() - interval '1 second'"],
    ['its lease ends later than possible, because the clock was set back', "now() + interval '1 hour'"],
  ])('can be started again after %s', async (_name, leasedUntil) => {
    await store.addStreamer();
    await store.dataSource.query(
      `INSERT INTO rebuilds (id, state, streamers_done, streamers_total, streams_changed, started_at, leased_by, leased_until)
       VALUES ($1, 'running', 3, 9, 1, now(), gen_random_uuid(), ${leasedUntil})`,
      [uuidV7({ msecs: epoch })],
    );
    expect(await caller.ask(getRebuild, {})).toMatchObject({ state: 'failed', streamersDone: 3, error: expect.stringContaining('again') }); // prettier-ignore

    expect(await rebuild()).toMatchObject({ state: 'done', streamersDone: 1, streamersTotal: 1 });
  });
});
