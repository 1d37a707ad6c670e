import { readJsonObject, ServiceError, type MessageClass } from '@stream-events/contracts';
import { nearJson } from '@stream-events/testing';
import { IsBoolean, IsOptional, IsString, Matches } from 'class-validator';
import fc from 'fast-check';
import { ApiEndpointBody, ApiEndpointChangesBody } from '../api-endpoints/api-endpoints.dto.js';
import { ErasureBody } from '../erasures/erasures.dto.js';
import { CreateEventBody } from '../events/events.dto.js';
import { EventTypeStateBody } from '../platform/event-types.dto.js';
import { ReplayBody } from '../replays/replays.dto.js';
import { ScopeBody, ScopeChangesBody } from '../scopes/scopes.dto.js';
import { StreamerBody, StreamerChangesBody } from '../streamers/streamers.dto.js';
import { TokenBody, TokenChangesBody } from '../tokens/tokens.dto.js';
import {
  LoginBody,
  PasswordBody,
  ProfileBody,
  RegistrationBody,
  RotationBody,
  UserStateBody,
} from '../users/users.dto.js';
import { parseBody, Trimmed } from './json-body.decorator.js';
import { IsJsonObject, JsonText } from './json-text.dto.js';

class Parent {
  @Trimmed()
  @IsOptional()
  @Matches(/^\S*$/, { message: 'must be one word' })
  word?: string;
}

class Body extends Parent {
  @IsString()
  text!: string;

  @IsBoolean()
  flag!: boolean;

  @IsJsonObject()
  data!: JsonText;

  method(): string {
    return 'of the class';
  }
}

const valid = { text: 'a', flag: true, data: {} };

const parse = (json: string): Body => parseBody(Body, readJsonObject(Buffer.from(json)));

function errorsOf(read: () => unknown): Record<string, string[]> | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid');
    return error.errors;
  }
}

describe(parseBody.name, () => {
  it('creates an instance of the class with only the fields that the class validates', () => {
    const body = parse('{"text":"a","flag":false,"data":{ "n": 1.0 },"id":"mine","text2":"b"}');

    expect(body).toBeInstanceOf(Body);
    expect({ ...body }).toEqual({ text: 'a', flag: false, data: new JsonText('{ "n": 1.0 }', { n: 1 }) });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'method', 'valueOf'])(
    'ignores a field named %s',
    (name) => {
      const evil = { validate: true, text: 'evil', flag: false, data: {}, isBoolean: true };
      const body = parse(`{"${name}":${JSON.stringify(evil)},${JSON.stringify(valid).slice(1)}`);

      expect(Object.keys(body).sort()).toEqual(['data', 'flag', 'text']);
      expect(body.text).toBe('a');
      expect(body.flag).toBe(true);
      expect(Object.getPrototypeOf(body)).toBe(Body.prototype);
      expect(body.method()).toBe('of the class');
      expect(({} as Record<string, unknown>).validate).toBeUndefined();
    },
  );

  it('reports all errors at once, by field', () => {
    const errors = errorsOf(() => parse('{"text":1,"flag":"true","data":[],"word":"two words"}'));

    expect(errors).toEqual({
      text: ['must be a string'],
      flag: ['must be a boolean value'],
      data: ['must be a JSON object'],
      word: ['must be one word'],
    });
  });

  it.each([
    ['text', '1'],
    ['text', 'null'],
    ['text', '["a"]'],
    ['text', '{"toString":"a"}'],
    ['flag', '"true"'],
    ['flag', '1'],
    ['flag', '0'],
    ['flag', 'null'],
    ['data', '"{}"'],
    ['data', '[]'],
    ['data', 'null'],
    ['word', '1'],
    ['word', '["a"]'],
    ['word', '{}'],
  ])('coerces nothing: rejects %s as %s', (field, value) => {
    const json = `{${JSON.stringify(valid).slice(1, -1)},"${field}":${value}}`;

    expect(Object.keys(errorsOf(() => parse(json)) ?? {})).toEqual([field]);
  });
});

describe('bodies of the API', () => {
  const uuid = '01999999-9999-7999-8999-999999999999';
  const person = { first_name: 'F', last_name: 'U', email: 'f@example.org' };
  const endpoint = { description: 'd', endpoint: '/polls', method: 'GET', reference_url: 'https://a.org/' };

  const bodies: readonly [MessageClass<object>, Record<string, unknown>][] = [
    [CreateEventBody, { event_type: 'raid', event_source: 'PlatformSub', event_data: { viewers: 42 } }],
    [LoginBody, { username: 'nobody', password: 'wrong' }],
    [RegistrationBody, { username: 'ada', password: 'a long password', ...person }],
    [ProfileBody, person],
    [RotationBody, { current_password: 'wrong' }],
    [PasswordBody, { current_password: 'wrong', new_password: 'another password' }],
    [UserStateBody, { role: 'owner', disabled: true }],
    [TokenBody, { name: 'a', scopes: ['events:read'], event_types: ['raid'], channel_ids: ['4711'] }],
    [TokenChangesBody, { name: 'a', scopes: ['events:live'] }],
    [
      ReplayBody,
      { event_type: 'raid', since: '2026-11-21T00:00:00Z', until: '2026-11-22T00:00:00Z', rate: 9 },
    ],
    [StreamerBody, { platform_username: 'mira_plays', streaming: false, disabled: true }],
    [StreamerChangesBody, { disabled: false }],
    [EventTypeStateBody, { active: true }],
    [ScopeBody, { scope: 'channel:read:polls', required: true }],
    [ScopeChangesBody, { required: true }],
    [ApiEndpointBody, { ...endpoint, token_type: 'OA', scope: null }],
    [ApiEndpointChangesBody, { scope: uuid }],
    [ErasureBody, { platform_user_id: '12826', dry_run: true }],
  ];
  const cases = bodies.map(([type, example]) => ({ type, example }));

  it.each(cases)('either reads a $type.name, or throws `invalid` with the fields', ({ type, example }) => {
    const read = (bytes: string | Uint8Array): object => parseBody(type, readJsonObject(Buffer.from(bytes)));

    expect(errorsOf(() => read(JSON.stringify(example)))).toBeUndefined();
    fc.assert(
      fc.property(nearJson(example), (bytes) => {
        let body = {};
        errorsOf(() => (body = read(bytes)));
        for (const value of Object.values(body))
          if (value instanceof JsonText) expect(JSON.parse(value.text)).toEqual(value.value);
        expect(({} as { prototype?: unknown }).prototype).toBeUndefined();
      }),
    );
  });

  it('trims the event type, but not the source or the data', () => {
    const json = '{"event_type":" raid ","event_source":" mine ","event_data":{ "a" : " b " }}';
    const body = parseBody(CreateEventBody, readJsonObject(Buffer.from(json)));

    expect(body).toMatchObject({ event_type: 'raid', event_source: ' mine ' });
    expect(body.event_data.text).toBe('{ "a" : " b " }');
  });

  it('trims the names of a registration, including inherited fields, but not the password', () => {
    const fields = {
      username: ' ada ',
      password: ' ten characters ',
      first_name: ' Ada ',
      last_name: '\tLovelace',
      email: ' ada@example.org ',
    };
    const body = parseBody(RegistrationBody, readJsonObject(Buffer.from(JSON.stringify(fields))));

    expect({ ...body }).toEqual({
      username: 'ada',
      password: ' ten characters ',
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.org',
    });
  });
});
