import { type FieldErrors, type MessageClass, readJsonObject, ServiceError } from '@stream-events/contracts';
import { parseBody } from '../http/json-body.decorator.js';
import { ScopeBody, ScopeChangesBody } from './scopes.dto.js';

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

describe(ScopeBody.name, () => {
  it('accepts a name, which it trims, and an optional flag', () => {
    expect({ ...parse(ScopeBody, { scope: ' chat:read ', id: 1 }) }).toEqual({ scope: 'chat:read' });
    expect({ ...parse(ScopeBody, { scope: 'x', required: true }) }).toEqual({ scope: 'x', required: true });
    expect({ ...parse(ScopeChangesBody, { required: false }) }).toEqual({ required: false });
  });

  it('coerces nothing and reports all errors at once', () => {
    const faults = {
      scope: [expect.stringMatching(/^must be text of 1 to 255 characters/)],
      required: ['must be true or false'],
    };
    for (const required of [null, 1, 'true', {}]) {
      expect(errorsOf(ScopeBody, { required })).toEqual(faults);
      for (const scope of [null, 1, '', '  ', 'a'.repeat(256), ['a'], 'a\0'])
        expect(errorsOf(ScopeChangesBody, { scope, required })).toEqual(faults);
    }
  });
});
