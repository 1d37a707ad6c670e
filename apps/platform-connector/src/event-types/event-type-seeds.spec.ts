import { eventTypes, isActiveByDefault } from '@stream-events/platforms';
import { seedEventTypes } from './event-type-seeds.js';

describe('seedEventTypes', () => {
  const seedAll = (platform: string) => seedEventTypes(eventTypes, [], platform).add;

  it('activates the types about going live and about consent by default, and more types on the simulated platform', () => {
    const active = (platform: string) => seedAll(platform).filter((row) => row.active);
    expect(active('twitch').map(({ type }) => type)).toEqual([
      'stream.online',
      'stream.offline',
      'user.authorization.grant',
      'user.authorization.revoke',
    ]);
    expect(active('simulator')).toHaveLength(16);
    expect(active('simulator').every(({ type }) => isActiveByDefault(type, 'simulator'))).toBe(true);
    expect(seedAll('twitch')).toHaveLength(eventTypes.length);
  });

  it('keeps users’ choices and adds only new types', () => {
    const chosen = seedAll('twitch').slice(1).map((row) => ({ ...row, active: !row.active })); // prettier-ignore
    const { add, retire } = seedEventTypes(eventTypes, chosen, 'twitch');
    const [first] = eventTypes;
    expect(add).toEqual([{ type: first?.type, version: first?.version, active: false }]);
    expect(retire).toEqual([]);
  });

  it.each([true, false])('transfers the choice (%s) of a version to its newer version', (active) => {
    const chosen = seedAll('twitch')
      .filter(({ type, version }) => !(type === 'channel.moderate' && version === '2'))
      .map((row) => (row.type === 'channel.moderate' ? { ...row, active } : row));
    const { add, retire } = seedEventTypes(eventTypes, chosen, 'twitch');
    expect(add).toEqual([{ type: 'channel.moderate', version: '2', active }]);
    expect(retire.map(({ version }) => version)).toEqual(active ? ['1'] : []);
  });
});
