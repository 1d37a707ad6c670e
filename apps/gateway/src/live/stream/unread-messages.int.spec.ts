import { jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createLogger, Registry } from '@stream-events/service';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { EventFeed, type Interruption } from './event-feed.service.js';

// The process that publishes takes 30 s to start on a busy machine.
jest.setTimeout(180_000);

interface Elsewhere {
  ids: readonly string[];
  /** The first sequence of the stream after the removals. */
  firstSequence: number;
  /** The sequences that are removed one by one. */
  removed: readonly number[];
}

/** Publishes events and removes some of them while this process is blocked. */
function publishElsewhere(broker: EventsBroker, what: Elsewhere): void {
  const script = `
    import { readFileSync } from 'node:fs';
    import { connect, headers } from '@nats-io/transport-node';
    import { jetstreamManager } from '@nats-io/jetstream';
    const { server, ids, firstSequence, removed } = JSON.parse(readFileSync(0, 'utf8'));
    const { hostname, port, username: user, password: pass } = new URL(server);
    const connection = await connect({ servers: hostname + ':' + port, user, pass, inboxPrefix: '_INBOX_events_events' });
    await Promise.all(ids.map((id) => {
      const given = headers();
      given.set('Nats-Msg-Id', id);
      return connection.request('events.platform.channel-follow.1', '{}', { headers: given, timeout: 20000 });
    }));
    const { streams } = await jetstreamManager(connection, { timeout: 20000 });
    if (firstSequence > 1) await streams.purge('EVENTS', { seq: firstSequence });
    await Promise.all(removed.map((sequence) => streams.deleteMessage('EVENTS', sequence)));
    await connection.close();`;
  const server = broker.nats.urlFor('events.events');
  const input = JSON.stringify({ server, ...what });
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { input });
}

describe('messages that leave the stream before they are read', () => {
  const ids = newIds(1_000);
  const alreadyRead = 10;
  let broker: EventsBroker;
  let feed: EventFeed;
  /** The events of a client that is connected from the start. */
  let delivered: string[];
  let interruptions: Interruption[];

  beforeAll(async () => {
    broker = await EventsBroker.start();
  });
  beforeEach(async () => {
    delivered = [];
    interruptions = [];
    await broker.createStream('0ddba115');
    const logger = createLogger('test', 'silent');
    feed = new EventFeed(await broker.connectGateway(), logger, new Registry(), broker.erased);
    feed.listen({
      onEvent: ({ id }) => delivered.push(id),
      onInterrupted: (interruption) => {
        interruptions.push(interruption);
        delivered.push(
          ...(feed.ringBuffer?.slice(interruption.nextSequence, ids.length) ?? []).map(({ id }) => id),
        );
      },
    });
    feed.start();
    await untilCurrent();
    await broker.publish(ids.slice(0, alreadyRead));
    await untilCurrent();
  });
  afterEach(async () => {
    await feed.stop();
    await broker.deleteStream();
  });
  afterAll(() => broker.close());

  const untilCurrent = (): Promise<void> => feed.untilCurrent(AbortSignal.timeout(100_000));

  it('are reported as expired although the consumer continues', async () => {
    // This process reads nothing while it is blocked.
    publishElsewhere(broker, { ids: ids.slice(alreadyRead), firstSequence: 900, removed: [] });

    await untilCurrent();
    expect(interruptions).toEqual([{ reason: 'expired', nextSequence: 900 }]);
    const readBefore = delivered.length - 101;
    expect(readBefore).toBeLessThan(899);
    expect(delivered).toEqual([...ids.slice(0, readBefore), ...ids.slice(899)]);
  });

  it('cause no gap if they were erased, although the stream begins after them', async () => {
    const removed = Array.from({ length: 889 }, (_, index) => alreadyRead + 1 + index);
    broker.noteErased(removed);
    publishElsewhere(broker, { ids: ids.slice(alreadyRead), firstSequence: alreadyRead + 1, removed });

    await untilCurrent();
    expect(interruptions).toEqual([]);
    const readBefore = delivered.length - 101;
    expect(readBefore).toBeLessThan(899);
    expect(delivered).toEqual([...ids.slice(0, readBefore), ...ids.slice(899)]);
  });

  it('cause no gap if they were removed individually', async () => {
    const removed = [700, 800, 801, 1_000];
    publishElsewhere(broker, { ids: ids.slice(alreadyRead), firstSequence: 1, removed });

    await untilCurrent();
    expect(delivered).toEqual(ids.filter((_, index) => !removed.includes(index + 1)));
    expect(interruptions).toEqual([]);
  });
});
