import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { User } from '../src/users/user.entity.js';

/** Adds a user without a token. Skips the password hash, which is slow. */
export async function insertUser(
  dataSource: DataSource,
  name?: string,
): Promise<{ id: string; username: string }> {
  const id = uuidV7();
  const username = name ?? id;
  await dataSource.manager.insert(User, {
    id,
    username,
    usernameKey: username,
    passwordHash: '',
    role: 'user',
    firstName: '',
    lastName: '',
    email: '',
    isDisabled: false,
  });
  return { id, username };
}
