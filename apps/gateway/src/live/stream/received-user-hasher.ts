import type { SealedUserHashKey } from '@stream-events/contracts';
import { SecretBox, UserHasher } from '@stream-events/service';

// Maximum number of users in the cache. Caching helps because the same users occur in many events.
const maxRemembered = 10_000;

/** Hashes user ids with the events service's key, to compare them with the hashes of erased users. */
export class ReceivedUserHasher {
  private readonly box: SecretBox;
  private readonly remembered = new Map<string, string>();
  private keyId: string | undefined;
  private hasher: UserHasher | undefined;

  constructor(secretKeys: readonly string[]) {
    this.box = new SecretBox(secretKeys);
  }

  /** @throws when `SECRET_KEY` does not decrypt the key */
  receive({ id, keyEncrypted }: SealedUserHashKey): void {
    if (id === this.keyId) return;
    this.hasher = new UserHasher(Buffer.from(this.box.decrypt(keyEncrypted, id), 'base64'));
    this.keyId = id;
    this.remembered.clear();
  }

  /** Call this only after `receive`. */
  hash(userId: string): string {
    if (!this.hasher) throw new Error('cannot hash a user id: there is no key');
    const hash = this.remembered.get(userId) ?? this.hasher.hash(userId);
    if (this.remembered.size >= maxRemembered) this.remembered.clear();
    this.remembered.set(userId, hash);
    return hash;
  }
}
