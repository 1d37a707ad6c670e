import { jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import type { LiveStreamMessage } from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import { Alarms, Registry, type Logger } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { AlarmPosts } from '../alarms/alarm-posts.repository.js';
import { alarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { ActivityReader, type OnActivity } from './activity-reader.js';
import { ChannelSilence } from './channel-silence.service.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger; // Safe cast: nothing else is used.
// With `checkMs` 0, each check reads the subscriptions again.
const times = { ...alarmTimes, checkMs: 0 };
const second = 1_000;
const minute = 60 * second;
/** The time at which the events stop. */
const stop = Date.parse('2026-11-21T08:00:00Z');

/** Uses a stand-in for the reader, because a test cannot choose the times of events on a real stream. */
describe(ChannelSilence.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let repository: AlarmsRepository;
  /** The time by the broker's clock. `events` and `live` are the stream's events and the live channels. */
  let now: number;
  let events: { channel: string; at: number }[];
  let live: LiveStreamMessage[];
  const listeners = new Set<OnActivity>();

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 4);
    repository = new AlarmsRepository(dataSource, new AlarmPosts(dataSource, null), silent, new Registry());
  });
  beforeEach(async () => {
    await dataSource.query('TRUNCATE alarms, subscriptions');
    [now, events, live] = [stop, [], []];
    listeners.clear();
    jest.spyOn(ActivityReader, 'open').mockImplementation((_connection, onActivity) => {
      for (const { channel, at } of events) onActivity(channel, at);
      listeners.add(onActivity);
      const reader = {
        hasEnded: false,
        get now() {
          return now;
        },
        stop: () => listeners.delete(onActivity),
      };
      return Promise.resolve(reader as unknown as ActivityReader); // Safe cast: nothing else is used.
    });
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Starts an instance of the check. */
  function start() {
    const client = { request: () => Promise.resolve({ streams: live }) } as unknown as RequestClient; // Safe cast: nothing else is used.
    const alarms = new Alarms((report) => repository.save(report), silent);
    const connection = undefined as unknown as NatsConnection; // Safe cast: the stand-in does not use it.
    const sut = new ChannelSilence(dataSource, connection, client, alarms, repository, times);
    const check = async (at: number): Promise<string[]> => {
      now = at;
      await sut.run();
      await alarms.saveChanges();
      return (await repository.listOpen()).map(({ key }) => key).sort();
    };
    return { check, sut };
  }

  /** Adds a live channel with an event every ten seconds until `stop`. By default, these are enough to watch the channel. */
  async function addChannel(channel: string, count = 300): Promise<void> {
    await dataSource.query(
      `INSERT INTO subscriptions (id, type, version, condition, status)
       SELECT gen_random_uuid(), type, '1', jsonb_build_object('broadcaster_user_id', $1::text), 'enabled'
       FROM unnest(ARRAY['channel.chat.message', 'channel.subscribe']) AS type`,
      [channel],
    );
    for (let left = count - 1; left >= 0; left -= 1) events.push({ channel, at: stop - left * 10 * second });
    live.push({ platformId: channel, platformUsername: `name_${channel}` });
  }

  const send = (channel: string, at: number): void => {
    for (const listener of listeners) listener(channel, at);
  };

  it('raises an alarm after ten minutes, says what to do, and clears it with the next event', async () => {
    await addChannel('1');
    const { check } = start();

    expect(await check(stop)).toEqual([]);
    expect(await check(stop + 10 * minute - 1)).toEqual([]);
    expect(await check(stop + 10 * minute)).toEqual(['channel_silent:1']);
    expect((await repository.listOpen())[0]?.message).toMatch(
      /name_1 has sent no event for 10 minutes, after 300 events in an hour. Look at the stream/,
    );
    expect(await check(stop + 300 * minute)).toEqual(['channel_silent:1']);
    send('1', stop + 301 * minute);
    expect(await check(stop + 301 * minute)).toEqual([]);
  });

  it.each(['transport_down:webhook', 'shard_lost:0', 'platform_unavailable:host'])(
    'raises no alarm while %s tells why events are missing, nor right after that',
    async (key) => {
      await addChannel('1');
      const { check } = start();
      expect(await check(stop)).toEqual([]);
      await repository.save({ raised: [{ key, message: 'a cause' }], cleared: [] });
      expect(await check(stop + 15 * minute)).toEqual([key]);
      await repository.save({ raised: [], cleared: [key] });

      expect(await check(stop + 25 * minute - 1)).toEqual([]);
      expect(await check(stop + 25 * minute)).toEqual(['channel_silent:1']);
    },
  );

  it('raises at most five alarms, because more channels have a common cause', async () => {
    for (const channel of ['1', '2', '3', '4', '5', '6', '7']) await addChannel(channel);
    const { check } = start();
    await check(stop);

    expect(await check(stop + 10 * minute)).toHaveLength(5);
    expect(await check(stop + 11 * minute)).toHaveLength(5);
  });

  it('keeps an alarm open when another instance takes over', async () => {
    await addChannel('1');
    const first = start();
    await first.check(stop);
    await first.check(stop + 10 * minute);
    const [raised] = await repository.listOpen();
    first.sut.stop();
    // The events are too old for the next instance to remember.
    events = [];
    const second = start();

    expect(await second.check(stop + 11 * minute)).toEqual(['channel_silent:1']);
    expect(await repository.listOpen()).toMatchObject([{ id: raised?.id }]);
    send('1', Date.now() + minute);
    expect(await second.check(stop + 12 * minute)).toEqual([]);
  });

  it.each([
    ['the stream ends', () => Promise.resolve(void (live = []))],
    ['the channel is no longer subscribed', () => dataSource.query('TRUNCATE subscriptions')],
    [
      'the type of its events is no longer granted',
      () =>
        dataSource.query(
          `UPDATE subscriptions SET status = 'not_granted' WHERE type = 'channel.chat.message'`,
        ),
    ],
  ])('clears the alarm when %s', async (_, change) => {
    await addChannel('1');
    const { check } = start();
    await check(stop);
    expect(await check(stop + 10 * minute)).toEqual(['channel_silent:1']);
    await change();

    expect(await check(stop + 10 * minute + second)).toEqual([]);
    expect(await check(stop + 20 * minute)).toEqual([]);
  });

  it.each([
    ['is not live', () => Promise.resolve(void (live = []))],
    ['has no enabled subscription', () => dataSource.query('TRUNCATE subscriptions')],
  ])('raises no alarm for a channel that %s', async (_, change) => {
    await addChannel('1');
    const { check } = start();
    await check(stop);
    await change();

    expect(await check(stop + 10 * minute)).toEqual([]);
  });
});
