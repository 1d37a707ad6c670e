import { type FieldErrors, type MessageClass, readJsonObject, ServiceError } from '@stream-events/contracts';
import { parseBody } from '../http/json-body.decorator.js';
import { ApiEndpointBody, ApiEndpointChangesBody } from './api-endpoints.dto.js';

const scopeId = '0bd92a09-59b5-536f-880a-7140fc066e18';

const valid = {
  description: 'Start a raid',
  endpoint: 'raids',
  method: 'POST',
  reference_url: 'https://example.org/reference#raids',
  token_type: 'AP',
  scope: scopeId,
};

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

const texts = [
  ['description', 255],
  ['endpoint', 255],
  ['method', 16],
  ['reference_url', 255],
] as const;

describe(ApiEndpointBody.name, () => {
  it('accepts all fields, which it trims, and ignores read-only and unknown ones', () => {
    const padded = Object.fromEntries(Object.entries(valid).map(([field, value]) => [field, ` ${value}\n`]));

    expect({ ...parse(ApiEndpointBody, { ...padded, scope: scopeId, id: 'mine', unknown: 1 }) }).toEqual(
      valid,
    );
  });

  it('requires all fields except the scope, and reports all errors at once', () => {
    const { scope: _, ...needed } = valid;

    expect({ ...parse(ApiEndpointBody, needed) }).toEqual(needed);
    expect({ ...parse(ApiEndpointBody, { ...valid, scope: null }) }).toEqual({ ...valid, scope: null });
    expect(Object.keys(errorsOf(ApiEndpointBody, { scope: 1 }) ?? {}).sort()).toEqual(
      Object.keys(valid).sort(),
    );
  });

  it.each(texts)('accepts a %s of 1 to %d characters', (field, max) => {
    const fault = { [field]: [expect.stringMatching(`^must be text of 1 to ${max} characters`)] };

    for (const value of ['a', '😀'.repeat(max)]) {
      expect(errorsOf(ApiEndpointBody, { ...valid, [field]: value })).toBeUndefined();
      expect(errorsOf(ApiEndpointChangesBody, { [field]: value })).toBeUndefined();
    }
    for (const value of ['', ' ', 'a'.repeat(max + 1), 'a\0', '\ud800', null, 1, true, [], {}, ['a']]) {
      expect(errorsOf(ApiEndpointBody, { ...valid, [field]: value })).toEqual(fault);
      expect(errorsOf(ApiEndpointChangesBody, { [field]: value })).toEqual(fault);
    }
  });

  it.each([null, 1, '', 'oa', 'OAP', 'OA AP', ['OA'], {}])('rejects %j as a token type', (token_type) => {
    const fault = { token_type: ['must be OA or AP'] };

    expect(errorsOf(ApiEndpointBody, { ...valid, token_type })).toEqual(fault);
    expect(errorsOf(ApiEndpointChangesBody, { token_type })).toEqual(fault);
  });

  it.each([1, true, '', 'raids', `${scopeId}x`, [scopeId], { id: scopeId }])(
    'rejects %j as the id of a scope',
    (scope) => {
      const fault = { scope: ['must be the id of a scope, or null'] };

      expect(errorsOf(ApiEndpointBody, { ...valid, scope })).toEqual(fault);
      expect(errorsOf(ApiEndpointChangesBody, { scope })).toEqual(fault);
    },
  );
});

describe(ApiEndpointChangesBody.name, () => {
  it('has only the given fields; null removes the scope', () => {
    expect({ ...parse(ApiEndpointChangesBody, {}) }).toEqual({});
    expect({ ...parse(ApiEndpointChangesBody, { scope: null, method: ' PUT ' }) }).toEqual({
      scope: null,
      method: 'PUT',
    });
  });
});
