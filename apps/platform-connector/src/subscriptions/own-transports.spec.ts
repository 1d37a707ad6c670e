import type { Condition } from '@stream-events/platforms';
import type { ConduitsRepository } from '../conduits/conduits.repository.js';
import type { PlatformSettings } from '../platform/platform-settings.js';
import type { UserSessionsRepository, UserSessionState } from '../sockets/user-sessions.repository.js';
import { chooseSession, OwnTransports, OwnTransportsReader } from './own-transports.js';
import type { ReconciliationSchedule } from './reconciliation-schedule.repository.js';

const session = (userId: string, overrides: Partial<UserSessionState> = {}): UserSessionState => ({
  userId,
  sessionId: `session-${userId}`,
  isHeld: true,
  ...overrides,
});
const lost = (userId: string): UserSessionState => session(userId, { sessionId: null });
const unheld = (userId: string): UserSessionState => session(userId, { isHeld: false });

describe(chooseSession.name, () => {
  const choose = (condition: Condition, ...sessions: UserSessionState[]): string | null => {
    const chosen = chooseSession(sessions, condition);
    return chosen?.method === 'websocket' ? chosen.sessionId : null;
  };

  it.each<[string, Condition]>([
    ['the channel', { broadcaster_user_id: '2' }],
    ['a user', { user_id: '2' }],
    ['the channel that gets a raid', { to_broadcaster_user_id: '2' }],
    ['the user who reads, not the channel', { broadcaster_user_id: '1', user_id: '2' }],
    ['the moderator, not the channel', { broadcaster_user_id: '1', moderator_user_id: '2' }],
  ])('is the session of %s', (_, condition) => {
    expect(choose(condition, session('1'), session('2'), session('3'))).toBe('session-2');
  });

  it('is any session for a channel that is not connected: its events need no consent', () => {
    expect(choose({ broadcaster_user_id: '9' }, lost('1'), unheld('2'), session('3'))).toBe('session-3');
  });

  it.each([
    ['is not connected', lost('1')],
    ['was left by a connector that no longer runs', unheld('1')],
  ])('is none while the socket of the user %s, because the platform accepts no other', (_, theirs) => {
    expect(choose({ broadcaster_user_id: '1' }, theirs, session('2'))).toBeNull();
  });

  it('is none without a session', () => {
    expect(choose({ broadcaster_user_id: '9' }, lost('1'))).toBeNull();
    expect(choose({ broadcaster_user_id: '9' })).toBeNull();
  });
});

describe('sharesLimit', () => {
  const webhook = { method: 'webhook', callback: 'https://events.example' } as const;
  const conduit = { method: 'conduit', conduitId: 'a' } as const;
  const websocket = { method: 'websocket', sessionId: 'b' } as const;

  it.each([
    ['webhook', [true, true, false]],
    ['conduit', [true, true, false]],
    ['websocket', [false, false, true]],
  ] as const)('tells which subscriptions count toward the limit of new ones over %s', (method, expected) => {
    const own = new OwnTransports({ method, publicUrl: null, fingerprints: [] });

    expect([webhook, conduit, websocket].map((transport) => own.sharesLimit(transport))).toEqual(expected);
    expect(own.sharesLimit(null)).toBe(true);
  });
});

describe(OwnTransportsReader.name, () => {
  it.each([
    ['is not used', 'websocket', 'other', true],
    ['was never created', 'websocket', null, true],
    ['is used', 'websocket', 'a', false],
    ['is wanted', 'conduit', 'other', false],
  ] as const)('decides whether to retire a conduit that %s', async (_, transport, conduitId, expected) => {
    let isRetired = false;
    const settings = { credentials: { clientId: 'client' }, transport } as PlatformSettings;
    const conduits = {
      findId: () => Promise.resolve(conduitId),
      retire: () => Promise.resolve(void (isRetired = true)),
    } as unknown as ConduitsRepository;
    const sut = new OwnTransportsReader(
      settings,
      {} as ReconciliationSchedule,
      conduits,
      {} as UserSessionsRepository,
    ); // Safe casts: nothing else is used.

    await sut.retire([{ transport: { method: 'conduit', conduitId: 'a' } }]);
    expect(isRetired).toBe(expected);
  });
});
