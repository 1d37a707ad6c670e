import { createHmac, hkdfSync } from 'node:crypto';

const keyLength = 32;

/**
 * Hashes the ids of erased platform users with keys that the events service keeps, so that the service recognizes an erased id without
 * storing the id. A plain hash would not do: ids are short numbers, and anybody could hash all of them.
 */
export class UserHasher {
  /** @param keys the first key hashes, every key recognizes */
  constructor(private readonly keys: readonly Buffer[]) {}

  /** The hash of an id under the first key, to be stored: 64 hexadecimal digits. */
  hash(id: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('cannot hash a user id: there is no key');
    return hashWith(key, id);
  }

  /** The hashes of an id under every key. A stored hash is one of them. */
  hashes(id: string): string[] {
    return this.keys.map((key) => hashWith(key, id));
  }
}

/** The key that the first version with erasures hashed with. Kept only for the hashes of that version: see `UserHashKeys`. */
export function deriveUserHashKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'stream-events erased users', keyLength));
}

function hashWith(key: Buffer, id: string): string {
  return createHmac('sha256', key).update(id).digest('hex');
}
