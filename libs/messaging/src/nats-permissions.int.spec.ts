import { inboxPrefix, natsUsers } from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { connectNats } from './connection.js';

type UserName = keyof typeof natsUsers;

let nats: TestNats;
beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
});
afterAll(() => nats.stop());

/**
 * Returns the subjects that the broker refuses to this user. A final subject, refused to everyone, shows that the broker has checked all of
 * them.
 */
async function findRefused(
  user: UserName,
  subjects: readonly string[],
  use: (connection: NatsConnection, subject: string) => void,
): Promise<string[]> {
  const connection = await connectNats({ urls: [nats.urlFor(user)], name: user });
  const refused: string[] = [];
  const collecting = (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError)
        refused.push(status.error.subject);
    }
  })();
  const sentinel = 'nobody.may';
  for (const subject of [...subjects, sentinel]) use(connection, subject);
  await eventually(() => expect(refused).toContain(sentinel));
  await connection.close();
  await collecting;
  return refused.filter((subject) => subject !== sentinel);
}

function publish(connection: NatsConnection, subject: string): void {
  connection.publish(subject, '{}');
}

function subscribe(connection: NatsConnection, subject: string): void {
  connection.subscribe(subject, { callback: () => undefined });
}

const id = '1';
const everyone = Object.keys(natsUsers) as UserName[];

describe('natsUsers', () => {
  const reading = [
    '$JS.API.STREAM.INFO.EVENTS',
    '$JS.API.CONSUMER.CREATE.EVENTS.mine',
    '$JS.API.CONSUMER.CREATE.EVENTS.mine.events.platform.>',
    '$JS.API.CONSUMER.MSG.NEXT.EVENTS.mine',
    '$JS.ACK.EVENTS.mine.1',
  ];

  it.each<[UserName, string[]]>([
    [
      'gateway',
      [
        'request.events.store-batch',
        'request.other.thing',
        'ingest.events',
        'live.replay.channel-raid.1',
        'live.connections',
        '_INBOX_events.x',
      ],
    ],
    ['gateway.events', [...reading, '$JS.API.CONSUMER.DELETE.EVENTS.mine']],
    ['events', ['$JS.API.STREAM.CREATE.INGEST', '$JS.ACK.INGEST.drain.1']],
    ['events.events', [`events.platform.channel-raid.${id}`, '$JS.API.STREAM.INFO.EVENTS']],
    ['platform-connector.events', [...reading, '$JS.ACK.EVENTS.platform-connector-revocations.1']],
    ['streamer-monitor', ['request.events.list', 'request.platform-connector.look-up-users']],
    ['streamer-monitor.events', [...reading, '$JS.ACK.EVENTS.streamer-monitor-streams.1']],
    ['subscriber', reading],
  ])('lets %s publish on the subjects that it needs', async (user, subjects) => {
    expect(await findRefused(user, subjects, publish)).toEqual([]);
  });

  it.each<[UserName, string[]]>([
    [
      'gateway',
      [
        `events.platform.channel-raid.${id}`,
        'ingest.other',
        ...reading,
        '$JS.API.STREAM.PURGE.INGEST',
        '_INBOX_platform-connector.x',
      ],
    ],
    [
      'gateway.events',
      [
        `events.platform.channel-raid.${id}`,
        '$JS.API.STREAM.DELETE.EVENTS',
        'ingest.events',
        'request.events.list',
      ],
    ],
    ['events', ['request.events.store-batch', 'request.other.thing', 'ingest.events', '_INBOX_gateway.x']],
    ['events.events', ['request.events.store-batch', 'ingest.events', 'live.replay.channel-raid.1']],
    [
      'platform-connector.events',
      [
        'request.streamer-monitor.list-monitored',
        'events.platform.channel-raid.1',
        '$JS.API.CONSUMER.DELETE.EVENTS.mine',
      ],
    ],
    [
      'streamer-monitor.events',
      ['request.events.list', 'events.platform.channel-raid.1', '$JS.API.STREAM.DELETE.EVENTS'],
    ],
  ])('does not let %s publish on other subjects', async (user, subjects) => {
    expect(await findRefused(user, subjects, publish)).toEqual(subjects);
  });

  it.each<[UserName, string[]]>([
    ['gateway', ['_INBOX_gateway.>', 'live.replay.>', 'live.connections']],
    ['gateway.events', ['_INBOX_gateway_events.>']],
    ['events', ['request.events.>', 'request.events.store-batch', '_INBOX_events.>']],
    ['subscriber', ['_INBOX_subscriber.>', 'live.replay.>', 'live.replay.channel-raid.1']],
  ])('lets %s subscribe to the subjects that it needs', async (user, subjects) => {
    expect(await findRefused(user, subjects, subscribe)).toEqual([]);
  });

  it.each(everyone)('does not let %s subscribe to inboxes of other users or to wildcards', async (user) => {
    const inboxes = everyone.filter((other) => other !== user).map((other) => `${inboxPrefix(other)}.>`);
    const subjects = [...inboxes, '>', '$SYS.>', 'events.>', 'request.>', '_INBOX.>'];

    expect(await findRefused(user, subjects, subscribe)).toEqual(subjects);
  });

  it('does not let the gateway and subscribers subscribe to requests', async () => {
    for (const user of ['gateway', 'gateway.events', 'subscriber'] as const) {
      expect(await findRefused(user, ['request.events.store-batch'], subscribe)).toEqual([
        'request.events.store-batch',
      ]);
    }
  });

  it('lets only gateways send messages to named connections, and see them', async () => {
    for (const user of everyone.filter((name) => name !== 'gateway')) {
      expect(await findRefused(user, ['live.connections'], subscribe)).toEqual(['live.connections']);
      expect(await findRefused(user, ['live.connections'], publish)).toEqual(['live.connections']);
    }
  });

  it('does not let a gateway reply to its own message on a subject that the message names', async () => {
    const targets = ['$JS.API.STREAM.PURGE.INGEST', '_INBOX_gateway.mine'];
    const answer = (connection: NatsConnection, subject: string): void => {
      connection.subscribe('live.connections', {
        max: 1,
        callback: (_, message) => {
          message.respond('{}');
        },
      });
      connection.publish('live.connections', '', { reply: subject });
    };

    expect(await findRefused('gateway', targets, answer)).toEqual(['$JS.API.STREAM.PURGE.INGEST']);
  });

  it('gives a service two users with one password, one in each account', async () => {
    const urls = [nats.urlFor('gateway')];
    const [inServices, inEvents] = await Promise.all([
      connectNats({ urls, name: 'gateway' }),
      connectNats({ urls, name: 'gateway', account: 'EVENTS' }),
    ]);
    const heard: string[] = [];
    inServices.subscribe('live.replay.>', { callback: (_, { subject }) => void heard.push(subject) });
    await inServices.flush();
    inEvents.publish('live.replay.refused', '');
    await inEvents.flush();
    inServices.publish('live.replay.heard', '');

    await eventually(() => expect(heard).toEqual(['live.replay.heard']));
    await Promise.all([inServices.close(), inEvents.close()]);
  });

  it('rejects a wrong password immediately', async () => {
    const address = new URL(nats.urlFor('gateway'));
    address.password = 'wrong';

    await expect(connectNats({ urls: [address.href], name: 'gateway' })).rejects.toThrow(
      /cannot connect to NATS at 127\.0\.0\.1:\d+ as gateway: .*authorization/i,
    );
  });
});
