import { choosePasswords, renderNatsConfig, type NatsAccount, type NatsUser } from './nats-server-config.js';

const render = (...users: NatsUser[]): unknown =>
  JSON.parse(
    renderNatsConfig({
      serverName: 'test',
      host: '127.0.0.1',
      port: 4222,
      storeDirectory: '/a folder/with "quotes"',
      users: users.map((user) => ({ ...user, password: 'secret' })),
    }),
  );

const relay: NatsUser = { name: 'relay', publish: [], subscribe: [] };

describe(renderNatsConfig.name, () => {
  it('lists the allowed and the excepted subjects of a user, in an account with JetStream', () => {
    const user = { ...relay, publish: ['streams.>'], doNotPublish: ['streams.a'], subscribe: ['_INBOX.>'] };
    expect(render(user)).toMatchObject({
      accounts: {
        DEFAULT: {
          jetstream: 'enabled',
          users: [
            {
              user: 'relay',
              permissions: {
                publish: { allow: ['streams.>'], deny: ['streams.a'] },
                subscribe: { allow: ['_INBOX.>'] },
              },
            },
          ],
        },
      },
    });
  });

  it('denies everything when nothing is allowed, because an empty list would allow everything', () => {
    expect(render(relay)).toMatchObject({
      accounts: {
        DEFAULT: { users: [{ permissions: { publish: { deny: ['>'] }, subscribe: { deny: ['>'] } } }] },
      },
    });
  });

  it('allows replies only for users that serve requests', () => {
    expect(JSON.stringify(render({ ...relay, servesRequests: true }))).toContain('"allow_responses":true');
    expect(JSON.stringify(render({ ...relay, servesRequests: false }))).not.toContain('allow_responses');
  });

  it('keeps paths with special characters', () => {
    expect(render(relay)).toMatchObject({ jetstream: { store_dir: '/a folder/with "quotes"' } });
  });

  describe('with accounts', () => {
    const store: NatsAccount = { name: 'STORE', hasJetStream: true, imports: [] };
    const readers: NatsAccount = {
      name: 'READERS',
      hasJetStream: false,
      imports: [
        { from: 'STORE', stream: 'news.>' },
        { from: 'STORE', service: 'ask.>', responseType: 'Stream' },
      ],
    };

    it('exports what another account imports, to that account', () => {
      const users = [
        { ...relay, account: store },
        { ...relay, name: 'reader', account: readers },
      ];
      expect(render(...users)).toMatchObject({
        accounts: {
          STORE: {
            jetstream: 'enabled',
            exports: [
              { stream: 'news.>', accounts: ['READERS'] },
              { service: 'ask.>', response_type: 'Stream', accounts: ['READERS'] },
            ],
            users: [{ user: 'relay' }],
          },
          READERS: {
            imports: [
              { stream: { account: 'STORE', subject: 'news.>' } },
              { service: { account: 'STORE', subject: 'ask.>' } },
            ],
            users: [{ user: 'reader' }],
          },
        },
      });
    });

    it('imports nothing from an account that has no users', () => {
      const config = render({ ...relay, account: readers });
      expect(config).toMatchObject({ accounts: { READERS: { imports: [], exports: [] } } });
      expect(JSON.stringify(config)).not.toContain('STORE');
    });
  });
});

describe(choosePasswords.name, () => {
  it('keeps given passwords and gives each other user a random one', () => {
    const [given, first, second] = choosePasswords([
      { ...relay, password: 'given' },
      { ...relay, name: 'first' },
      { ...relay, name: 'second' },
    ]);
    expect(given?.password).toBe('given');
    expect(first?.password).toMatch(/^[0-9a-f]{48}$/);
    expect(second?.password).not.toBe(first?.password);
  });

  it('gives users that share a password the same one, in any order', () => {
    const shared: NatsUser = { ...relay, name: 'relay.events', passwordOf: 'relay' };
    const [before, relayed, after] = choosePasswords([shared, relay, shared]);
    expect(before?.password).toBe(relayed?.password);
    expect(after?.password).toBe(relayed?.password);
  });
});
