import { deriveUserHashKey, UserHasher } from './user-hasher.js';

const first = deriveUserHashKey('the first key, which is long enough');
const second = deriveUserHashKey('the second key, which is long enough');

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

describe(deriveUserHashKey.name, () => {
  it('derives the key of earlier versions, so that their hashes stay valid', () => {
    // This hash was computed by the version that stored the first hashes.
    expect(new UserHasher([deriveUserHashKey('k'.repeat(32))]).hash('12826')).toBe(
      '8f58571b0a722b55510eaffc62d965dd313f93f04b9b39cad4d7c8c7bf913364',
    );
  });
});
