import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { LoginTurns } from './login-turns.js';

// OWASP's minimum for scrypt: N = 2^15, block size 8, parallelism 3. A hash takes 32 MiB and about 0.2 s.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyLength = 32;

// Each hash needs a thread and 32 MiB, so a flood of logins could otherwise exhaust the process.
const turns = new LoginTurns();

/** Hashes a password as `scrypt$<salt>$<hash>`, both in base64. `address` is the client's address, if there is a client. */
export async function hashPassword(password: string, address?: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, address);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Whether a password matches a hash. Without a hash (unknown user), the check takes just as long, so that its duration does not reveal
 * which users exist.
 */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
  address: string,
): Promise<boolean> {
  const [, salt, hash] = stored?.split('$') ?? [];
  const derived = await derive(password, Buffer.from(salt ?? 'AAAAAAAAAAAAAAAAAAAAAA==', 'base64'), address);
  if (hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  return expected.length === derived.length && timingSafeEqual(expected, derived);
}

/** @throws ServiceError `unavailable` when too many passwords are waiting for their hash, or this password has waited for 10 s */
function derive(password: string, salt: Buffer, address = 'this machine'): Promise<Buffer> {
  return turns.run(
    address,
    () =>
      new Promise((resolve, reject) => {
        scrypt(password, salt, keyLength, cost, (error, key) => (error ? reject(error) : resolve(key)));
      }),
  );
}
