import { byPriority, findEventType } from '@stream-events/platforms';
import { usersToAsk, wantedSubscriptions } from './wanted-subscriptions.js';

const values = { clientId: 'app' };
const isChosen = (): boolean => true;
const grantsOf = (): ReadonlySet<string> => new Set(['bits:read']);

describe('usersToAsk', () => {
  it('asks nobody when no type needs consent', () => {
    const [online, cheer] = ['stream.online', 'channel.cheer'].map((type) => findEventType(type)!);
    expect(usersToAsk(['1', '2'], [online!], values)).toEqual([]);
    expect(usersToAsk(['1', '2'], [online!, cheer!], values)).toEqual(['1', '2']);
    expect(usersToAsk(['1'], [cheer!], { ...values, botId: '9' })).toEqual(['9', '1']);
  });
});

describe('wantedSubscriptions', () => {
  it('lists every type for each streamer in order, and application-wide types once', () => {
    const types = ['channel.cheer', 'stream.offline', 'stream.online', 'user.authorization.revoke'];
    const active = byPriority(types.map((type) => findEventType(type)!));
    const onlyOne = (id: string): ReadonlySet<string> => new Set(id === '1' ? ['bits:read'] : []);
    const wanted = wantedSubscriptions(['2', '1', '2'], active, { values, grantsOf: onlyOne, isChosen });

    expect(wanted.map(({ type, condition }) => `${type} ${Object.values(condition).join()}`)).toEqual([
      'user.authorization.revoke app',
      'stream.online 2',
      'stream.offline 2',
      'channel.cheer 2',
      'stream.online 1',
      'stream.offline 1',
      'channel.cheer 1',
    ]);
    expect(wanted.map(({ expectedCost }) => expectedCost)).toEqual([1, 1, 1, 0, 0, 0, 0]);
    expect(new Set(wanted.map(({ key }) => key)).size).toBe(7);
  });

  it('leaves out the types that were not chosen for a streamer', () => {
    const types = ['stream.online', 'channel.cheer', 'user.authorization.grant'].map((type) =>
      findEventType(type)!,
    );
    const wanted = wantedSubscriptions(['1', '2'], types, {
      values,
      grantsOf,
      isChosen: (id, type) => id !== '2' || type === 'channel.cheer',
    });
    expect(wanted.map(({ type, condition }) => `${type} ${Object.values(condition).join()}`)).toEqual([
      'user.authorization.grant app',
      'stream.online 1',
      'channel.cheer 1',
      'channel.cheer 2',
    ]);
  });

  it('shows which of them lack consent', () => {
    const types = ['stream.online', 'channel.cheer', 'channel.follow'].map((type) => findEventType(type)!);
    const wanted = wantedSubscriptions(['1'], types, { values, grantsOf, isChosen });
    expect(wanted.map(({ consent }) => consent.kind)).toEqual(['given', 'given', 'missing']);
  });

  it('lists a raid twice for each streamer: the raids on the channel, and the raids from it', () => {
    const wanted = wantedSubscriptions(['2', '1'], [findEventType('channel.raid')!], {
      values,
      grantsOf,
      isChosen,
    });

    expect(wanted.map(({ condition }) => condition)).toEqual([
      { to_broadcaster_user_id: '2' },
      { from_broadcaster_user_id: '2' },
      { to_broadcaster_user_id: '1' },
      { from_broadcaster_user_id: '1' },
    ]);
    expect(new Set(wanted.map(({ key }) => key)).size).toBe(4);
  });
});
