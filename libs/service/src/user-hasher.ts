import { createHmac, hkdfSync } from 'node:crypto';

const keyLength = 32;

/**
 * Hashes the ids of erased platform users with keys that the events service stores, so that the service recognizes an erased id without
 * storing the id. A hash without a key would not be enough: ids are short numbers, and anybody could hash all of them.
 */
export class UserHasher {
  /** @param keys the first key hashes new ids; every key recognizes hashed ids */
  constructor(private readonly keys: readonly Buffer[]) {}

  /** Returns the hash of an id under the first key, for storage: 64 hexadecimal digits. */
  hash(id: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('cannot hash a user id: there is no key');
    return hashWith(key, id);
  }

  /** Returns the hashes of an id, one for each key. If the id is erased, one of these hashes is stored. */
  hashes(id: string): string[] {
    return this.keys.map((key) => hashWith(key, id));
  }
}

/** Derives the key that the first version with erasures used. Only the hashes of that version need this key: see `UserHashKeys`. */
export function deriveUserHashKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'stream-events erased users', keyLength));
}

function hashWith(key: Buffer, id: string): string {
  return createHmac('sha256', key).update(id).digest('hex');
}
