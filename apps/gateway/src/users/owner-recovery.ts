import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { AccessTokens } from './access-tokens.service.js';
import { LoginFailures } from './login-failures.repository.js';
import { User } from './user.entity.js';
import { UsersService } from './users.service.js';

/** The new credentials of an owner. They are shown once and never stored in plain text. */
export interface RecoveredOwner {
  username: string;
  password: string;
  token: string;
}

/** Gives the oldest owner a new random password and token and enables the user. Creates the owner `admin` if there is none. */
export async function recoverOwner(dataSource: DataSource, secretKeys: string[]): Promise<RecoveredOwner> {
  const tokens = new AccessTokens(dataSource, { SECRET_KEY: secretKeys });
  const users = new UsersService(dataSource, tokens, new LoginFailures(dataSource));
  const password = randomBytes(15).toString('base64url');
  const owner = await dataSource.manager.findOne(User, { where: { role: 'owner' }, order: { id: 'ASC' } });
  if (!owner) {
    const { token } = await users.register({ username: 'admin', password, role: 'owner' });
    return { username: 'admin', password, token };
  }
  await dataSource.manager.update(User, { id: owner.id }, { isDisabled: false });
  return { username: owner.username, password, token: await users.setPassword(owner.id, password) };
}
