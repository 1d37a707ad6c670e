import fc from 'fast-check';
import { SecretBox } from './secret-box.js';

const oldKey = 'an old secret key of 32 characters';
const newKey = 'the new secret key of 32 characters';

describe(SecretBox.name, () => {
  it('decrypts a text that it encrypted for the same id', () => {
    const sut = new SecretBox([newKey]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, id) => {
        expect(sut.decrypt(sut.encrypt(text, id), id)).toBe(text);
      }),
    );
  });

  it('encrypts the same text differently each time, and never shows it', () => {
    const sut = new SecretBox([newKey]);
    const encrypted = Array.from({ length: 50 }, () => sut.encrypt('the token', 'id'));

    expect(new Set(encrypted).size).toBe(50);
    for (const text of encrypted)
      expect(Buffer.from(text, 'base64').toString('latin1')).not.toContain('token');
  });

  it('decrypts with a key that is not the first', () => {
    const encrypted = new SecretBox([oldKey]).encrypt('the token', 'id');

    expect(new SecretBox([newKey, oldKey]).decrypt(encrypted, 'id')).toBe('the token');
  });

  it('encrypts with the first key', () => {
    const encrypted = new SecretBox([newKey, oldKey]).encrypt('the token', 'id');

    expect(new SecretBox([newKey]).decrypt(encrypted, 'id')).toBe('the token');
    expect(() => new SecretBox([oldKey]).decrypt(encrypted, 'id')).toThrow(/cannot decrypt a stored secret/);
  });

  it('says what to do when the key is missing, without the secret', () => {
    const encrypted = new SecretBox([oldKey]).encrypt('the token', 'id');

    expect(() => new SecretBox([newKey]).decrypt(encrypted, 'id')).toThrow(
      new Error(
        'cannot decrypt a stored secret with any key in SECRET_KEY. Add the key that encrypted the secret at the end of SECRET_KEY',
      ),
    );
  });

  it('does not decrypt for another id', () => {
    const sut = new SecretBox([newKey]);
    const encrypted = sut.encrypt('the token', 'id');

    for (const id of ['', 'ID', 'id ', 'another'])
      expect(() => sut.decrypt(encrypted, id)).toThrow(/cannot decrypt a stored secret/);
  });

  it('does not decrypt a text that was changed in any byte, cut, or extended', () => {
    const sut = new SecretBox([newKey]);
    const bytes = Buffer.from(sut.encrypt('the token', 'id'), 'base64');
    const tampered = [...bytes.keys()].map((at) =>
      Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))),
    );
    const cut = [...bytes.keys()].map((length) => bytes.subarray(0, length));

    for (const broken of [...tampered, ...cut, Buffer.concat([bytes, Buffer.alloc(1)])]) {
      expect(() => sut.decrypt(broken.toString('base64'), 'id')).toThrow(/cannot decrypt a stored secret/);
    }
  });

  it('tells which key encrypted a secret', () => {
    const encrypted = new SecretBox([oldKey]).encrypt('the token', 'id');

    expect(new SecretBox([newKey, oldKey]).open(encrypted, 'id')).toEqual({ text: 'the token', keyIndex: 1 });
    expect(new SecretBox([oldKey, newKey]).open(encrypted, 'id')).toEqual({ text: 'the token', keyIndex: 0 });
    expect(new SecretBox([newKey]).open(encrypted, 'id')).toBeUndefined();
  });

  it('identifies the first key without revealing it', () => {
    const { firstKeyId } = new SecretBox([newKey, oldKey]);

    expect(firstKeyId).toMatch(/^[0-9a-f]{16}$/);
    expect(new SecretBox([newKey]).firstKeyId).toBe(firstKeyId);
    expect(new SecretBox([oldKey, newKey]).firstKeyId).not.toBe(firstKeyId);
  });

  it('refuses to encrypt without a key', () => {
    expect(() => new SecretBox([]).encrypt('the token', 'id')).toThrow(/SECRET_KEY/);
  });
});
