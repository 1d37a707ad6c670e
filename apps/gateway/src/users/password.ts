import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { LoginTurns, type TurnClient } from './login-turns.js';

// One of the equivalent minimum settings that OWASP recommends for scrypt. One hash takes 32 MiB and about 0.2 s.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyLength = 32;

// Limits concurrent hashes. Each one needs a thread and 32 MiB, so a flood of logins could exhaust the process.
const turns = new LoginTurns();
const thisMachine: TurnClient = { isKnown: true, keys: ['this machine'] };

/**
 * Hashes a password as `scrypt$<salt>$<hash>`, with the salt and the hash in base64. Without a client, the service itself or an owner sets
 * the password.
 */
export async function hashPassword(password: string, client = thisMachine): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, client);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Whether a password matches a hash. For an unknown user (no hash), the check takes just as long, so that the response time does not reveal
 * which users exist.
 */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
  client: TurnClient,
): Promise<boolean> {
  const [, salt, hash] = stored?.split('$') ?? [];
  const derived = await derive(password, Buffer.from(salt ?? 'AAAAAAAAAAAAAAAAAAAAAA==', 'base64'), client);
  if (hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  return expected.length === derived.length && timingSafeEqual(expected, derived);
}

/** @throws ServiceError from `LoginTurns` */
function derive(password: string, salt: Buffer, client: TurnClient): Promise<Buffer> {
  return turns.run(
    client,
    () =>
      new Promise((resolve, reject) => {
        scrypt(password, salt, keyLength, cost, (error, key) => (error ? reject(error) : resolve(key)));
      }),
  );
}
