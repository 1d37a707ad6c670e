import { Controller, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ServiceError } from '@stream-events/contracts';
import fc from 'fast-check';
import type { GatewayConfig } from '../gateway.config.js';
import { AllowAccess } from '../http/allow-access.decorator.js';
import { AccessGuard, readToken } from './access.guard.js';
import type { AccessTokens, Caller } from './access-tokens.service.js';

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

@Controller()
class Routes {
  byDefault(): string {
    return 'needs a token';
  }

  @AllowAccess('public')
  open(): string {
    return 'needs none';
  }

  @AllowAccess('owner')
  ownersOnly(): string {
    return 'needs an owner’s';
  }

  @AllowAccess('registration')
  registers(): string {
    return 'needs an owner’s or none';
  }
}

@AllowAccess('public')
class OpenRoutes extends Routes {
  override byDefault(): string {
    return 'needs none';
  }
}

interface Attempt {
  route: keyof Routes;
  of?: typeof Routes;
  authorization?: string;
  registration?: GatewayConfig['REGISTRATION'];
}

const callers: Record<string, Caller> = {
  owner: { id: '1', username: 'ada', role: 'owner' },
  user: { id: '2', username: 'bob', role: 'user' },
};

/** The outcome of a request: true if it passes, or the code of the error. */
async function attempt({
  route,
  of = Routes,
  authorization,
  registration = 'owner',
}: Attempt): Promise<string> {
  const tokens = { identify: (token: string) => Promise.resolve(callers[token]) };
  const request = { headers: { authorization } };
  const context = {
    getHandler: () => of.prototype[route],
    getClass: () => of,
    switchToHttp: () => ({ getRequest: () => request }),
  };
  const sut = new AccessGuard(
    new Reflector(),
    // Safe cast: the guard only uses these members.
    tokens as unknown as AccessTokens,
    { REGISTRATION: registration } as GatewayConfig,
  );
  try {
    return (await sut.canActivate(context as unknown as ExecutionContext)) ? 'passes' : 'stops';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

describe(AccessGuard.name, () => {
  it.each<[what: string, route: keyof Routes, authorization: string | undefined, outcome: string]>([
    ['a route without a declaration', 'byDefault', undefined, 'unauthenticated'],
    ['a route without a declaration', 'byDefault', 'Token nobody', 'unauthenticated'],
    ['a route without a declaration', 'byDefault', 'Bearer user', 'unauthenticated'],
    ['a route without a declaration', 'byDefault', 'Token user', 'passes'],
    ['a route without a declaration', 'byDefault', 'Token owner', 'passes'],
    ['a public route', 'open', undefined, 'passes'],
    ['a public route', 'open', 'Token nobody', 'passes'],
    ['an owner’s route', 'ownersOnly', undefined, 'unauthenticated'],
    ['an owner’s route', 'ownersOnly', 'Token nobody', 'unauthenticated'],
    ['an owner’s route', 'ownersOnly', 'Token user', 'forbidden'],
    ['an owner’s route', 'ownersOnly', 'Token owner', 'passes'],
    ['registration', 'registers', undefined, 'unauthenticated'],
    ['registration', 'registers', 'Token user', 'forbidden'],
    ['registration', 'registers', 'Token owner', 'passes'],
  ])('on %s: %p with %p %s', async (_what, route, authorization, outcome) => {
    expect(await attempt({ route, ...(authorization && { authorization }) })).toBe(outcome);
  });

  it('lets everybody register if registration is open', async () => {
    expect(await attempt({ route: 'registers', registration: 'open' })).toBe('passes');
  });

  it('opens no other route if registration is open', async () => {
    expect(await attempt({ route: 'byDefault', registration: 'open' })).toBe('unauthenticated');
    expect(await attempt({ route: 'ownersOnly', registration: 'open', authorization: 'Token user' })).toBe(
      'forbidden',
    );
  });

  it('prefers the access of the route to that of its controller', async () => {
    expect(await attempt({ route: 'byDefault', of: OpenRoutes })).toBe('passes');
    expect(await attempt({ route: 'ownersOnly', of: OpenRoutes })).toBe('unauthenticated');
  });
});
