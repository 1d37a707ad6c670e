import { randomBytes } from 'node:crypto';
import { createLogger, Registry } from '@stream-events/service';
import type { DataSource } from 'typeorm';
import { TokenLookup } from '../access/token-lookup.service.js';
import { AuditLogRepository } from '../audit-log/audit-log.repository.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { defaultHashCost } from '../gateway.config.js';
import { Tokens } from '../tokens/tokens.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { toUsernameKey, User } from './user.entity.js';
import { UsersService } from './users.service.js';

/** An owner's new credentials. The command prints them once; the database stores the password and the token only hashed or encrypted. */
export interface RecoveredOwner {
  username: string;
  password: string;
  token: string;
}

/**
 * Lets an operator log in again. Enables the oldest owner, sets a random password, issues a new main token, and ends all sessions. If no
 * owner exists, creates the owner `admin`, or `admin-` with eight random hexadecimal digits if the name is taken.
 */
export async function recoverOwner(dataSource: DataSource, secretKeys: string[]): Promise<RecoveredOwner> {
  const config = { SECRET_KEY: secretKeys, PASSWORD_HASH_COST: defaultHashCost };
  const tokens = new Tokens(dataSource, new TokenLookup(dataSource), config);
  const logger = createLogger('owner-reset', 'warn');
  const audit = new AuditLog(new AuditLogRepository(dataSource), logger, new Registry());
  const users = new UsersService(dataSource, tokens, new LoginThrottle(dataSource, config), audit, config);
  const recovered = await setNewPassword(dataSource, users);
  audit.record({
    action: 'user.recovered',
    by: { id: null, username: null, address: null },
    objectId: recovered.userId,
  });
  await audit.onApplicationShutdown();
  return recovered.owner;
}

async function setNewPassword(
  dataSource: DataSource,
  users: UsersService,
): Promise<{ userId: string; owner: RecoveredOwner }> {
  const password = randomBytes(15).toString('base64url');
  const owner = await dataSource.manager.findOne(User, { where: { role: 'owner' }, order: { id: 'ASC' } });
  if (!owner) {
    const isTaken = await dataSource.manager.existsBy(User, { usernameKey: toUsernameKey('admin') });
    const username = isTaken ? `admin-${randomBytes(4).toString('hex')}` : 'admin';
    const { user, token } = await users.register({ username, password, role: 'owner' });
    return { userId: user.id, owner: { username, password, token } };
  }
  const token = await users.setPassword(owner.id, password);
  // Enable the owner last: the old password must never work on the enabled account.
  await dataSource.manager.update(User, { id: owner.id }, { isDisabled: false });
  return { userId: owner.id, owner: { username: owner.username, password, token } };
}
