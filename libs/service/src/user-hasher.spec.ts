import { UserHasher } from './user-hasher.js';

const first = Buffer.from('the first key');
const second = Buffer.from('the second key');

describe(UserHasher.name, () => {
  it('recognizes an id after a restart, and no other id', () => {
    const stored = new UserHasher([first]).hash('4711');

    expect(new UserHasher([first]).hashes('4711')).toContain(stored);
    expect(new UserHasher([first]).hashes('4712')).not.toContain(stored);
  });

  it('recognizes an id that was hashed with any of its keys', () => {
    const stored = new UserHasher([first]).hash('4711');

    expect(new UserHasher([second, first]).hashes('4711')).toContain(stored);
    expect(new UserHasher([second]).hashes('4711')).not.toContain(stored);
  });

  it('hashes with the first key', () => {
    expect(new UserHasher([second, first]).hash('4711')).toBe(new UserHasher([second]).hash('4711'));
  });
});
