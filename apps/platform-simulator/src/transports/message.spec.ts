import {
  createEnvelope,
  createFaultyMessage,
  faults,
  formatTimestamp,
  headersOf,
  signMessage,
} from './message.js';

const secret = 's3cRe7-0123';
const envelope = createEnvelope({
  type: 'notification',
  subscription: { type: 'channel.follow', version: '2' },
  body: '{"subscription":{},"event":{"user_name":"Zoë"}}',
});

/** Signs with Web Crypto, independently of the code under test. */
async function signIndependently(text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return `sha256=${Buffer.from(await crypto.subtle.sign('HMAC', key, encoder.encode(text))).toString('hex')}`;
}

describe(signMessage.name, () => {
  it('creates the same signature as openssl', () => {
    const id = 'e76c6bd4-55c9-4987-8304-da1588d8988b';
    const timestamp = '2019-11-16T10:11:12.123456789Z';
    expect(signMessage({ ...envelope, id, timestamp, body: '{"a":1}' }, secret).signature).toBe(
      'sha256=dab2d09676ba9c5d6d8ca2f21566644a9c121909126e73d9afa0b73338d1c3a1',
    );
  });

  it('signs the bytes of text that is not ASCII', async () => {
    const { id, timestamp, body, signature } = signMessage(envelope, secret);
    expect(signature).toBe(await signIndependently(id + timestamp + body));
  });
});

describe(headersOf.name, () => {
  it('has all headers that a receiver needs', () => {
    const message = signMessage({ ...envelope, id: 'the-id', timestamp: 'the-time' }, secret);
    expect(headersOf(message, 2)).toEqual({
      'Content-Type': 'application/json',
      'Twitch-Eventsub-Message-Id': 'the-id',
      'Twitch-Eventsub-Message-Retry': '2',
      'Twitch-Eventsub-Message-Type': 'notification',
      'Twitch-Eventsub-Message-Signature': message.signature,
      'Twitch-Eventsub-Message-Timestamp': 'the-time',
      'Twitch-Eventsub-Subscription-Type': 'channel.follow',
      'Twitch-Eventsub-Subscription-Version': '2',
    });
  });
});

describe(formatTimestamp.name, () => {
  it('writes UTC with nine fractional digits', () => {
    const timestamp = formatTimestamp(new Date('2026-08-02T10:11:12.345Z'));
    expect(timestamp).toMatch(/^2026-08-02T10:11:12\.345\d{6}Z$/);
  });
});

describe(createFaultyMessage.name, () => {
  const correct = signMessage(envelope, secret);

  it.each(faults)('differs from the correct message when the fault is %s', (fault) => {
    expect(createFaultyMessage(envelope, secret, fault)).not.toEqual(correct);
  });

  it('signs an old message correctly', async () => {
    const message = createFaultyMessage(envelope, secret, 'old_timestamp');
    const ageMs = Date.now() - Date.parse(message.timestamp);
    expect(ageMs).toBeGreaterThan(600_000);
    expect(message.signature).toBe(await signIndependently(message.id + message.timestamp + message.body));
  });

  it('changes the body into other valid JSON under the old signature', () => {
    const message = createFaultyMessage(envelope, secret, 'changed_body');
    expect(JSON.parse(message.body)).not.toEqual(JSON.parse(correct.body));
    expect(message.signature).toBe(correct.signature);
  });

  it('changes only the type header for a type mismatch', () => {
    const message = createFaultyMessage(envelope, secret, 'type_mismatch');
    expect(message).toEqual({
      ...correct,
      subscription: { type: 'channel.cheer', version: '2' },
    });
  });
});
