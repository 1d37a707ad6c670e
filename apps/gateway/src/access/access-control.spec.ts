import { Controller, Get, Post, type ExecutionContext } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import fc from 'fast-check';
import type { GatewayConfig } from '../gateway.config.js';
import { RequestLog } from '../http/request-log.js';
import { routeConfigOf } from '../http/route-config.js';
import { AccessControl, readToken } from './access-control.service.js';
import { AccessGuard } from './access.guard.js';
import { AllowAccess, type Access } from './allow-access.decorator.js';
import { setCaller, type Caller } from './caller.js';
import { RateLimits } from './rate-limits.service.js';
import { UserTurns } from './user-turns.service.js';
import type { TokenLookup } from './token-lookup.service.js';

const key = '9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b';

describe(readToken.name, () => {
  it.each([
    `Token ${key}`,
    `token ${key}`,
    `TOKEN ${key}`,
    `tOkEn    ${key}`,
    `Token\t ${key}`,
    `Token ${key}  `,
  ])('reads the key of %j', (header) => {
    expect(readToken(header)).toBe(key);
  });

  it.each([
    undefined,
    '',
    'Token',
    'Token ',
    key,
    `Bearer ${key}`,
    `Basic ${key}`,
    `Token${key}`,
    `Token: ${key}`,
    ` Token ${key}`,
    `Token ${key} ${key}`,
    `Token ${key}, Token ${key}`,
    `Token Token ${key}`,
    `Token ${key}\n`,
  ])('reads no key of %j', (header) => {
    expect(readToken(header)).toBeUndefined();
  });

  it('reads any key without white space', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const given = text.replaceAll(/\s/g, '') || 'x';

        expect(readToken(`Token ${given}`)).toBe(given);
      }),
    );
  });

  it('rejects a long header immediately', () => {
    expect(readToken(`Token ${'a '.repeat(100_000)}`)).toBeUndefined();
    expect(readToken(`Token${' '.repeat(100_000)}`)).toBeUndefined();
  });
});

const all = { id: '9', name: null, stamp: 'stamp', limits: {} };

const callers: Record<string, Caller> = {
  owner: { id: '1', username: 'ada', role: 'owner', token: { ...all, kind: 'main' } },
  session: { id: '1', username: 'ada', role: 'owner', token: { ...all, kind: 'session' } },
  user: { id: '2', username: 'bob', role: 'user', token: { ...all, kind: 'main' } },
  reader: {
    ...{ id: '1', username: 'ada', role: 'owner' },
    token: { ...all, kind: 'named', scopes: ['events:read', 'events:live'] },
  },
  bot: {
    ...{ id: '1', username: 'ada', role: 'owner' },
    token: { ...all, kind: 'named', scopes: ['platform:call'] },
  },
  'members-bot': {
    ...{ id: '2', username: 'bob', role: 'user' },
    token: { ...all, kind: 'named', scopes: ['platform:call'] },
  },
};

