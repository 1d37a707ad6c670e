import { renderNatsConfig } from './nats-server-config.js';

const setup = (user: { publish?: string[]; subscribe?: string[]; servesRequests?: boolean }): unknown =>
  JSON.parse(
    renderNatsConfig({
      serverName: 'test',
      host: '127.0.0.1',
      port: 4222,
      storeDirectory: '/a folder/with "quotes"',
      users: [{ name: 'relay', password: 'secret', publish: [], subscribe: [], ...user }],
    }),
  );

describe(renderNatsConfig.name, () => {
  it('lists the allowed subjects of a user', () => {
    expect(setup({ publish: ['streams.>'], subscribe: ['_INBOX.>'] })).toMatchObject({
      authorization: {
        users: [
          {
            user: 'relay',
            permissions: { publish: { allow: ['streams.>'] }, subscribe: { allow: ['_INBOX.>'] } },
          },
        ],
      },
    });
  });

  it('denies everything when nothing is allowed, as an empty list would allow everything', () => {
    expect(setup({})).toMatchObject({
      authorization: { users: [{ permissions: { publish: { deny: ['>'] }, subscribe: { deny: ['>'] } } }] },
    });
  });

  it('allows answers only for users who serve requests', () => {
    expect(JSON.stringify(setup({ servesRequests: true }))).toContain('"allow_responses":true');
    expect(JSON.stringify(setup({ servesRequests: false }))).not.toContain('allow_responses');
  });

  it('keeps paths with special characters', () => {
    expect(setup({})).toMatchObject({ jetstream: { store_dir: '/a folder/with "quotes"' } });
  });
});
