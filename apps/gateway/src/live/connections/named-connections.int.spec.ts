import { jest } from '@jest/globals';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsUsers, type LiveControl, type LiveTarget } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { HoldingProxy } from '../../../test/holding-proxy.js';
import type { LiveEvent } from '../stream/live-event.js';
import { NamedConnections } from './named-connections.js';

/** A gateway whose connections take a message only when the test lets them. */
class MadeGateway {
  readonly controls: string[] = [];
  readonly received: { target: LiveTarget; records: string[] }[] = [];
  /** The number of connections that it reports, whatever the target. */
  connections = 0;
  /** Resolves when the connections have read the message. */
  reading: Promise<void> = Promise.resolve();

  constructor(readonly id: string) {}

  control({ name }: LiveTarget, control: LiveControl): number {
    this.controls.push(`${name}: ${control}`);
    return this.connections;
  }

  async rehearse(target: LiveTarget, events: readonly LiveEvent[]): Promise<number> {
    this.received.push({ target, records: events.map(({ id, record }) => `${id} ${record.toString()}`) });
    await this.reading;
    return this.connections;
  }
}

const logger = createLogger('test', 'silent');
const target: LiveTarget = { userId: 'ada', name: 'my "overlay" é\n' };
const empty = { target, records: [] };
const emptyToOther = { target: { userId: 'bob', name: 'other' }, records: [] };

let nats: TestNats;
let gateways: MadeGateway[];
let named: NamedConnections[];
/** The gateways that are expected to have connections of the target's user. */
let announced: string[];
/** The gateways that are expected to have connections of another user. */
let announcedOfOther: string[];

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
});
afterAll(() => nats.stop());

beforeEach(async () => {
  gateways = [new MadeGateway('first'), new MadeGateway('second')];
  announced = [];
  announcedOfOther = [];
  named = gateways.map((gateway) => create(gateway, nats.urlFor('gateway')));
  await Promise.all(named.map((one) => one.connect()));
});
afterEach(() => Promise.all(named.map((one) => one.close())));

function create(gateway: MadeGateway, url: string): NamedConnections {
  const board = { gateway: gateway.id, gatewaysOf };
  return new NamedConnections({ urls: [url], name: 'gateway' }, gateway, board, logger);
}

function gatewaysOf(userId: string): string[] {
  return userId === target.userId ? announced : announcedOfOther;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

describe(NamedConnections.name, () => {
  it('sends records to every gateway including its own, and returns the number of connections that took them', async () => {
    announced = ['first', 'second'];
    at(gateways, 0).connections = 1;
    at(gateways, 1).connections = 2;
    const records = [
      { id: 'a', record: '{"text":"é \\ud800 \\"1\\""}' },
      { id: 'b', record: '{}' },
    ];

    expect(await at(named, 0).send({ target, records })).toBe(3);
    for (const { received } of gateways)
      expect(received).toEqual([{ target, records: records.map(({ id, record }) => `${id} ${record}`) }]);
  });

  it('sends a control', async () => {
    announced = ['second'];
    at(gateways, 1).connections = 1;

    expect(await at(named, 0).send({ ...empty, control: 'skip' })).toBe(1);
    expect(at(gateways, 1)).toMatchObject({ controls: [`${target.name}: skip`], received: [] });
  });

  it('waits until the connections have read', async () => {
    announced = ['second'];
    at(gateways, 1).connections = 1;
    let finish: () => void = () => undefined;
    at(gateways, 1).reading = new Promise((resolve) => (finish = resolve));
    let count: number | undefined;
    const sending = at(named, 0)
      .send(empty)
      .then((connections) => (count = connections));

    await eventually(() => expect(at(gateways, 1).received).toHaveLength(1));
    // A second message overtakes the first one, which waits for its reader.
    announcedOfOther = ['first'];
    await at(named, 1).send(emptyToOther);
    expect(count).toBeUndefined();
    finish();
    expect(await sending).toBe(1);
  });

  it('does not wait when no gateway has connections of the user', async () => {
    at(gateways, 1).reading = new Promise(() => undefined);

    expect(await at(named, 0).send(empty)).toBe(0);
  });

  it('does not wait for a gateway that is gone', async () => {
    announced = ['second', 'gone'];
    at(gateways, 1).connections = 1;
    const sending = at(named, 0).send(empty);
    await eventually(() => expect(at(gateways, 1).received).toHaveLength(1));

    announced = ['second'];

    expect(await sending).toBe(1);
  });

  it('waits for a gateway that does not reply until the limit', async () => {
    announced = ['second', 'silent'];
    at(gateways, 1).connections = 1;
    let count: number | undefined;
    const limitMs = 60_000;
    const sending = at(named, 0)
      .send(empty, limitMs)
      .then((connections) => (count = connections));
    // Replies arrive in order: after the reply to a second message, the sender has the reply to the first one.
    announcedOfOther = ['second'];
    await at(named, 0).send(emptyToOther, limitMs);
    expect(count).toBeUndefined();

    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + limitMs);
    try {
      expect(await sending).toBe(1);
    } finally {
      clock.mockRestore();
    }
  });

  it('ignores messages that it cannot read', async () => {
    const stranger: NatsConnection = await connect({
      ...credentials(nats.urlFor('gateway')),
      inboxPrefix: '_INBOX_gateway',
    });
    for (const text of ['', '{}', 'null']) stranger.publish('live.connections', text);
    await stranger.flush();
    await stranger.close();
    announced = ['second'];
    at(gateways, 1).connections = 1;

    expect(await at(named, 0).send(empty)).toBe(1);
    expect(at(gateways, 1).received).toHaveLength(1);
  });

  it('is unavailable at once while NATS is away, and works again afterwards', async () => {
    const proxy = await HoldingProxy.start(nats.urlFor('gateway'));
    const gateway = new MadeGateway('third');
    gateway.connections = 1;
    announced = ['third'];
    const behindProxy = create(gateway, proxy.url);
    try {
      await behindProxy.connect();
      expect(await behindProxy.send(empty)).toBe(1);

      proxy.stop();

      await eventually(() =>
        expect(behindProxy.send(empty, 100)).rejects.toMatchObject({ code: 'unavailable' }),
      );
    } finally {
      await behindProxy.close();
    }
  });
});

function credentials(url: string): { servers: string; user: string; pass: string } {
  const { host, username, password } = new URL(url);
  return { servers: host, user: username, pass: password };
}
