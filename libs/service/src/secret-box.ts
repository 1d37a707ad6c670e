import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/**
 * Encrypts and decrypts small secrets with the keys in `SECRET_KEY`. The first key encrypts and every key decrypts, so that operators can
 * rotate keys.
 */
export class SecretBox {
  /** Identifies the first key without revealing it. */
  readonly firstKeyId: string;
  private readonly keys: Buffer[];

  constructor(secretKeys: readonly string[]) {
    this.keys = secretKeys.map((secret) => derive(secret, 'stream-events secret box', 32));
    this.firstKeyId = derive(secretKeys[0] ?? '', 'stream-events key id', 8).toString('hex');
  }

  get keyCount(): number {
    return this.keys.length;
  }

  /**
   * Encrypts a text. Decryption requires the same `boundTo` (the row's id), so a secret that is copied to another row cannot be decrypted.
   */
  encrypt(text: string, boundTo: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('cannot encrypt: SECRET_KEY has no key');
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(
      Buffer.from(boundTo),
    );
    const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return encrypted.toString('base64');
  }

  /** @throws when no key decrypts the secret, for example because SECRET_KEY was changed and the old key is not in the list */
  decrypt(encrypted: string, boundTo: string): string {
    const found = this.open(encrypted, boundTo);
    if (found) return found.text;
    throw new Error(
      'cannot decrypt a stored secret with any key in SECRET_KEY. Add the key that encrypted the secret at the end of SECRET_KEY',
    );
  }

  /** Decrypts a text, and returns the index of the key that encrypted it (0 is the first key). Returns undefined when no key fits. */
  open(encrypted: string, boundTo: string): { text: string; keyIndex: number } | undefined {
    const bytes = Buffer.from(encrypted, 'base64');
    for (const [keyIndex, key] of this.keys.entries()) {
      const text = tryDecrypt(key, bytes, boundTo);
      if (text !== undefined) return { text, keyIndex };
    }
    return undefined;
  }
}

function derive(secret: string, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, length));
}

function tryDecrypt(key: Buffer, bytes: Buffer, boundTo: string): string | undefined {
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), {
      authTagLength: tagLength,
    });
    decipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(-tagLength));
    return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // Another key encrypted the value, or the value is damaged. The caller tries the next key.
    return undefined;
  }
}
