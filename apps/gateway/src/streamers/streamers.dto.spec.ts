import { type FieldErrors, type MessageClass, readJsonObject, ServiceError } from '@stream-events/contracts';
import { parseBody } from '../http/json-body.decorator.js';
import { StreamerBody, StreamerChangesBody } from './streamers.dto.js';

function parse<T extends object>(type: MessageClass<T>, body: unknown): T {
  return parseBody(type, readJsonObject(Buffer.from(JSON.stringify(body))));
}

function errorsOf(type: MessageClass<object>, body: unknown): FieldErrors | undefined {
  try {
    parse(type, body);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.errors;
  }
}

const badName = { platform_username: ['must be 1 to 64 letters, digits and underscores'] };

describe(StreamerBody.name, () => {
  it('accepts a name, which it trims, and optional flags; ignores read-only and unknown fields', () => {
    expect({ ...parse(StreamerBody, { platform_username: ' Mira_Plays\n' }) }).toEqual({
      platform_username: 'Mira_Plays',
    });
    const sent = { platform_username: 'a', streaming: true, disabled: false };
    const readOnly = { id: 1, platform_id: 2, created: 3, updated: 4, unknown: 5 };
    expect({ ...parse(StreamerBody, { ...sent, ...readOnly }) }).toEqual(sent);
  });

  it('also accepts the alias of the name, which has lower precedence', () => {
    expect(parse(StreamerBody, { twitch_username: ' a ' }).platform_username).toBe('a');
    expect(parse(StreamerBody, { twitch_username: 'a', platform_username: 'b' }).platform_username).toBe('b');
    expect(errorsOf(StreamerBody, { twitch_username: 'a', platform_username: 1 })).toEqual(badName);
    expect(errorsOf(StreamerBody, { twitch_username: 'a-b' })).toEqual(badName);
  });

  it.each([undefined, null, 1, true, [], ['a'], {}, '', ' ', 'a b', 'ä', 'a-b', 'a\0', 'a'.repeat(65)])(
    'rejects %j as a name',
    (platform_username) => {
      expect(errorsOf(StreamerBody, { platform_username })).toEqual(badName);
    },
  );

  it.each([null, 1, 0, 'true', '', [], {}])(
    'rejects %j as a boolean and reports all errors at once',
    (value) => {
      const fault = ['must be true or false'];

      expect(errorsOf(StreamerBody, { streaming: value, disabled: value })).toEqual({
        ...badName,
        streaming: fault,
        disabled: fault,
      });
      expect(errorsOf(StreamerChangesBody, { streaming: value, disabled: value })).toEqual({
        streaming: fault,
        disabled: fault,
      });
    },
  );
});

describe(StreamerChangesBody.name, () => {
  it('has only the given fields', () => {
    expect({ ...parse(StreamerChangesBody, {}) }).toEqual({});
    expect({ ...parse(StreamerChangesBody, { disabled: true }) }).toEqual({ disabled: true });
    expect({ ...parse(StreamerChangesBody, { twitch_username: ' a ' }) }).toEqual({ platform_username: 'a' });
  });

  it('rejects null as a name', () => {
    expect(errorsOf(StreamerChangesBody, { platform_username: null })).toEqual(badName);
  });
});
