import { scryptSync, type scrypt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { ServiceError } from '@stream-events/contracts';
import { knownClient, newClientAt, type TurnClient } from './login-turns.js';
import { PasswordHasher } from './password.js';

const client = newClientAt('192.0.2.1');
const password = new PasswordHasher(15);

describe('hash', () => {
  it('creates a hash that only matches the same password', async () => {
    const stored = await password.hash('correct horse battery staple');

    expect(await password.verify('correct horse battery staple', stored, client)).toBe(true);
    expect(await password.verify('correct horse battery staple ', stored, client)).toBe(false);
    expect(await password.verify('Correct horse battery staple', stored, client)).toBe(false);
    expect(await password.verify('', stored, client)).toBe(false);
  });

  it('uses scrypt with N = 2^15 and a new salt each time', async () => {
    const [first, second] = await Promise.all([password.hash('päss👍word'), password.hash('päss👍word')]);
    const [scheme, salt = '', hash = ''] = first.split('$');
    const cost = { N: 32_768, r: 8, p: 3, maxmem: 2 ** 27 };

    expect(scheme).toBe('scrypt');
    expect(Buffer.from(salt, 'base64')).toHaveLength(16);
    expect(scryptSync('päss👍word', Buffer.from(salt, 'base64'), 32, cost).toString('base64')).toBe(hash);
    expect(second).not.toBe(first);
    expect(await password.verify('päss👍word', second, client)).toBe(true);
  });

  it('verifies hashes of another cost', async () => {
    const cheap = new PasswordHasher(10);
    const [usual, other] = await Promise.all([password.hash('correct horse'), cheap.hash('correct horse')]);

    expect(other).toMatch(/^scrypt\$10\$/);
    expect(await cheap.verify('correct horse', usual, client)).toBe(true);
    expect(await password.verify('correct horse', other, client)).toBe(true);
    expect(await password.verify('wrong horse', other, client)).toBe(false);
  });
});

describe('verify', () => {
  it.each([
    ['no hash (no such user)', undefined],
    ['an empty hash', ''],
    ['no second part', 'scrypt'],
    ['no third part', 'scrypt$AAAAAAAAAAAAAAAAAAAAAA=='],
    ['an empty third part', 'scrypt$AAAAAAAAAAAAAAAAAAAAAA==$'],
    ['a shorter hash', 'scrypt$AAAAAAAAAAAAAAAAAAAAAA==$AAAA'],
  ])('returns false for %s', async (_what, stored) => {
    // The mock hashes every password to zeros. The shorter stored hash is a prefix of these zeros and must not match.
    const { password } = withHashing((done) => done());

    expect(await password.verify('AAAAAAAAAAAAAAAA', stored, client)).toBe(false);
  });

  it('also hashes for an unknown user, at the same cost', async () => {
    const { password, calls } = withHashing((done) => done());

    await password.verify('guess', await password.hash('right'), client);
    await password.verify('guess', undefined, client);

    expect(calls).toHaveLength(3);
    expect(calls[2]).toMatchObject({ password: 'guess', length: calls[1]?.length, cost: calls[1]?.cost });
  });

  it('hashes two passwords at a time, queues 64, and rejects more immediately', async () => {
    const running: (() => void)[] = [];
    const { password, calls } = withHashing((done) => running.push(done));
    const outcomes: string[] = [];
    const attempts = Array.from({ length: 70 }, (_, index) =>
      password.verify('guess', undefined, newClientAt(`192.0.2.${index}`)).then(
        () => outcomes.push(`${index} done`),
        (error: unknown) => outcomes.push(`${index} ${(error as ServiceError).code}`),
      ),
    );

    await Promise.all(attempts.slice(66));
    expect(outcomes).toEqual([66, 67, 68, 69].map((index) => `${index} unavailable`));
    for (let done = 0; done < 66; done += 1) {
      expect(calls).toHaveLength(Math.min(done + 2, 66));
      running.shift()?.();
      await attempts[done];
      await Promise.resolve();
    }
    expect(outcomes.slice(4)).toEqual(Array.from({ length: 66 }, (_, index) => `${index} done`));
  });

  it('rejects a password that has waited for 10 s, and continues with the others', async () => {
    jest.useFakeTimers();
    const running: (() => void)[] = [];
    const { password, calls } = withHashing((done) => running.push(done));
    const guess = (index: number) => password.verify('guess', undefined, newClientAt(`192.0.2.${index}`));
    const first = [guess(0), guess(1)];
    const late = guess(2);
    jest.advanceTimersByTime(5_000);
    const last = guess(3);

    jest.advanceTimersByTime(5_000);
    jest.useRealTimers();
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
    for (const attempt of [...first, last]) {
      running.shift()?.();
      expect(await attempt).toBe(false);
    }
    expect(calls).toHaveLength(3);
  });

  it('queues at most four per address, without blocking other addresses', async () => {
    const running: (() => void)[] = [];
    const { password, calls } = withHashing((done) => running.push(done));
    const guess = (from: string) => password.verify('guess', undefined, newClientAt(from));
    const accepted = Array.from({ length: 6 }, () => guess('192.0.2.1'));

    await expect(guess('192.0.2.1')).rejects.toMatchObject({ code: 'too_many_requests' });
    accepted.push(guess('192.0.2.2'));
    for (const attempt of accepted) {
      running.shift()?.();
      expect(await attempt).toBe(false);
    }
    expect(calls).toHaveLength(7);
  });
});

describe('the queue of passwords', () => {
  /** Starts checks, which wait for the test. Returns the order in which they got their turns. */
  function setup() {
    const running: (() => void)[] = [];
    const { password, calls } = withHashing((done) => running.push(done));
    const outcomes: Promise<unknown>[] = [];
    const check = (name: string, from: TurnClient): Promise<unknown> => {
      const outcome = password.verify(name, undefined, from);
      outcomes.push(outcome.catch(() => undefined));
      return outcome;
    };
    const finish = async (): Promise<string[]> => {
      const all = Promise.all(outcomes);
      for (let isDone = false; !isDone;) {
        running.shift()?.();
        isDone = await Promise.race([all.then(() => true), setImmediate(false)]);
      }
      return calls.map(({ password: name }) => name);
    };
    return { check, finish };
  }

  it('serves known clients first, even if 17 other addresses have filled the queue', async () => {
    const { check, finish } = setup();
    for (let index = 0; index < 68; index += 1)
      void check('flood', newClientAt(`198.51.100.${index % 17}`)).catch(() => undefined);
    void check('owner', knownClient('192.0.2.1', 'ada'));

    expect((await finish()).indexOf('owner')).toBe(2);
  });

  it('serves one other client after four known clients', async () => {
    const { check, finish } = setup();
    for (let index = 0; index < 2; index += 1) void check('first', newClientAt('198.51.100.1'));
    void check('other', newClientAt('198.51.100.2'));
    for (let index = 0; index < 6; index += 1)
      void check('known', knownClient(`192.0.2.${index}`, `ada ${index}`));

    expect((await finish()).slice(2)).toEqual([
      'known',
      'known',
      'known',
      'known',
      'other',
      'known',
      'known',
    ]);
  });

  it('queues at most eight per user at all known addresses together, without blocking other users', async () => {
    const { check, finish } = setup();
    for (let index = 0; index < 10; index += 1) void check('bob', knownClient(`192.0.2.${index}`, 'bob'));

    await expect(check('bob', knownClient('192.0.2.99', 'bob'))).rejects.toMatchObject({
      code: 'too_many_requests',
    });
    void check('ada', knownClient('192.0.2.1', 'ada'));
    expect((await finish()).at(-1)).toBe('ada');
  });

  it.each([
    ['/56', 8, (index: number) => `2001:db8:0:12${index + 10}::1`],
    ['/48', 16, (index: number) => `2001:db8:0:${index + 10}00::1`],
  ])('queues at most as many of an IPv6 %s network: %d', async (_size, most, addressIn) => {
    const { check, finish } = setup();
    for (let index = 0; index < most + 2; index += 1) void check('in', newClientAt(addressIn(index)));

    await expect(check('in', newClientAt(addressIn(80)))).rejects.toMatchObject({
      code: 'too_many_requests',
    });
    void check('out', newClientAt('2001:db8:1::1'));
    expect((await finish()).at(-1)).toBe('out');
  });
});

interface Call {
  password: string;
  length: number;
  cost: object;
}

/** Creates a hasher without scrypt: the test completes each call, and the hash is zeros. */
function withHashing(onCall: (done: () => void) => void) {
  const calls: Call[] = [];
  // Safe cast: the hasher calls scrypt with these parameters only.
  const deriveKey = ((secret, _salt, length, cost, done) => {
    calls.push({ password: secret as string, length, cost });
    onCall(() => done(null, Buffer.alloc(length)));
  }) as typeof scrypt;
  return { password: new PasswordHasher(15, deriveKey), calls };
}
