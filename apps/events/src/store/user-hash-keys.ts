import { randomBytes } from 'node:crypto';
import type { SealedUserHashKey } from '@stream-events/contracts';
import { takeAdvisoryLock, type EncryptedColumn } from '@stream-events/database';
import { SecretBox, UserHasher } from '@stream-events/service';
import type { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { UserHashKey } from './user-hash-key.entity.js';

const keyLength = 32;

/** Where the keys are stored, for `KeyRotation`. */
export const userHashKeyColumn: EncryptedColumn = {
  table: 'user_hash_keys',
  column: 'key_encrypted',
  boundTo: 'id',
};

/** The keys for hashing the ids of erased users. A change of `SECRET_KEY` changes neither these keys nor the hashes. */
export class UserHashKeys {
  private constructor(
    readonly hasher: UserHasher,
    /** The keys for the gateways, encrypted with the first key of `SECRET_KEY`. */
    readonly sealed: readonly SealedUserHashKey[],
  ) {}

  /**
   * Reads the keys, or creates one if there is none.
   *
   * @throws when `SECRET_KEY` does not decrypt the keys
   */
  static async load(dataSource: DataSource, secretKeys: readonly string[]): Promise<UserHashKeys> {
    const box = new SecretBox(secretKeys);
    const rows = await dataSource.transaction(async (transaction) => {
      // The lock makes instances that start together use the same keys.
      await takeAdvisoryLock(transaction, 'userHashKeys');
      const found = await transaction.find(UserHashKey, { order: { position: 'ASC' } });
      return found.length > 0 ? found : [await create(transaction, box)];
    });
    const keys = rows.map(({ id, keyEncrypted }) => ({ id, key: box.decrypt(keyEncrypted, id) }));
    return new UserHashKeys(
      new UserHasher(keys.map(({ key }) => Buffer.from(key, 'base64'))),
      keys.map(({ id, key }) => ({ id, keyEncrypted: box.encrypt(key, id) })),
    );
  }
}

async function create(transaction: EntityManager, box: SecretBox): Promise<UserHashKey> {
  const id = uuidV7();
  const key = randomBytes(keyLength).toString('base64');
  const row = { id, position: 0, keyEncrypted: box.encrypt(key, id) };
  await transaction.insert(UserHashKey, row);
  return row;
}
