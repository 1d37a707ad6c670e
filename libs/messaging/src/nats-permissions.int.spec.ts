import { natsUsers } from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { connectNats } from './connection.js';

type UserName = keyof typeof natsUsers;

let nats: TestNats;
beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
});
afterAll(() => nats.stop());

/** Which of these subjects the broker refuses the user; a last one, which nobody may use, tells when all are judged. */
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
  it.each<[UserName, string[]]>([
    ['gateway', ['request.events.store', 'request.other.thing', 'intake.events']],
    ['events', [`events.platform.channel-raid.${id}`, '$JS.API.STREAM.INFO.EVENTS']],
    [
      'subscriber',
      ['$JS.API.STREAM.INFO.EVENTS', '$JS.API.CONSUMER.CREATE.EVENTS.mine', '$JS.ACK.EVENTS.mine.1'],
    ],
  ])('lets %s publish what it needs', async (user, subjects) => {
    expect(await findRefused(user, subjects, publish)).toEqual([]);
  });

  it.each<[UserName, string[]]>([
    [
      'gateway',
      [
        `events.platform.channel-raid.${id}`,
        '$JS.API.STREAM.DELETE.EVENTS',
        'intake.other',
        '$JS.API.STREAM.PURGE.INTAKE',
        '_INBOX_events.x',
      ],
    ],
    ['events', ['request.events.store', 'request.other.thing', 'intake.events', '_INBOX_gateway.x']],
    ['subscriber', [`events.platform.channel-raid.${id}`, 'request.events.list', '$JS.API.STREAM.DELETE.EVENTS', '$JS.API.STREAM.PURGE.EVENTS', '$JS.API.STREAM.UPDATE.EVENTS', '$JS.API.STREAM.MSG.DELETE.EVENTS', '$JS.API.CONSUMER.CREATE.INTAKE.mine', 'intake.events', '_INBOX_gateway.x']], // prettier-ignore
  ])('refuses %s to publish anything else', async (user, subjects) => {
    expect(await findRefused(user, subjects, publish)).toEqual(subjects);
  });

  it.each<[UserName, string[]]>([
    ['gateway', ['_INBOX_gateway.>']],
    ['events', ['request.events.>', 'request.events.store', '_INBOX_events.>']],
    ['subscriber', ['live.replay.>', '_INBOX_subscriber.>']],
  ])('lets %s subscribe to what it needs', async (user, subjects) => {
    expect(await findRefused(user, subjects, subscribe)).toEqual([]);
  });

  it.each(everyone)('refuses %s the inboxes of the others, and everything', async (user) => {
    const inboxes = everyone.filter((other) => other !== user).map((other) => `_INBOX_${other}.>`);
    const subjects = [...inboxes, '>', '$SYS.>', 'events.>', 'request.>', '_INBOX.>'];

    expect(await findRefused(user, subjects, subscribe)).toEqual(subjects);
  });

  it('refuses the gateway and subscribers to listen to requests', async () => {
    for (const user of ['gateway', 'subscriber'] as const) {
      expect(await findRefused(user, ['request.events.store'], subscribe)).toEqual(['request.events.store']);
    }
  });

  it('refuses a wrong password at once', async () => {
    const address = new URL(nats.urlFor('gateway'));
    address.password = 'wrong';

    await expect(connectNats({ urls: [address.href], name: 'gateway' })).rejects.toThrow(
      /could not connect to NATS at 127\.0\.0\.1:\d+: .*authorization/i,
    );
  });
});
