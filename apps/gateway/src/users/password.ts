import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@stream-events/contracts';

// OWASP's minimum for scrypt: 2^15 rounds, blocks of 8, 3 in a row; 32 MiB and about 0.2 s for each hash.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyLength = 32;

// Each hash takes a thread and 32 MiB: a flood of logins must not take the process down.
const maxRunning = 2;
const maxWaiting = 64;
// Nor may one address take all the turns, so that nobody else can log in.
const maxWaitingPerAddress = 4;

const waiting: { address: string; start: () => void }[] = [];
let running = 0;

/** Hashes a password: `scrypt$<salt>$<hash>`, both base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** Whether a password is the one that was hashed. Without a hash (no such user) it takes as long and says no. */
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

/** @throws ServiceError `unavailable` when too many passwords are being hashed already */
async function derive(password: string, salt: Buffer, address = ''): Promise<Buffer> {
  await takeTurn(address);
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, keyLength, cost, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    // The turn is handed on, not given back: nobody can slip in between.
    const next = waiting.shift();
    if (next) next.start();
    else running -= 1;
  }
}

async function takeTurn(address: string): Promise<void> {
  if (running < maxRunning) {
    running += 1;
    return;
  }
  const ownWaiting = waiting.filter((entry) => entry.address === address).length;
  if (waiting.length >= maxWaiting || ownWaiting >= maxWaitingPerAddress) {
    throw new ServiceError('unavailable', 'Too many logins at once. Try again soon.');
  }
  await new Promise<void>((resolve) => waiting.push({ address, start: resolve }));
}
