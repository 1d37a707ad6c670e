import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import { NIL, v7 as uuidV7 } from 'uuid';
import type { Caller, Role } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { addressKey } from '../http/client-address.js';
import { Tokens, type IssuedToken } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { refuseWeakPassword } from './password-rule.js';
import { LoginTurns } from './login-turns.js';
import { hashPassword, verifyPassword } from './password.js';
import { toUsernameKey, User } from './user.entity.js';

/** A user name with a password, and the address of the client. */
export interface Login {
  username: string;
  password: string;
  address: string;
}

/** The fields of a new user. */
export interface NewUser {
  username: string;
  password: string;
  role: Role;
  firstName?: string | undefined;
  lastName?: string | undefined;
  email?: string | undefined;
  /** The address of the client. Undefined for a command on the service's own machine. */
  address?: string | undefined;
}

/** Users: registration, login, passwords. */
@Injectable()
export class UsersService {
  private readonly turns = new LoginTurns();

  constructor(
    private readonly dataSource: DataSource,
    private readonly tokens: Tokens,
    private readonly throttle: LoginThrottle,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Creates a user with a main token.
   *
   * @throws ServiceError `conflict` when the user name is taken, `invalid` for a weak password
   */
  async register(input: NewUser): Promise<{ user: User; token: string }> {
    refuseWeakPassword('password', input.password, input.username);
    const passwordHash = await hashPassword(input.password, input.address && addressKey(input.address));
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

  /** Creates the first owner. Does nothing when an owner exists. If two instances start together, only one of them creates the owner. */
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
   * Returns the main token of the user with this name and password. Issues a new main token if the old one was revoked.
   *
   * @throws ServiceError `invalid` for a wrong login or a disabled user; `too_many_requests` after several wrong logins
   */
  async revealToken(login: Login): Promise<string> {
    return this.logIn(login, (userId, manager) => this.tokens.revealMain(userId, manager));
  }

  /**
   * Starts a session of the user with this name and password.
   *
   * @throws ServiceError `invalid` for a wrong login or a disabled user; `too_many_requests` after several wrong logins
   */
  async startSession(login: Login): Promise<IssuedToken> {
    return this.logIn(login, (userId, manager) => this.tokens.startSession(userId, manager));
  }

  /**
   * Rotates the caller's main token, and returns the new token.
   *
   * @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords
   */
  async rotateToken(caller: Caller, current: { password: string; address: string }): Promise<string> {
    const user = await this.confirmPassword(caller, current);
    const token = await this.actAs(user, current.address, (manager) =>
      this.tokens.issueMain(user.id, manager),
    );
    return token ?? refuseCurrentPassword();
  }

  /**
   * Changes the caller's password and returns a new main token. Ends the other sessions and rotates the main token, because somebody who
   * knew the old password could have started those sessions or obtained the main token.
   *
   * @throws ServiceError `invalid` on `current_password` or `new_password`; `too_many_requests` after several wrong passwords
   */
  async changePassword(
    caller: Caller,
    current: { password: string; address: string },
    newPassword: string,
  ): Promise<string> {
    refuseWeakPassword('new_password', newPassword, caller.username);
    const user = await this.confirmPassword(caller, current);
    const passwordHash = await hashPassword(newPassword, addressKey(current.address));
    const token = await this.actAs(user, current.address, (manager) =>
      this.replacePassword(manager, { id: user.id, passwordHash }, caller.token.id),
    );
    return token ?? refuseCurrentPassword();
  }

  /** Sets a password without checking the old password. Ends all sessions, and returns a new main token. */
  async setPassword(id: string, password: string): Promise<string> {
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction((manager) => this.replacePassword(manager, { id, passwordHash }, NIL));
  }

  /** Finds a user by id, which must be a UUID. Returns null if the user does not exist. */
  async find(id: string): Promise<User | null> {
    return this.dataSource.manager.findOneBy(User, { id });
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<User> {
    const user = await this.find(id);
    if (!user) throw new ServiceError('not_found', `There is no user ${id}.`);
    return user;
  }

  /** Lists all users, oldest first. */
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
   * Changes the role of a user, or disables or enables the user. Disabling revokes all tokens of the user permanently.
   *
   * @throws ServiceError `not_found`; `conflict` when no enabled owner would be left
   */
  async update(id: string, changes: Partial<Pick<User, 'role' | 'isDisabled'>>): Promise<User> {
    return this.dataSource.transaction(async (manager) => {
      await this.changeOwners(manager, id, async () => {
        if (Object.keys(changes).length > 0) await manager.update(User, { id }, changes);
        if (changes.isDisabled) await this.tokens.revokeAll(id, manager);
      });
      return manager.findOneByOrFail(User, { id });
    });
  }

  /**
   * Deletes a user with all tokens of the user. Entries of the audit log keep the user name.
   *
   * @throws ServiceError `not_found`; `conflict` when no enabled owner would be left
   */
  async delete(id: string): Promise<void> {
    await this.dataSource.transaction((manager) =>
      this.changeOwners(manager, id, async () => {
        await this.tokens.revokeAll(id, manager);
        await manager.delete(User, { id });
      }),
    );
  }

  /** Changes a user, and fails if no enabled owner is left. Locks the owners, so that concurrent changes cannot remove the last owners. */
  private async changeOwners(manager: EntityManager, id: string, change: () => Promise<void>): Promise<void> {
    const owners = { role: 'owner', isDisabled: false } as const;
    const lock = { mode: 'pessimistic_write' } as const;
    const hadOwner = (await manager.find(User, { where: owners, order: { id: 'ASC' }, lock })).length > 0;
    const user = await manager.findOne(User, { where: { id }, lock });
    if (!user) throw new ServiceError('not_found', `There is no user ${id}.`);
    await change();
    if (hadOwner && !(await manager.existsBy(User, owners)))
      throw new ServiceError('conflict', 'This is the last enabled owner. Make another user an owner first.');
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
   * Acts for a user whose password was just checked. Returns undefined if the user is disabled, or if the password has changed since then.
   * Checking a password takes 0.2 s or more. Without this second check, a login with the old password would get the new main token when
   * the password changes in the meantime. Locks the user, so that a later change of the password also ends the session that `act` starts.
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

  /** @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords */
  private async confirmPassword(
    { id, username }: Caller,
    { password, address }: { password: string; address: string },
  ): Promise<User> {
    const user = await this.checkPassword({ username, password, address });
    // If the caller was deleted and the name was registered again, the name belongs to another user.
    return user?.id === id ? user : refuseCurrentPassword();
  }

  /** Returns the user with this name and password, even if the user is disabled. Only `actAs` may act on the result. */
  private async checkPassword(login: Login): Promise<User | undefined> {
    const attempt = await this.turns.run(addressKey(login.address), () =>
      this.throttle.begin(login.address, login.username),
    );
    let user: User | undefined;
    try {
      user = await this.comparePassword(login);
    } catch (error) {
      // The password was not checked, so the attempt must not count as a failure.
      await this.throttle.cancel(attempt);
      throw error;
    }
    if (user) await this.throttle.succeed(attempt);
    return user;
  }

  private async comparePassword(login: Login): Promise<User | undefined> {
    const user = await this.dataSource.manager
      .createQueryBuilder(User, 'user')
      .addSelect('user.passwordHash')
      .where({ usernameKey: toUsernameKey(login.username) })
      .getOne();
    const isRight = await verifyPassword(login.password, user?.passwordHash, addressKey(login.address));
    if (user && isRight) return user;
    this.auditLogin('user.login_failed', user ?? undefined, login.address);
    return undefined;
  }

  /** Records a login. Never records an unknown user name, because people type their password into that field by mistake. */
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
