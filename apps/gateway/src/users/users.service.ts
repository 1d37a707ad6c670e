import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { AccessTokens } from './access-tokens.service.js';
import { LoginFailures } from './login-failures.repository.js';
import { hashPassword, verifyPassword } from './password.js';
import { toUsernameKey, User, type Role } from './user.entity.js';

/** The fields of a new user. */
export interface NewUser {
  username: string;
  password: string;
  role: Role;
  firstName?: string | undefined;
  lastName?: string | undefined;
  email?: string | undefined;
}

/** Users: registration, login, passwords. */
@Injectable()
export class UsersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tokens: AccessTokens,
    private readonly failures: LoginFailures,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Creates a user with a first access token.
   *
   * @throws ServiceError `conflict` when the user name is taken, `invalid` when the password equals the user name
   */
  async register(input: NewUser): Promise<{ user: User; token: string }> {
    refuseUsernameAsPassword('password', input.password, input.username);
    const passwordHash = await hashPassword(input.password);
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
      return { user, token: await this.tokens.issue(user.id, manager) };
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
   * Returns the token of a user whose password is right.
   *
   * @throws ServiceError `invalid` for a wrong login, `too_many_requests` after several wrong logins from one address
   */
  async logIn(login: { username: string; password: string; address: string }): Promise<string> {
    const user = await this.checkPassword(login);
    if (!user || user.isDisabled) {
      if (user) this.auditLogin('user.login_failed', user, login.address);
      throw new ServiceError('invalid', 'Unable to log in with provided credentials.');
    }
    const token = await this.tokens.reveal(user.id);
    this.auditLogin('user.logged_in', user, login.address);
    return token;
  }

  /** Changes a password. Ends all other sessions and returns a new token for the caller. */
  async changePassword(
    userId: string,
    change: { current: string; next: string; address: string },
  ): Promise<string> {
    const { username } = await this.get(userId);
    refuseUsernameAsPassword('new_password', change.next, username);
    const user = await this.checkPassword({ username, password: change.current, address: change.address });
    if (!user) throw ServiceError.onField('current_password', 'is not your current password');
    return this.setPassword(userId, change.next);
  }

  /** Sets a password without checking the old one. Ends all sessions and returns a new token. */
  async setPassword(userId: string, password: string): Promise<string> {
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction(async (manager) => {
      await manager.update(User, { id: userId }, { passwordHash });
      return this.tokens.issue(userId, manager);
    });
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<User> {
    const user = await this.dataSource.manager.findOneBy(User, { id });
    if (!user) throw new ServiceError('not_found', `There is no user ${id}.`);
    return user;
  }

  /** All users, oldest first. */
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

  /** Disables or enables a user. Owners cannot disable themselves, so at least one owner stays enabled. */
  async setDisabled(id: string, isDisabled: boolean, callerId: string): Promise<User> {
    if (id === callerId && isDisabled) throw new ServiceError('conflict', 'You cannot disable yourself.');
    await this.get(id);
    await this.dataSource.manager.update(User, { id }, { isDisabled });
    this.tokens.forget();
    return this.get(id);
  }

  private async checkPassword(login: {
    username: string;
    password: string;
    address: string;
  }): Promise<User | undefined> {
    await this.failures.countAttempt(login.address, login.username);
    try {
      return await this.comparePassword(login);
    } catch (error) {
      // The password was not checked, so the attempt does not count as wrong.
      await this.failures.takeBack(login.address, login.username);
      throw error;
    }
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
    if (!(await verifyPassword(login.password, user?.passwordHash, login.address)) || !user) {
      this.auditLogin('user.login_failed', user ?? undefined, login.address);
      return undefined;
    }
    await this.failures.forget(login.address, login.username);
    return user;
  }

  /** Records a login. Never records a name that no user has: people type their password there by mistake. */
  private auditLogin(
    action: 'user.logged_in' | 'user.login_failed',
    user: User | undefined,
    address: string,
  ): void {
    const id = user?.id ?? null;
    this.audit.record({ action, by: { id, username: user?.username ?? null, address }, objectId: id });
  }
}

function refuseUsernameAsPassword(field: string, password: string, username: string): void {
  if (password.toLowerCase() === username.toLowerCase())
    throw ServiceError.onField(field, 'must not be the user name');
}
