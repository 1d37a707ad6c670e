import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@stream-events/contracts';

// OWASP's minimum for scrypt: N = 2^15, block size 8, parallelism 3. A hash takes 32 MiB and about 0.2 s.
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const keyLength = 32;

// Maximum numbers of running and waiting hashes. Each hash needs a thread and 32 MiB, so a flood of logins could otherwise exhaust the
// process.
const maxRunning = 2;
const maxWaiting = 64;
// Prevents one address from filling the queue and locking out other clients.
const maxWaitingPerAddress = 4;

// How long a password waits for its turn. On an idle machine, 64 hashes take 7 s. On a busy machine without this limit, a hash could wait
// longer than its client does.
const maxWaitMs = 10_000;

const waiting: { address: string; start: () => void }[] = [];
let running = 0;

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
async function derive(password: string, salt: Buffer, address = 'this machine'): Promise<Buffer> {
  await takeTurn(address);
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, keyLength, cost, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    // Pass the slot directly to the next waiting password, so that no new caller can take the slot first.
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
  if (waiting.length >= maxWaiting || ownWaiting >= maxWaitingPerAddress) throw tooManyLogins();
  await new Promise<void>((resolve, reject) => {
    const start = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const entry = { address, start };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(tooManyLogins());
    }, maxWaitMs);
    waiting.push(entry);
  });
}

function tooManyLogins(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many logins are in progress. Retry after the time in `Retry-After`.',
  );
}
