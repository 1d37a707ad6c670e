import { ServiceError } from '@stream-events/contracts';
import type { AcceptedTokens } from '@stream-events/platforms';
import { chooseToken, type CallerConnection, type TokenWish } from './choose-token.js';

const scope = 'user:write:chat';

function connection(id: string, fields: Partial<CallerConnection> = {}): CallerConnection {
  return {
    id: `id-${id}`,
    state: 'connected',
    userId: id,
    login: `user_${id}`,
    scopes: [scope],
    remedy: null,
    ...fields,
  };
}

function endpoint(auth: AcceptedTokens, scopes: string[] = [scope]) {
  return { auth, scopes_any_of: scopes };
}

const mira = connection('1');
const nora = connection('2');
const nobody: TokenWish = { connectionId: null, actors: [], hasAppToken: true };

function fault(work: () => unknown): { code: string; detail: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, detail: error.detail };
  }
}

describe(chooseToken.name, () => {
  it.each([
    ['app', { actors: ['1'] }, null],
    ['none', { actors: ['1'] }, null],
    ['app_or_user', { actors: ['1'] }, null],
    ['app_or_user', { connectionId: 'id-1' }, mira],
    ['app_with_grant_or_user', { actors: ['1'] }, mira],
    ['app_with_grant_or_user', { actors: ['9'] }, null],
    ['app_with_grant_or_user', {}, null],
    ['app_with_grant_or_user', { connectionId: 'id-2', actors: ['1'] }, nora],
    ['user', { actors: ['2'] }, nora],
    ['user', { connectionId: 'id-1', actors: ['2', '1'] }, mira],
  ] as const)('%s with %j', (auth, wish, expected) => {
    expect(chooseToken(endpoint(auth), { ...nobody, ...wish }, [mira, nora])).toBe(expected);
  });

  it('takes the only connection when the call names nobody', () => {
    const lost = connection('2', { state: 'reconnect_needed' });

    expect(chooseToken(endpoint('user'), nobody, [mira, lost])).toBe(mira);
  });

  it('takes the connection with the scope when the user is a channel and the bot account', () => {
    const channel = connection('1', { id: 'id-channel', scopes: ['bits:read'] });
    const bot = connection('1', { id: 'id-bot' });

    expect(chooseToken(endpoint('user'), { ...nobody, actors: ['1'] }, [channel, bot])).toBe(bot);
  });

  it('takes the application’s token when the user who acts is connected without the scope', () => {
    const without = connection('1', { scopes: [] });

    expect(
      chooseToken(endpoint('app_with_grant_or_user'), { ...nobody, actors: ['1'] }, [without]),
    ).toBeNull();
  });

  describe('without a token of the application', () => {
    const isPublic = { ...nobody, hasAppToken: false };

    it.each(['app_or_user', 'app_with_grant_or_user'] as const)(
      'takes a connected user for %s: the one who acts, or the only one',
      (auth) => {
        expect(chooseToken(endpoint(auth), { ...isPublic, actors: ['2'] }, [mira, nora])).toBe(nora);
        expect(chooseToken(endpoint(auth), isPublic, [mira])).toBe(mira);
        expect(chooseToken(endpoint(auth), { ...isPublic, actors: ['9'] }, [mira])).toBe(mira);
      },
    );

    it('names the connections when several are possible', () => {
      expect(fault(() => chooseToken(endpoint('app_or_user'), isPublic, [mira, nora]))).toEqual({
        code: 'invalid',
        detail: expect.stringContaining('(user_1: id-1, user_2: id-2)'),
      });
    });

    it('still takes nobody where only the application may call', () => {
      expect(chooseToken(endpoint('app'), isPublic, [mira])).toBeNull();
    });
  });

  it('needs no scope for an endpoint without one', () => {
    expect(chooseToken(endpoint('user', []), nobody, [connection('1', { scopes: [] })])?.id).toBe('id-1');
  });

  it.each([
    ['nobody is connected', 'user', nobody, [], 'invalid', 'no channel is connected'],
    ['several users are connected', 'user', nobody, [mira, nora], 'invalid', 'several channels'],
    ['the user who acts is not connected', 'user', { ...nobody, actors: ['9'] }, [mira], 'invalid', 'user 9'],
    ['the call names several users', 'user', { ...nobody, actors: ['1', '2'] }, [mira], 'invalid', '1, 2'],
    ['the connection is unknown', 'user', { ...nobody, connectionId: 'x' }, [mira], 'invalid', 'not the id'],
    ['the endpoint takes no user', 'app', { ...nobody, connectionId: 'id-1' }, [mira], 'invalid', 'omit'],
    [
      'the connection is lost',
      'user',
      { ...nobody, connectionId: 'id-3' },
      [connection('3', { state: 'reconnect_needed', remedy: 'Connect again.' })],
      'conflict',
      'Connect again.',
    ],
    ['the scope is missing', 'user', nobody, [connection('1', { scopes: ['x'] })], 'forbidden', scope],
  ] as const)('refuses when %s', (_, auth, wish, connections, code, detail) => {
    expect(fault(() => chooseToken(endpoint(auth), wish, [...connections]))).toEqual({
      code,
      detail: expect.stringContaining(detail),
    });
  });
});