/** Returns the authenticated user of a request, or the error code. */
async function attempt(
  access: Access,
  authorization?: string,
  registration: GatewayConfig['REGISTRATION'] = 'owner',
): Promise<string> {
  const tokens: Pick<TokenLookup, 'authenticate'> = {
    authenticate: (name) => {
      const caller = callers[name];
      return caller ? Promise.resolve(caller) : Promise.reject(new ServiceError('unauthenticated', ''));
    },
  };
  const sut = new AccessControl(
    tokens as TokenLookup, // Safe cast: AccessControl calls only `authenticate`.
    new RateLimits({ RATE_LIMIT_REQUESTS: 0, RATE_LIMIT_WRITES: 0 }),
    new UserTurns({ RATE_LIMIT_REQUESTS: 0 }),
    new RequestLog(createLogger('test', 'silent')),
    { REGISTRATION: registration },
  );
  try {
    return (await sut.decide(access, authorization))?.username ?? 'anybody';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

describe(AccessControl.name, () => {
  it.each<[access: Access, authorization: string | undefined, outcome: string]>([
    ['public', undefined, 'anybody'],
    ['public', 'Token nobody', 'anybody'],
    ['token', undefined, 'unauthenticated'],
    ['token', 'Token nobody', 'unauthenticated'],
    ['token', 'Bearer user', 'unauthenticated'],
    ['token', 'Token user', 'bob'],
    ['token', 'Token reader', 'ada'],
    ['account', undefined, 'unauthenticated'],
    ['account', 'Token user', 'bob'],
    ['account', 'Token session', 'ada'],
    ['account', 'Token reader', 'forbidden'],
    ['owner', undefined, 'unauthenticated'],
    ['owner', 'Token user', 'forbidden'],
    ['owner', 'Token owner', 'ada'],
    ['owner', 'Token session', 'ada'],
    ['owner', 'Token reader', 'forbidden'],
    ['registration', undefined, 'unauthenticated'],
    ['registration', 'Token user', 'forbidden'],
    ['registration', 'Token owner', 'ada'],
    ['registration', 'Token reader', 'forbidden'],
    ['caller', undefined, 'unauthenticated'],
    ['caller', 'Token user', 'forbidden'],
    ['caller', 'Token owner', 'ada'],
    ['caller', 'Token session', 'ada'],
    ['caller', 'Token reader', 'forbidden'],
    ['caller', 'Token bot', 'ada'],
    ['caller', 'Token members-bot', 'forbidden'],
    [['events:read'], undefined, 'unauthenticated'],
    [['events:read'], 'Token user', 'bob'],
    [['events:read'], 'Token session', 'ada'],
    [['events:read'], 'Token reader', 'ada'],
    [['events:read', 'events:live'], 'Token reader', 'ada'],
    [['events:write'], 'Token reader', 'forbidden'],
    [['events:read', 'streamers:read'], 'Token reader', 'forbidden'],
  ])('on a route for %p, with %p: %s', async (access, authorization, outcome) => {
    expect(await attempt(access, authorization)).toBe(outcome);
  });

  it('opens registration, and no other route, if registration is open', async () => {
    expect(await attempt('registration', undefined, 'open')).toBe('anybody');
    for (const token of ['user', 'reader', 'nobody'])
      expect(await attempt('registration', `Token ${token}`, 'open')).toBe('anybody');
    expect(await attempt('registration', 'Token owner', 'open')).toBe('ada');
    expect(await attempt('token', undefined, 'open')).toBe('unauthenticated');
    expect(await attempt('owner', 'Token user', 'open')).toBe('forbidden');
  });
});

describe(AllowAccess.name, () => {
  @AllowAccess('owner')
  @Controller()
  class Routes {
    @Get('inherited')
    inherited(): void {
      // The test reads only the decorators.
    }

    @Post('declared')
    @AllowAccess('events:write')
    declared(): void {
      // The test reads only the decorators.
    }

    helper(): void {
      // Not a route, because it has no decorator.
    }
  }

  it('declares the access of a route, or else of its controller', () => {
    const { inherited, declared, helper } = Routes.prototype;
    expect([inherited, declared, helper].map((method) => routeConfigOf(method).access)).toEqual([
      'owner',
      ['events:write'],
      undefined,
    ]);
  });
});

describe(AccessGuard.name, () => {
  const check = (request: object): boolean =>
    new AccessGuard().canActivate({
      switchToHttp: () => ({ getRequest: () => request }),
    } as unknown as ExecutionContext); // Safe cast: the guard reads only the request.

  it('rejects a request whose access nobody decided', () => {
    const request = { routeOptions: { url: '/api/v1/forgotten' } };

    expect(() => check(request)).toThrow('/api/v1/forgotten lacks @AllowAccess');
    setCaller(request, undefined);
    expect(check(request)).toBe(true);
  });
});
