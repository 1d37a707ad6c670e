import type { SealedUserHashKey } from '@stream-events/contracts';
import { SecretBox, UserHasher } from '@stream-events/service';

// Maximum number of users in the cache. Caching helps because the same users occur in many events.
const maxRemembered = 10_000;

/** Hashes user ids with the events service's keys, to compare them with the hashes of erased users. */
export class ReceivedUserHasher {
  private readonly box: SecretBox;
  private readonly remembered = new Map<string, readonly string[]>();
  private keyIds = '';
  private hasher = new UserHasher([]);

  constructor(secretKeys: readonly string[]) {
    this.box = new SecretBox(secretKeys);
  }

  /** @throws when `SECRET_KEY` does not decrypt the keys */
  receive(keys: readonly SealedUserHashKey[]): void {
    const keyIds = keys.map(({ id }) => id).join();
    if (keyIds === this.keyIds) return;
    this.hasher = new UserHasher(
      keys.map(({ id, keyEncrypted }) => Buffer.from(this.box.decrypt(keyEncrypted, id), 'base64')),
    );
    this.keyIds = keyIds;
    this.remembered.clear();
  }

  hashes(userId: string): readonly string[] {
    const hashes = this.remembered.get(userId) ?? this.hasher.hashes(userId);
    if (this.remembered.size >= maxRemembered) this.remembered.clear();
    this.remembered.set(userId, hashes);
    return hashes;
  }
}
