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

let nats: TestNats;
let gateways: MadeGateway[];
let named: NamedConnections[];
/** The gateways that have reported themselves. */
let reported: string[];

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
});
afterAll(() => nats.stop());

beforeEach(async () => {
  gateways = [new MadeGateway('first'), new MadeGateway('second')];
  reported = ['first', 'second'];
  named = await Promise.all(gateways.map((gateway) => connectTo(gateway, nats.urlFor('gateway'))));
});
afterEach(() => Promise.all(named.map((one) => one.close())));

async function connectTo(gateway: MadeGateway, url: string): Promise<NamedConnections> {
  const one = new NamedConnections({ urls: [url], name: 'gateway' }, gateway, logger);
  await one.connect({ id: gateway.id, list: () => reported });
  return one;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

describe(NamedConnections.name, () => {
  it('sends records to every gateway including its own, and returns the number of connections that took them', async () => {
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

  it('waits until the connections have read', async () => {
    at(gateways, 1).connections = 1;
    let finish: () => void = () => undefined;
    at(gateways, 1).reading = new Promise((resolve) => (finish = resolve));
    let count: number | undefined;
    const sending = at(named, 0)
      .send(empty)
      .then((connections) => (count = connections));

    await eventually(() => expect(at(gateways, 1).received).toHaveLength(1));
    // A control overtakes the message, which waits for its reader.
    await at(named, 0).send({ ...empty, control: 'skip' });
    expect(count).toBeUndefined();
    finish();
    expect(await sending).toBe(1);
  });

  it('counts the replies of a second before it knows the gateways', async () => {
    reported = [];
    at(gateways, 0).connections = 1;
    at(gateways, 1).connections = 2;
    let finish: () => void = () => undefined;
    at(gateways, 1).reading = new Promise((resolve) => (finish = resolve));
    const sending = at(named, 0).send(empty);
    await eventually(() => expect(at(gateways, 1).received).toHaveLength(1));
    finish();

    expect(await sending).toBe(3);
    at(gateways, 1).reading = new Promise(() => undefined);
    expect(await at(named, 0).send(empty)).toBe(1);
  });

  it('stops waiting for a gateway that is gone', async () => {
    reported = ['first', 'second', 'gone'];
    at(gateways, 1).connections = 1;
    const sending = at(named, 0).send(empty);
    await eventually(() => expect(at(gateways, 1).received).toHaveLength(1));

    reported = ['first', 'second'];

    expect(await sending).toBe(1);
  });

  it('waits for a gateway that does not reply until the limit', async () => {
    reported = ['first', 'second', 'silent'];
    at(gateways, 1).connections = 1;
    const limitMs = 500;
    const begunAt = performance.now();

    expect(await at(named, 0).send(empty, limitMs)).toBe(1);
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(limitMs);
  });

  it('ignores messages that it cannot read', async () => {
    const stranger: NatsConnection = await connect({
      ...credentials(nats.urlFor('gateway')),
      inboxPrefix: '_INBOX_gateway',
    });
    for (const text of ['', '{}', 'null']) stranger.publish('live.connections', text);
    await stranger.flush();
    await stranger.close();
    at(gateways, 1).connections = 1;

    expect(await at(named, 0).send(empty)).toBe(1);
    expect(at(gateways, 1).received).toHaveLength(1);
  });

  it('is unavailable at once while NATS is away, and works again afterwards', async () => {
    const proxy = await HoldingProxy.start(nats.urlFor('gateway'));
    const gateway = new MadeGateway('third');
    gateway.connections = 1;
    reported = ['third'];
    const behindProxy = await connectTo(gateway, proxy.url);
    try {
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
