import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** Encrypts small secrets with `SECRET_KEY`. The first key encrypts and every key decrypts, so that keys can be rotated. */
export class SecretBox {
  private readonly keys: Buffer[];

  constructor(secretKeys: readonly string[]) {
    this.keys = secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'stream-events secret box', 32)),
    );
  }

  /** Encrypts a text. Decrypting requires the same `boundTo` (an id), so that a secret cannot be moved to another row. */
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

  /** @throws when no key decrypts the secret: SECRET_KEY was changed and the old key is not in the list */
  decrypt(encrypted: string, boundTo: string): string {
    for (const key of this.keys) {
      const text = tryDecrypt(key, Buffer.from(encrypted, 'base64'), boundTo);
      if (text !== undefined) return text;
    }
    throw new Error(
      'cannot decrypt a stored secret with any key in SECRET_KEY. After changing SECRET_KEY, keep the old key in the list',
    );
  }
}

function tryDecrypt(key: Buffer, bytes: Buffer, boundTo: string): string | undefined {
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), {
      authTagLength: tagLength,
    });
    decipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(-tagLength));
    return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // Encrypted with another key, or damaged: the caller tries the next key and throws when none is left.
    return undefined;
  }
}
