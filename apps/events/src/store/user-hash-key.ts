import { randomBytes } from 'node:crypto';
import type { SealedUserHashKey } from '@stream-events/contracts';
import { takeAdvisoryLock, type EncryptedColumn } from '@stream-events/database';
import { SecretBox, UserHasher } from '@stream-events/service';
import type { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { UserHashKeyRow } from './user-hash-key-row.entity.js';

const keyLength = 32;

/** Where the key is stored, for `KeyRotation`. */
export const userHashKeyColumn: EncryptedColumn = {
  table: 'user_hash_keys',
  column: 'key_encrypted',
  boundTo: 'id',
};

/** The key for hashing the ids of erased users. A change of `SECRET_KEY` changes neither this key nor the hashes. */
export class UserHashKey {
  private constructor(
    readonly hasher: UserHasher,
    /** The key for the gateways, encrypted with the first key of `SECRET_KEY`. */
    readonly sealed: SealedUserHashKey,
  ) {}

  /**
   * Reads the key, or creates it if there is none.
   *
   * @throws when `SECRET_KEY` does not decrypt the key
   */
  static async load(dataSource: DataSource, secretKeys: readonly string[]): Promise<UserHashKey> {
    const box = new SecretBox(secretKeys);
    const { id, keyEncrypted } = await dataSource.transaction(async (transaction) => {
      // The lock makes instances that start together use the same key.
      await takeAdvisoryLock(transaction, 'userHashKey');
      const [found] = await transaction.find(UserHashKeyRow, { take: 1 });
      return found ?? (await create(transaction, box));
    });
    const key = box.decrypt(keyEncrypted, id);
    return new UserHashKey(new UserHasher(Buffer.from(key, 'base64')), {
      id,
      keyEncrypted: box.encrypt(key, id),
    });
  }
}

async function create(transaction: EntityManager, box: SecretBox): Promise<UserHashKeyRow> {
  const id = uuidV7();
  const key = randomBytes(keyLength).toString('base64');
  const row = { id, keyEncrypted: box.encrypt(key, id) };
  await transaction.insert(UserHashKeyRow, row);
  return row;
}
