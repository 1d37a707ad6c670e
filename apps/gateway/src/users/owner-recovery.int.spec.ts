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
});
