import { createHmac } from 'node:crypto';
import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import type { SignedMessage } from '../inbound-platform.js';
import { isSignatureValid, isTimestampFresh, toSigningKeys } from './webhook-signature.js';

const secret = 's3cRe7s3cRe7';
const otherSecret = 'another secret';

// The signatures come from Python's hmac, independently of the code under test.
const message: SignedMessage = {
  messageId: 'befa7b53-d79d-478f-86b9-120f112b044e',
  timestamp: '2026-11-21T07:30:00.123456789Z',
  body: Buffer.from('{"subscription":{"type":"stream.online"},"event":{"n":1.0,"s":"é👍"}}'),
  signature: 'sha256=280515d492d9737eed87d36ad71a26760a83234a1cf3ccfc7914e0e888b8983d',
};
const signatureByOther = 'sha256=7933d0861d7fa945821400ebb65b615ee5238d02f3c76ec394976bccf7fdccf5';

describe(isSignatureValid.name, () => {
  it('accepts the vector of RFC 4231, case 2, split in three', () => {
    const published: SignedMessage = {
      messageId: 'what do ya ',
      timestamp: 'want for ',
      body: Buffer.from('nothing?'),
      signature: 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    };

    expect(isSignatureValid(published, toSigningKeys(['Jefe']))).toBe(true);
  });

  it.each([1, 63, 64, 65, 1_000])('signs like node:crypto with a secret of %d characters', (length) => {
    const longSecret = 'é'.repeat(length);
    const signature = createHmac('sha256', longSecret)
      .update(message.messageId + message.timestamp)
      .update(message.body)
      .digest('hex');

    const signed = { ...message, signature: `sha256=${signature}` };
    expect(isSignatureValid(signed, toSigningKeys([longSecret]))).toBe(true);
    expect(isSignatureValid(signed, toSigningKeys([`${longSecret}.`]))).toBe(false);
  });

  it('signs any text like node:crypto', () => {
    const parts = fc.record({
      messageId: fc.string(),
      timestamp: fc.string({ unit: anyCharacter }),
      body: fc.uint8Array(),
    });
    fc.assert(
      fc.property(parts, (any) => {
        const hmac = createHmac('sha256', secret)
          .update(any.messageId)
          .update(any.timestamp)
          .update(any.body);
        const signed = { ...any, signature: `sha256=${hmac.digest('hex')}` };
        expect(isSignatureValid(signed, toSigningKeys([otherSecret, secret]))).toBe(true);
      }),
    );
  });

  it('accepts a message signed with the secret', () => {
    expect(isSignatureValid(message, toSigningKeys([secret]))).toBe(true);
  });

  it.each([
    ['the first', [secret, otherSecret], message.signature],
    ['the last', ['x', secret, otherSecret], signatureByOther],
    ['one in the middle', ['x', otherSecret, 'y'], signatureByOther],
  ])('accepts a signature by %s of several secrets', (_which, secrets, signature) => {
    expect(isSignatureValid({ ...message, signature }, toSigningKeys(secrets))).toBe(true);
  });

  it('accepts nothing when there is no secret', () => {
    expect(isSignatureValid(message, toSigningKeys([]))).toBe(false);
  });

  it('rejects a signature by another secret', () => {
    expect(isSignatureValid({ ...message, signature: signatureByOther }, toSigningKeys([secret, 'x']))).toBe(
      false,
    );
  });

  it.each([
    ['nothing', ''],
    ['the scheme only', 'sha256='],
    ['no scheme', message.signature.slice(7)],
    ['another scheme', message.signature.replace('sha256', 'sha512')],
    ['upper case', message.signature.toUpperCase()],
    ['one digit too short', message.signature.slice(0, -1)],
    ['one digit too long', `${message.signature}0`],
    ['repeated', message.signature + message.signature],
    ['white space before', ` ${message.signature}`],
    ['characters of two bytes, as many bytes', `${message.signature.slice(0, -2)}é`],
    ['100,000 characters', 'a'.repeat(100_000)],
  ])('rejects a signature that is %s, without throwing', (_what, signature) => {
    expect(isSignatureValid({ ...message, signature }, toSigningKeys([secret, otherSecret]))).toBe(false);
  });

  it('rejects a message with any single byte changed', () => {
    for (const field of ['messageId', 'timestamp', 'signature'] as const) {
      for (let at = 0; at < message[field].length; at += 1) {
        const changed = `${message[field].slice(0, at)}~${message[field].slice(at + 1)}`;
        expect(isSignatureValid({ ...message, [field]: changed }, toSigningKeys([secret]))).toBe(false);
      }
    }
    for (let at = 0; at < message.body.length; at += 1) {
      const body = Uint8Array.from(message.body, (byte, index) => (index === at ? byte ^ 1 : byte));
      expect(isSignatureValid({ ...message, body }, toSigningKeys([secret]))).toBe(false);
    }
  });

  it('verifies the raw bytes, not the JSON in them', () => {
    const body = Buffer.from(JSON.stringify(JSON.parse(message.body.toString())));

    expect(body.toString()).not.toBe(message.body.toString());
    expect(isSignatureValid({ ...message, body }, toSigningKeys([secret]))).toBe(false);
  });

  it('rejects any other message', () => {
    const any = fc.record({
      messageId: fc.string(),
      timestamp: fc.string(),
      body: fc.uint8Array(),
      signature: fc.oneof(fc.constant(message.signature), fc.string({ unit: anyCharacter })),
    });
    fc.assert(
      fc.property(any, (garbage) => !isSignatureValid(garbage, toSigningKeys([secret, otherSecret]))),
    );
  });
});

