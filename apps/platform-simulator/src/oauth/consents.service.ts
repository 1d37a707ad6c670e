import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../behavior/platform-limits.js';
import type { User } from '../world/user-directory.js';
import { World } from '../world/world.js';
import { Grants } from './grants.js';
import { ExpiringStore } from './tokens.js';

/** What an application requests on the authorize page. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
}

/** A user's consent on the authorize page. */
export interface Authorization extends AuthorizationRequest {
  readonly userId: string;
}

/** A device code that waits for the user's decision, and then for the application to collect the token. */
export interface DeviceCode {
  /** The user compares this code with the one on the device. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Id of the user who allowed the request, or `denied`. Null before the decision. */
  decision: { userId: string } | 'denied' | null;
}

export type DevicePoll = { userId: string; scopes: readonly string[] } | 'pending' | 'invalid';

const maxCodes = 1_000;

// Lifetime of an authorization code. The platform says "a short time"; RFC 6749 recommends at most 10 minutes.
const authorizationSeconds = 10 * 60;

// Eight upper-case letters, as on the platform. Without I and O, which look like the digits 1 and 0.
const userCodeLength = 8;
const userCodeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

// Limit for the list of suggested logins. Users can enter any other login.
const maxSuggested = 100;

/** Consents by authorization code (FACTS.md §4.1) and by device code (§4.7). */
@Injectable()
export class ConsentsService {
  private readonly authorizations = new ExpiringStore<Authorization>(maxCodes);
  private readonly devices = new ExpiringStore<DeviceCode>(maxCodes);

  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  /** Records the consent. The application exchanges the returned code for tokens. */
  authorize({ clientId, scopes, redirectUri }: AuthorizationRequest, user: User): string {
    this.grants.grant({ clientId, userId: user.id }, scopes);
    return this.authorizations.add({ clientId, userId: user.id, scopes, redirectUri }, authorizationSeconds);
  }

  /** Each code is valid once. */
  takeCode(code: string): Authorization | undefined {
    return this.authorizations.take(code);
  }

  startDevice(clientId: string, scopes: readonly string[]): { deviceCode: string; userCode: string } {
    const code: DeviceCode = { userCode: createUserCode(), clientId, scopes, decision: null };
    const deviceCode = this.devices.add(code, this.limits.current.device_code_seconds);
    return { deviceCode, userCode: code.userCode };
  }

  /** After the user has allowed the request, only the first poll gets a result. */
  poll(deviceCode: string, clientId: string): DevicePoll {
    const code = this.devices.find(deviceCode)?.value;
    if (code?.clientId !== clientId || code.decision === 'denied') return 'invalid';
    if (code.decision === null) return 'pending';
    this.devices.delete(deviceCode);
    return { userId: code.decision.userId, scopes: code.scopes };
  }

  /** Device codes without a decision. */
  listPending(): DeviceCode[] {
    return this.devices.list().filter(({ decision }) => decision === null);
  }

  findPending(userCode: string): DeviceCode | undefined {
    const wanted = userCode.trim().toUpperCase().replaceAll('-', '');
    return this.listPending().find((code) => code.userCode === wanted);
  }

  /** Records the user's decision about a device. */
  decide(code: DeviceCode, decision: User | 'denied'): void {
    if (decision === 'denied') {
      code.decision = 'denied';
      return;
    }
    code.decision = { userId: decision.id };
    this.grants.grant({ clientId: code.clientId, userId: decision.id }, code.scopes);
  }

  /** @throws NotFoundException for an unknown login */
  findUser(login: string): User {
    return this.world.users.getByLogin(login);
  }

  /** Logins that the consent pages suggest, newest first: users are often added just before they consent. */
  suggestLogins(): string[] {
    const newest = this.world.users.list().slice(-maxSuggested);
    return newest.map(({ login }) => login).reverse();
  }
}

function createUserCode(): string {
  const letters = Array.from(
    { length: userCodeLength },
    () => userCodeLetters[randomInt(userCodeLetters.length)],
  );
  return letters.join('');
}
