import { UserHasher } from './user-hasher.js';

const [key, otherKey] = [Buffer.from('the key'), Buffer.from('another key')];

describe(UserHasher.name, () => {
  it('recognizes an id after a restart, and no other id', () => {
    const stored = new UserHasher(key).hash('4711');

    expect(new UserHasher(key).hash('4711')).toBe(stored);
    expect(new UserHasher(key).hash('4712')).not.toBe(stored);
    expect(new UserHasher(otherKey).hash('4711')).not.toBe(stored);
  });
});
