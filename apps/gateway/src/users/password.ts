import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { LoginTurns, type TurnClient } from './login-turns.js';

const keyLength = 32;
/** The cost of hashes that do not contain one. */
const usualCost = 15;
const thisMachine: TurnClient = { isKnown: true, keys: ['this machine'] };

/** Hashes and verifies passwords with scrypt. Limits concurrent hashes: a flood of logins could exhaust the process. */
export class PasswordHasher {
  private readonly turns = new LoginTurns();

  /**
   * @param cost base-2 logarithm of scrypt's N. With 15, one of the equivalent minimum settings that OWASP recommends, one hash takes a
   * thread, 32 MiB, and about 0.2 s. Each step doubles memory and time
   * @param deriveKey only tests pass another function
   */
  constructor(
    private readonly cost: number,
    private readonly deriveKey: typeof scrypt = scrypt,
  ) {}

  /**
   * Hashes a password as `scrypt$<salt>$<hash>`, with the salt and the hash in base64, or as `scrypt$<cost>$<salt>$<hash>` if the cost is
   * not 15. Without a client, the service itself or an owner sets the password.
   */
  async hash(password: string, client = thisMachine): Promise<string> {
    const salt = randomBytes(16);
    const hash = await this.derive(password, salt, this.cost, client);
    const parts = [
      ...(this.cost === usualCost ? [] : [this.cost]),
      salt.toString('base64'),
      hash.toString('base64'),
    ];
    return `scrypt$${parts.join('$')}`;
  }

  /**
   * Whether a password matches a hash. For an unknown user (no hash), the check takes as long as for a hash of this cost, so that the
   * response time does not reveal which users exist.
   */
  async verify(password: string, stored: string | undefined, client: TurnClient): Promise<boolean> {
    const parts = stored?.split('$') ?? [];
    const [cost, salt, hash] = parts.length === 4 ? parts.slice(1) : [String(usualCost), ...parts.slice(1)];
    const derived = await this.derive(
      password,
      Buffer.from(salt ?? 'AAAAAAAAAAAAAAAAAAAAAA==', 'base64'),
      stored === undefined ? this.cost : Number(cost),
      client,
    );
    if (hash === undefined) return false;
    const expected = Buffer.from(hash, 'base64');
    return expected.length === derived.length && timingSafeEqual(expected, derived);
  }

  /** @throws ServiceError from `LoginTurns` */
  private derive(password: string, salt: Buffer, cost: number, client: TurnClient): Promise<Buffer> {
    // scrypt uses 128 · N · r bytes, and a little more.
    const options = { N: 2 ** cost, r: 8, p: 3, maxmem: 2 ** cost * 128 * 8 * 2 };
    return this.turns.run(
      client,
      () =>
        new Promise((resolve, reject) => {
          this.deriveKey(password, salt, keyLength, options, (error, key) =>
            error ? reject(error) : resolve(key),
          );
        }),
    );
  }
}
