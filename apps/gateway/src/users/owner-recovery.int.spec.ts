import { jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { insertUser } from '../../test/insert-user.js';
import { recoverOwner } from './owner-recovery.js';
import { User } from './user.entity.js';
import { UsersService } from './users.service.js';

const secretKeys = ['a secret key of the tests, long enough'];

describe(recoverOwner.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 2);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('enables a disabled owner only after the new password is stored', async () => {
    const { id, username } = await insertUser(dataSource);
    await dataSource.manager.update(User, { id }, { role: 'owner', isDisabled: true });
    const isDisabled = async (): Promise<boolean> =>
      (await dataSource.manager.findOneByOrFail(User, { id })).isDisabled;
    const setPassword = jest
      .spyOn(UsersService.prototype, 'setPassword')
      .mockRejectedValueOnce(new Error('out of memory'));
    try {
      await expect(recoverOwner(dataSource, secretKeys)).rejects.toThrow('out of memory');
      expect(await isDisabled()).toBe(true);

      expect(await recoverOwner(dataSource, secretKeys)).toMatchObject({ username });
      expect(await isDisabled()).toBe(false);
    } finally {
      setPassword.mockRestore();
    }
  });

  it('creates an owner when nobody is one, even if another user has the name "admin"', async () => {
    await dataSource.manager.update(User, { role: 'owner' }, { role: 'user' });
    const other = await insertUser(dataSource, 'admin');

    const { username, password } = await recoverOwner(dataSource, secretKeys);

    expect(username).toMatch(/^admin-[0-9a-f]{8}$/);
    const owner = await dataSource.manager.findOneByOrFail(User, { username });
    expect(owner).toMatchObject({ role: 'owner', isDisabled: false });
    expect(password.length).toBeGreaterThan(15);
    expect((await dataSource.manager.findOneByOrFail(User, { id: other.id })).role).toBe('user');
  });
});
