import { createHmac, hkdfSync } from 'node:crypto';
import { toUsernameKey } from './user.entity.js';

/**
 * Hashes user names for the tables of the login throttle. A hash has a fixed length and does not show what people typed, and the key keeps
 * a reader of the database from guessing the names. When the first key of `SECRET_KEY` changes, all hashes change: the counts of failed
 * logins start again, and addresses become known again at the next login.
 */
export class UsernameHasher {
  private readonly key: Uint8Array;

  constructor([secretKey = '']: readonly string[]) {
    this.key = new Uint8Array(hkdfSync('sha256', secretKey, '', 'stream-events user names', 32));
  }

  /** All spellings that log in the same user have the same hash. */
  hash(username: string): Buffer {
    return createHmac('sha256', this.key).update(toUsernameKey(username)).digest();
  }
}
