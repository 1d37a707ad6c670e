import { createHmac } from 'node:crypto';

/**
 * Hashes the ids of erased platform users with keys that the events service stores. The service can then recognize an erased id without
 * storing it. An unkeyed hash would not hide the ids: they are short numbers, and anybody could hash all of them.
 */
export class UserHasher {
  /** @param keys the first key hashes new ids; every key recognizes ids that were hashed earlier */
  constructor(private readonly keys: readonly Buffer[]) {}

  /** Hashes an id with the first key, for storage. Returns 64 hexadecimal digits. */
  hash(id: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('cannot hash a user id: there is no key');
    return hashWith(key, id);
  }

  /** Hashes an id with every key. If the id is erased, one of these hashes is stored. */
  hashes(id: string): string[] {
    return this.keys.map((key) => hashWith(key, id));
  }
}

function hashWith(key: Buffer, id: string): string {
  return createHmac('sha256', key).update(id).digest('hex');
}
