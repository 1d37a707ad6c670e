import { listEventTypes, ServiceError, setEventType, type EventTypeMessage } from '@stream-events/contracts';
import { eventTypes } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup } from '../../test/reconciler-setup.js';

const consentTypes = ['user.authorization.grant', 'user.authorization.revoke'];

describe('EventTypesService', () => {
  let setup: ReconcilerSetup;

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(() => setup.reset());

  afterAll(() => setup.close());

  const list = async (): Promise<EventTypeMessage[]> =>
    (await setup.gateway.request(listEventTypes, {})).eventTypes;
  const activeTypes = async (): Promise<string[]> =>
    (await list()).filter(({ active }) => active).map(({ type }) => type);
  const set = (type: string, active: boolean) => setup.gateway.request(setEventType, { type, active });

  it('lists all types with their descriptions and their numbers of subscriptions', async () => {
    setup.monitored.ids = ['1', '2'];
    setup.platform.unknownStreamers.add('2');
    await setup.startInstance();

    await eventually(async () => {
      const types = await list();
      expect(types).toHaveLength(eventTypes.length);
      expect(types.find(({ type }) => type === 'stream.online')).toEqual({
        type: 'stream.online',
        version: '1',
        condition: ['broadcaster_user_id'],
        scopes: [],
        description: 'Channel went live',
        active: true,
        subscriptions: { enabled: 1, refused: 1 },
        unsupported: null,
      });
    });
    const types = await list();
    expect(types.map(({ type }) => type)).toEqual(types.map(({ type }) => type).sort());
    expect(types.find(({ type }) => type === 'channel.raid')?.condition).toEqual([
      'from_broadcaster_user_id',
      'to_broadcaster_user_id',
    ]);
    expect(types.find(({ type }) => type === 'drop.entitlement.grant')?.unsupported).toContain(
      'organization_id',
    );
  });

  it('accepts either name, activates the newest version, and keeps the choice after a restart', async () => {
    const first = await setup.startInstance();
    expect(await set('channel-moderate', true)).toMatchObject({
      type: 'channel.moderate',
      version: '2',
      active: true,
    });
    expect(await set('stream.offline', false)).toMatchObject({ type: 'stream.offline', active: false });
    await first.stop();

    await setup.startInstance();
    expect(await activeTypes()).toEqual(['channel.moderate', 'stream.online', ...consentTypes]);
    expect(await set('channel.moderate', false)).toMatchObject({ version: '2', active: false });
    expect(await activeTypes()).toEqual(['stream.online', ...consentTypes]);
  });

  it('rejects unknown and unsupported types', async () => {
    await setup.startInstance();
    const codeOf = (type: string, active = true) =>
      set(type, active).then(
        () => 'done',
        (error: unknown) => (error instanceof ServiceError ? error.code : error),
      );
    expect(await codeOf('stream.paused')).toBe('not_found');
    expect(await codeOf('a\0')).toBe('not_found');
    expect(await codeOf('conduit.shard.disabled')).toBe('conflict');
    expect(await codeOf('user.authorization.grant')).toBe('conflict');
    expect(await codeOf('conduit.shard.disabled', false)).toBe('done');
  });

  it.each([
    ['app', { PLATFORM_CLIENT_ID: 'app', PLATFORM_CLIENT_SECRET: 'of the app' }],
    // The simulated platform needs no configured client id; `stream-events` is the default.
    ['stream-events', { PLATFORM: 'simulator' }],
  ])('subscribes once, for the whole application, to %s', async (clientId, environment) => {
    setup.monitored.ids = ['1', '2'];
    await setup.startInstance(environment);
    await set('user-authorization-revoke', true);
    await eventually(() => {
      const conditions = [...setup.platform.subscriptions.values()]
        .filter(({ type }) => type === 'user.authorization.revoke')
        .map(({ condition }) => condition);
      expect(conditions).toEqual([{ client_id: clientId }]);
    });
  });

  it('adds each type once when several instances start at the same time, and activates more types on the simulated platform', async () => {
    await Promise.all(Array.from({ length: 3 }, () => setup.startInstance({ PLATFORM: 'simulator' })));
    expect(await activeTypes()).toHaveLength(16);
  });
});
