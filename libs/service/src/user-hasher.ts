import { createHmac } from 'node:crypto';

/**
 * Hashes the ids of erased platform users with a key that the events service stores. The service can then recognize an erased id without
 * storing it. An unkeyed hash would not hide the ids: they are short numbers, and anybody could hash all of them.
 */
export class UserHasher {
  constructor(private readonly key: Buffer) {}

  /** Returns 64 hexadecimal digits. */
  hash(id: string): string {
    return createHmac('sha256', this.key).update(id).digest('hex');
  }
}
