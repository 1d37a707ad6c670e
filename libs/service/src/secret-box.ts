import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** Encrypts small secrets under `SECRET_KEY`: the first of its keys encrypts, all decrypt, so that keys can be rotated. */
export class SecretBox {
  private readonly keys: Buffer[];

  constructor(secretKeys: readonly string[]) {
    this.keys = secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'stream-events secret box', 32)),
    );
  }

  /** Encrypts a text; `boundTo` (an id) must be given again to decrypt, so that a secret cannot be moved to another row. */
  encrypt(text: string, boundTo: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('SECRET_KEY has no key');
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(
      Buffer.from(boundTo),
    );
    const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return encrypted.toString('base64');
  }

  /** @throws when none of the keys fits: SECRET_KEY was changed without keeping the old key in the list */
  decrypt(encrypted: string, boundTo: string): string {
    for (const key of this.keys) {
      const text = tryDecrypt(key, Buffer.from(encrypted, 'base64'), boundTo);
      if (text !== undefined) return text;
    }
    throw new Error(
      'none of the keys in SECRET_KEY decrypts this: keep the old key in the list after changing it',
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
    // Another key's work, or not ours at all: the caller tries the next key and says so when none fits.
    return undefined;
  }
}
