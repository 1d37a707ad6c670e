import { createHmac, hkdfSync } from 'node:crypto';

/**
 * Hashes the ids of erased platform users with `SECRET_KEY`, so that the service recognizes an erased id without storing the id. A
 * plain hash would not do: ids are short numbers, and anybody could hash all of them.
 */
export class UserHasher {
  private readonly keys: Buffer[];

  constructor(secretKeys: readonly string[]) {
    this.keys = secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'stream-events erased users', 32)),
    );
  }

  /** The hash of an id under the first key, to be stored: 64 hexadecimal digits. */
  hash(id: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('cannot hash a user id: SECRET_KEY has no key');
    return hashWith(key, id);
  }

  /** The hashes of an id under every key. A stored hash is one of them as long as its key is in `SECRET_KEY`. */
  hashes(id: string): string[] {
    return this.keys.map((key) => hashWith(key, id));
  }
}

function hashWith(key: Buffer, id: string): string {
  return createHmac('sha256', key).update(id).digest('hex');
}
