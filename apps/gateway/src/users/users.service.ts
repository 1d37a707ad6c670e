import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import { NIL, v7 as uuidV7 } from 'uuid';
import type { Caller, Role } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { addressKey } from '../http/client-address.js';
import { Tokens } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { refuseWeakPassword } from './password-rule.js';
import { hashPassword, verifyPassword } from './password.js';
import { toUsernameKey, User } from './user.entity.js';

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

  /** Creates the first owner. Does nothing when an owner exists, even if two instances start together. */
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
   * Returns the user with this name and password.
   *
   * @throws ServiceError `invalid` for a wrong login or a disabled user; `too_many_requests` after several wrong logins
   */
  async logIn(login: { username: string; password: string; address: string }): Promise<User> {
    const user = await this.checkPassword(login);
    if (!user || user.isDisabled) {
      if (user) this.auditLogin('user.login_failed', user, login.address);
      throw new ServiceError('invalid', 'Unable to log in with provided credentials.');
    }
    this.auditLogin('user.logged_in', user, login.address);
    return user;
  }

  /**
   * Rotates the caller's main token, and returns the new token.
   *
   * @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords
   */
  async rotateToken(caller: Caller, current: { password: string; address: string }): Promise<string> {
    await this.confirmPassword(caller, current);
    return this.tokens.issueMain(caller.id);
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
    await this.confirmPassword(caller, current);
    return this.setPassword(caller.id, newPassword, {
      keptSessionId: caller.token.id,
      address: current.address,
    });
  }

  /** Sets a password without checking the old password. Ends all sessions except `keptSessionId`, and returns a new main token. */
  async setPassword(
    userId: string,
    password: string,
    { keptSessionId = NIL, address }: { keptSessionId?: string; address?: string } = {},
  ): Promise<string> {
    const passwordHash = await hashPassword(password, address && addressKey(address));
    return this.dataSource.transaction(async (manager) => {
      await manager.update(User, { id: userId }, { passwordHash });
      await this.tokens.endSessions(userId, keptSessionId, manager);
      return this.tokens.issueMain(userId, manager);
    });
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

  /** @throws ServiceError `invalid` on `current_password`; `too_many_requests` after several wrong passwords */
  private async confirmPassword(
    { username }: Caller,
    { password, address }: { password: string; address: string },
  ): Promise<void> {
    const user = await this.checkPassword({ username, password, address });
    if (!user) throw ServiceError.onField('current_password', 'is not your current password');
  }

  private async checkPassword(login: {
    username: string;
    password: string;
    address: string;
  }): Promise<User | undefined> {
    const attempt = await this.throttle.begin(login.address, login.username);
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

  private async comparePassword(login: {
    username: string;
    password: string;
    address: string;
  }): Promise<User | undefined> {
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
    user: User | undefined,
    address: string,
  ): void {
    const id = user?.id ?? null;
    this.audit.record({ action, by: { id, username: user?.username ?? null, address }, objectId: id });
  }
}
