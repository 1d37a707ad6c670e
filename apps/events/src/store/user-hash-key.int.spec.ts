import { KeyRotation } from '@stream-events/database';
import { createLogger, SecretBox, UserHasher } from '@stream-events/service';
import { EventStore } from '../../test/event-store.js';
import { userHashKeyColumn, UserHashKey } from './user-hash-key.js';

const old = 'the old secret key of the tests, long enough';
const fresh = 'the new secret key of the tests, long enough';

describe(UserHashKey.name, () => {
  let store: EventStore;

  beforeAll(async () => {
    store = await EventStore.create();
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.clear();
    await store.dataSource.query('TRUNCATE user_hash_keys, encryption_keys');
  });

  const load = (...secretKeys: string[]): Promise<UserHashKey> =>
    UserHashKey.load(store.dataSource, secretKeys);
  const hashOf = async (...secretKeys: string[]): Promise<string> =>
    (await load(...secretKeys)).hasher.hash('12826');

  it('creates one random key when several instances start at once', async () => {
    const loaded = await Promise.all(Array.from({ length: 5 }, () => load(old)));

    const hashes = new Set(loaded.map(({ hasher }) => hasher.hash('12826')));
    expect(hashes.size).toBe(1);
    expect(await hashOf(old)).toBe([...hashes][0]);
  });

  it('keeps the key when SECRET_KEY is rotated', async () => {
    const before = await hashOf(old);
    expect(await hashOf(old, fresh)).toBe(before);
    expect(await hashOf(fresh, old)).toBe(before);
    await expect(load(fresh)).rejects.toThrow(/cannot decrypt/);

    const rotation = new KeyRotation({
      ...{ schema: 'events', columns: [userHashKeyColumn], dataSource: store.dataSource },
      ...{ box: new SecretBox([fresh, old]), logger: createLogger('test', 'silent') },
    });
    expect(await rotation.runOnce()).toBe(1);

    expect(await hashOf(fresh)).toBe(before);
  });

  it('starts with another key after the procedure for a lost SECRET_KEY', async () => {
    const before = (await load(old)).sealed.id;
    await expect(load(fresh)).rejects.toThrow(/cannot decrypt/);

    await store.dataSource.query('DELETE FROM events.user_hash_keys');

    expect((await load(fresh)).sealed.id).not.toBe(before);
  });

  it('gives the gateways the same key, encrypted under the first key of SECRET_KEY', async () => {
    await load(old);
    const { sealed, hasher } = await load(fresh, old);

    const key = new SecretBox([fresh]).decrypt(sealed.keyEncrypted, sealed.id);
    expect(new UserHasher(Buffer.from(key, 'base64')).hash('1')).toBe(hasher.hash('1'));
  });
});
