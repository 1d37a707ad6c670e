import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { CONFIG } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { NIL, v7 as uuidV7 } from 'uuid';
import type { Caller, Role } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import type { GatewayConfig } from '../gateway.config.js';
import { Tokens, type IssuedToken } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { refuseWeakPassword } from './password-rule.js';
import { knownClient, LoginTurns, newClientAt, type TurnClient } from './login-turns.js';
import { PasswordHasher } from './password.js';
import { RegistrationLimit } from './registration-limit.js';
import { toUsernameKey, User } from './user.entity.js';

/** The credentials of a login attempt, and the client's address. */
export interface Login {
  username: string;
  password: string;
  address: string;
}

export interface NewUser {
  username: string;
  password: string;
  role: Role;
  firstName?: string | undefined;
  lastName?: string | undefined;
  email?: string | undefined;
  /**
   * The address of a client without a token. Undefined if an owner, the gateway at its start, or a command on the server creates the user.
   */
  address?: string | undefined;
}

@Injectable()
export class UsersService {
  private readonly turns = new LoginTurns();
  private readonly registrations: RegistrationLimit;
  private readonly passwords: PasswordHasher;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tokens: Tokens,
    private readonly throttle: LoginThrottle,
    private readonly audit: AuditLog,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'PASSWORD_HASH_COST'>,
  ) {
    this.passwords = new PasswordHasher(config.PASSWORD_HASH_COST);
    this.registrations = new RegistrationLimit(dataSource);
  }

  /**
   * Creates a user with a main token.
   *
   * @throws ServiceError `conflict` when the user name is taken, `invalid` for a weak password, `too_many_requests` after ten registrations
   * without a token from this address; errors of `LoginTurns`
   */
  async register(input: NewUser): Promise<{ user: User; token: string }> {
    refuseWeakPassword('password', input.password, input.username);
    const { address } = input;
    if (address === undefined) return this.create(input, await this.passwords.hash(input.password));
    const client = newClientAt(address);
    await this.turns.run(client, () => this.registrations.take(address));
    try {
      return await this.create(input, await this.passwords.hash(input.password, client));
    } catch (error) {
      await this.registrations.giveBack(address);
      throw error;
    }
  }

  private async create(input: NewUser, passwordHash: string): Promise<{ user: User; token: string }> {
    return this.dataSource.transaction(async (manager) => {
      const user = manager.create(User, {
        id: uuidV7(),
        username: input.username,
        usernameKey: toUsernameKey(input.username),
        passwordHash,
        role: input.role,
        firstName: input.firstName ?? '',
        lastName: input.lastName ?? '',
        email: input.email ?? '',
        isDisabled: false,
        createdAt: new Date(),
      });
      await manager.insert(User, user).catch((error: unknown) => {
        if (sqlState(error) === '23505')
          throw new ServiceError('conflict', `The user name ${input.username} is taken.`);
        throw error;
      });
      return { user, token: await this.tokens.issueMain(user.id, manager) };
    });
  }

  async hasOwner(): Promise<boolean> {
    return this.dataSource.manager.existsBy(User, { role: 'owner' });
  }

  /** Creates the first owner unless an owner exists. If two instances start together, only one of them creates the owner. */
  async ensureOwner(username: string, password: string): Promise<{ user: User; token: string } | undefined> {
    if (await this.hasOwner()) return undefined;
    try {
      return await this.register({ username, password, role: 'owner' });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
      if (await this.hasOwner()) return undefined;
      throw new Error(
        `Cannot create the first owner: a user without the owner role has the name ${username}. Choose another OWNER_USERNAME.`,
        { cause: error },
      );
    }
  }

  /**
   * Logs in and returns the user's main token. Issues a new main token if the old one was revoked.
   *
   * @throws ServiceError `invalid` for a wrong login or a disabled user; `too_many_requests` after several wrong logins; errors of
   * `LoginTurns`
   */
  async revealToken(login: Login): Promise<string> {
    return this.logIn(login, (userId, manager) => this.tokens.revealMain(userId, manager));
  }

  /**
   * Logs in and starts a session.
   *
   * @throws ServiceError `invalid` for a wrong login or a disabled user; `too_many_requests` after several wrong logins; errors of
   * `LoginTurns`
   */
  async startSession(login: Login): Promise<IssuedToken> {
    return this.logIn(login, (userId, manager) => this.tokens.startSession(userId, manager));
  }

  /**
   * Replaces the caller's main token and returns the new one.
   *
   * @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords; errors of `LoginTurns`
   */
  async rotateToken(caller: Caller, current: { password: string; address: string }): Promise<string> {
    const user = await this.confirmPassword(caller, current);
    const token = await this.actAs(user, current.address, (manager) =>
      this.tokens.issueMain(user.id, manager),
    );
    return token ?? refuseCurrentPassword();
  }

  /**
   * Changes the caller's password and returns a new main token. Ends all other sessions, because somebody who knew the old password could
   * have started them or read the old main token.
   *
   * @throws ServiceError `invalid` on `current_password` or `new_password`; `too_many_requests` after several wrong passwords; errors of
   * `LoginTurns`
   */
  async changePassword(
    caller: Caller,
    current: { password: string; address: string },
    newPassword: string,
  ): Promise<string> {
    refuseWeakPassword('new_password', newPassword, caller.username);
    const user = await this.confirmPassword(caller, current);
    const passwordHash = await this.passwords.hash(
      newPassword,
      knownClient(current.address, toUsernameKey(user.username)),
    );
    const token = await this.actAs(user, current.address, (manager) =>
      this.replacePassword(manager, { id: user.id, passwordHash }, caller.token.id),
    );
    return token ?? refuseCurrentPassword();
  }

  /** Sets a password without asking for the old one. Ends all sessions, and returns a new main token. */
  async setPassword(id: string, password: string): Promise<string> {
    const passwordHash = await this.passwords.hash(password);
    return this.dataSource.transaction((manager) => this.replacePassword(manager, { id, passwordHash }, NIL));
  }

  /** Returns null if the user does not exist. `id` must be a UUID. */
  async find(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<User> {
    const user = await this.find(id);
    if (!user) throw new ServiceError('not_found', `There is no user ${id}.`);
    return user;
  }

  /** Oldest user first. */
  async list(): Promise<User[]> {
    return this.dataSource.manager.find(User, { order: { id: 'ASC' } });
  }

  async updateProfile(
    id: string,
    profile: Partial<Pick<User, 'firstName' | 'lastName' | 'email'>>,
  ): Promise<User> {
    if (Object.keys(profile).length > 0) await this.dataSource.manager.update(User, { id }, profile);
    return this.get(id);
  }

  /**
   * Changes a user's role, or disables or enables the user. Disabling revokes all the user's tokens permanently. Returns the user before
   * and after the change.
   *
   * @throws ServiceError `not_found`; `conflict` if no enabled owner would remain
   */
  async update(
    id: string,
    changes: Partial<Pick<User, 'role' | 'isDisabled'>>,
  ): Promise<{ before: User; after: User }> {
    return this.dataSource.transaction(async (manager) => {
      const before = await this.changeOwners(manager, id, async () => {
        if (Object.keys(changes).length > 0) await manager.update(User, { id }, changes);
        if (changes.isDisabled) await this.tokens.revokeAll(id, manager);
      });
      return { before, after: await manager.findOneByOrFail(User, { id }) };
    });
  }

  /**
   * Deletes a user and all the user's tokens. The audit log keeps the user name.
   *
   * @throws ServiceError `not_found`; `conflict` if no enabled owner would remain
   */
  async delete(id: string): Promise<void> {
    await this.dataSource.transaction((manager) =>
      this.changeOwners(manager, id, async () => {
        await this.tokens.revokeAll(id, manager);
        await manager.delete(User, { id });
      }),
    );
  }

  /**
   * Runs `change` on a user, and fails if `change` removes the last enabled owner. Returns the user before the change. Locks the owners
   * first, so that concurrent changes cannot remove the last two owners at once.
   */
  private async changeOwners(manager: EntityManager, id: string, change: () => Promise<void>): Promise<User> {
    const owners = { role: 'owner', isDisabled: false } as const;
    const lock = { mode: 'pessimistic_write' } as const;
    const hadOwner = (await manager.find(User, { where: owners, order: { id: 'ASC' }, lock })).length > 0;
    const user = await manager.findOne(User, { where: { id }, lock });
    if (!user) throw new ServiceError('not_found', `There is no user ${id}.`);
    await change();
    if (hadOwner && !(await manager.existsBy(User, owners)))
      throw new ServiceError('conflict', 'This is the last enabled owner. Make another user an owner first.');
    return user;
  }

  private async replacePassword(
    manager: EntityManager,
    { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
    keptSessionId: string,
  ): Promise<string> {
    await manager.update(User, { id }, { passwordHash });
    await this.tokens.endSessions(id, keptSessionId, manager);
    return this.tokens.issueMain(id, manager);
  }

  private async logIn<T>(
    login: Login,
    issue: (userId: string, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    const user = await this.checkPassword(login);
    const issued = user && (await this.actAs(user, login.address, (manager) => issue(user.id, manager)));
    if (!user || issued === undefined)
      throw new ServiceError('invalid', 'Unable to log in with provided credentials.');
    this.auditLogin('user.logged_in', user, login.address);
    return issued;
  }

  /**
   * Runs `act` for a user whose password was just checked. Returns undefined if the user is disabled, or was deleted or got a new password
   * since that check began. A check takes 0.2 s or more. If this method did not read the user again, a login with the old password could
   * get the new main token. Locks the user, so that a later password change also ends a session that `act` starts.
   */
  private async actAs<T>(
    { id, username, passwordHash }: User,
    address: string,
    act: (manager: EntityManager) => Promise<T>,
  ): Promise<T | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const where = { id, passwordHash, isDisabled: false };
      if (await manager.findOne(User, { where, lock: { mode: 'pessimistic_write' } })) return act(manager);
      this.auditLogin('user.login_failed', { id, username }, address);
      return undefined;
    });
  }

  /** @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords; errors of `LoginTurns` */
  private async confirmPassword(
    { id, username }: Caller,
    { password, address }: { password: string; address: string },
  ): Promise<User> {
    const user = await this.checkPassword({ username, password, address });
    // If the caller was deleted, another user can have registered the same name.
    return user?.id === id ? user : refuseCurrentPassword();
  }

  /**
   * Returns the user if the password is right, even if the user is disabled. Pass the result only to `actAs`, which rejects disabled users.
   */
  private async checkPassword(login: Login): Promise<User | undefined> {
    const attempt = await this.throttle.identify(login.address, login.username);
    const client = attempt.isKnown
      ? knownClient(login.address, toUsernameKey(login.username))
      : newClientAt(login.address);
    await this.turns.run(client, () => this.throttle.begin(attempt));
    let user: User | undefined;
    try {
      user = await this.comparePassword(login, client);
    } catch (error) {
      // The password could not be checked, so do not count the attempt as a failure.
      await this.throttle.cancel(attempt);
      throw error;
    }
    if (user) await this.throttle.succeed(attempt);
    return user;
  }

  private async comparePassword(login: Login, client: TurnClient): Promise<User | undefined> {
    const user = await this.dataSource.manager
      .createQueryBuilder(User, 'user')
      .addSelect('user.passwordHash')
      .where({ usernameKey: toUsernameKey(login.username) })
      .getOne();
    const isRight = await this.passwords.verify(login.password, user?.passwordHash, client);
    if (user && isRight) return user;
    this.auditLogin('user.login_failed', user ?? undefined, login.address);
    return undefined;
  }

  /**
   * Records a successful or failed login in the audit log. Omits unknown user names, because people sometimes type their password into that
   * field.
   */
  private auditLogin(
    action: 'user.logged_in' | 'user.login_failed',
    user: Pick<User, 'id' | 'username'> | undefined,
    address: string,
  ): void {
    const id = user?.id ?? null;
    this.audit.record({ action, by: { id, username: user?.username ?? null, address }, objectId: id });
  }
}

function refuseCurrentPassword(): never {
  throw ServiceError.onField('current_password', 'is not your current password');
}
