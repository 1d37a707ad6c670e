import type { INestMicroservice } from '@nestjs/common';
import { createStreamer, getLatestStream, getStreamer } from '@stream-events/contracts';
import { eventually, type TestNats } from '@stream-events/testing';
import { EventsStream } from '../test/events-stream.js';
import { Caller, startMonitor, startMonitorNats, type MonitorInstance } from '../test/monitor-process.js';
import { MonitorStore } from '../test/monitor-store.js';
import { epoch, listed, offline, online } from '../test/facts.js';
import { StandInPlatform, startStandInConnector } from '../test/stand-in-services.js';
import type { Streamer } from './streamers/streamer.entity.js';

let store: MonitorStore;
let nats: TestNats;
let platform: StandInPlatform;
let connector: INestMicroservice;
let stream: EventsStream;
let caller: Caller;
let instances: MonitorInstance[];

beforeAll(async () => {
  [store, nats] = await Promise.all([MonitorStore.create(), startMonitorNats()]);
  platform = new StandInPlatform();
  connector = await startStandInConnector(nats, platform);
  stream = await EventsStream.connect(nats);
  caller = await Caller.connect(nats);
});
afterAll(async () => {
  await Promise.all([caller.close(), stream.close(), connector.close()]);
  await Promise.all([store.close(), nats.stop()]);
});

beforeEach(() => {
  instances = [];
});
afterEach(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
});

describe('streamerMonitor', () => {
  it('is ready without an EVENTS stream, records its events later, and continues when an instance stops', async () => {
    instances.push(await startMonitor(store.database, nats));
    const startedAt = Date.now() - epoch - 60_000;
    await eventually(async () => expect(await instances[0]!.health.report()).toMatchObject({ status: 'ok' }));
    platform.users = [{ id: '4711', login: 'mira', displayName: 'Mira' }];
    const { id } = await caller.ask(createStreamer, {
      platformUsername: 'Mira',
      streaming: false,
      disabled: false,
    });
    const streamer: Streamer = await store.streamer({ id } as Streamer); // Safe cast: `streamer` only reads the id.

    await stream.create();
    platform.streams = [listed(streamer, 's1', startedAt, { title: 'the title' })];
    await stream.publishEvent(online(streamer, 's1', startedAt));
    // The consumer finds the stream within 5 s. The first poll follows within 0.5 s and fills in the title.
    await eventually(async () =>
      expect(await caller.ask(getLatestStream, { id })).toMatchObject({
        streamId: 's1',
        title: 'the title',
        endedAt: null,
      }),
    );
    expect(await caller.ask(getStreamer, { id })).toMatchObject({ platformId: '4711', streaming: true });

    instances.push(await startMonitor(store.database, nats));
    await instances.shift()!.close();
    platform.streams = [];
    await stream.publishEvent(offline(streamer, Date.now() - epoch));
    await eventually(async () =>
      expect(await caller.ask(getStreamer, { id })).toMatchObject({ streaming: false }),
    );
  });
});