describe(isTimestampFresh.name, () => {
  const now = Date.parse('2026-11-21T07:30:00Z');

  it.each([
    ['now', '2026-11-21T07:30:00Z', true],
    ['ten minutes ago', '2026-11-21T07:20:00Z', true],
    ['ten minutes and a millisecond ago', '2026-11-21T07:19:59.999Z', false],
    ['in ten minutes', '2026-11-21T07:40:00Z', true],
    ['in ten minutes and a millisecond', '2026-11-21T07:40:00.001Z', false],
    ['yesterday', '2026-11-20T07:30:00Z', false],
    ['in a year', '2027-11-21T07:30:00Z', false],
    ['with nanoseconds', '2026-11-21T07:29:59.123456789Z', true],
    ['with nanoseconds that are too old', '2026-11-21T07:19:59.999999999Z', false],
    ['with one digit of a fraction', '2026-11-21T07:29:59.1Z', true],
    ['with an offset', '2026-11-21T09:30:00+02:00', true],
    ['with an offset that makes it old', '2026-11-21T07:30:00+02:00', false],
  ])('checks a time %s', (_when, timestamp, expected) => {
    expect(isTimestampFresh(timestamp, now)).toBe(expected);
  });

  it.each([
    ['nothing', ''],
    ['a word', 'now'],
    ['a number', String(now)],
    ['no time zone', '2026-11-21T07:30:00'],
    ['no time', '2026-11-21'],
    ['a space for the T', '2026-11-21 07:30:00Z'],
    ['ten digits of a fraction', '2026-11-21T07:30:00.1234567890Z'],
    ['white space around it', ' 2026-11-21T07:30:00Z'],
    ['a line break after it', '2026-11-21T07:30:00Z\n'],
    ['an invalid month', '2026-13-21T07:30:00Z'],
    ['an invalid hour', '2026-11-21T25:30:00Z'],
    ['a date in HTTP format', 'Sat, 21 Nov 2026 07:30:00 GMT'],
  ])('rejects a timestamp that is %s', (_what, timestamp) => {
    expect(isTimestampFresh(timestamp, now)).toBe(false);
  });
});
