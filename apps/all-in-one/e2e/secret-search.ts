/** Where a secret was found. Contains only the secret's name, never its value. */
export interface FoundSecret {
  secret: string;
  form: string;
  where: string;
}

// A secret has three Base64 forms, one per offset in the encoded text. The first and last characters also depend on the surrounding text.
const offsets = [0, 1, 2];

/** Searches texts for secrets in plain text, hexadecimal, Base64, and percent encoding. */
export class SecretSearch {
  private readonly forms: { secret: string; form: string; text: string }[] = [];

  /** A name can have several secrets. */
  add(secret: string, value: string): void {
    // Shorter texts could match by chance.
    if (value.length < 8) throw new Error(`the secret ${secret} is too short to be searched for`);
    for (const [form, text] of formsOf(value)) this.forms.push({ secret, form, text });
  }

  get names(): string[] {
    return [...new Set(this.forms.map(({ secret }) => secret))];
  }

  find(text: string, where: string): FoundSecret[] {
    const lower = text.toLowerCase();
    return this.forms
      .filter(({ form, text: wanted }) => (form === 'hex' ? lower : text).includes(wanted))
      .map(({ secret, form }) => ({ secret, form, where }));
  }
}

function formsOf(value: string): [form: string, text: string][] {
  const bytes = [Buffer.from(value), ...(/^([0-9a-f]{2})+$/.test(value) ? [Buffer.from(value, 'hex')] : [])];
  const quoted = JSON.stringify(value).slice(1, -1);
  return [
    ['plain', value],
    ['JSON', quoted],
    ['percent-encoded', encodeURIComponent(value)],
    ['form', new URLSearchParams({ '': value }).toString().slice(1)],
    ['hex', Buffer.from(value).toString('hex')],
    ...bytes.flatMap((each) => offsets.flatMap((offset) => base64Forms(each, offset))),
  ];
}

function base64Forms(bytes: Buffer, offset: number): [string, string][] {
  const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
  return (['base64', 'base64url'] as const).map((encoding) => [
    encoding,
    shifted
      .toString(encoding)
      .replace(/=+$/, '')
      .slice(offset === 0 ? 0 : offset + 1, -1),
  ]);
}
