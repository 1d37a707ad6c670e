import { Inject, Injectable, NotFoundException } from '@nestjs/common';
import { Grants } from '../grants/grants.js';
import type { User } from '../world/user.js';
import { World } from '../world/world.js';
import { AuthorizationCodes, type Authorization } from './authorization-codes.js';
import { DeviceCodes, type DeviceCode, type DevicePoll } from './device-codes.js';

/** What an application requests on the authorize page. */
export type AuthorizationRequest = Pick<Authorization, 'clientId' | 'scopes' | 'redirectUri'>;

// Limit for the list of suggested logins. Users can enter any other login.
const maxSuggested = 100;

@Injectable()
export class ConsentsService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(AuthorizationCodes) private readonly codes: AuthorizationCodes,
    @Inject(DeviceCodes) private readonly deviceCodes: DeviceCodes,
  ) {}

  /** Records the consent. The application exchanges the returned code for tokens. */
  authorize({ clientId, scopes, redirectUri }: AuthorizationRequest, user: User): string {
    this.grants.grant({ clientId, userId: user.id }, scopes);
    return this.codes.issue({ clientId, userId: user.id, scopes, redirectUri }, Date.now());
  }

  takeCode(code: string): Authorization | undefined {
    return this.codes.take(code, Date.now());
  }

  startDevice(clientId: string, scopes: readonly string[]): DeviceCode {
    return this.deviceCodes.issue(clientId, scopes, Date.now());
  }

  poll(deviceCode: string, clientId: string): DevicePoll {
    return this.deviceCodes.poll(deviceCode, clientId, Date.now());
  }

  listPending(): DeviceCode[] {
    return this.deviceCodes.listPending(Date.now());
  }

  findPending(userCode: string): DeviceCode | undefined {
    return this.deviceCodes.findPending(userCode, Date.now());
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
    const user = this.world.users.findByLogin(login);
    if (!user) throw new NotFoundException(`there is no user ${login}`);
    return user;
  }

  /** Logins that the consent pages suggest, newest first: users are often added just before they consent. */
  suggestLogins(): string[] {
    const { users } = this.world;
    const oldest = Math.max(0, users.size - maxSuggested);
    return users
      .list(maxSuggested, oldest)
      .map(({ login }) => login)
      .reverse();
  }
}
