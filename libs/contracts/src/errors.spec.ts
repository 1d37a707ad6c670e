import { errorCatalogue, ServiceError, type ErrorCode } from './errors.js';

function crossTheWire(error: ServiceError): ServiceError {
  return ServiceError.fromMessage(JSON.parse(JSON.stringify(error.toMessage())));
}

describe(ServiceError.name, () => {
  describe('toMessage', () => {
    it.each(Object.keys(errorCatalogue) as ErrorCode[])('carries %s over the wire', (code) => {
      const received = crossTheWire(new ServiceError(code, 'what was tried'));

      expect(received).toBeInstanceOf(ServiceError);
      expect(received).toMatchObject({ code, detail: 'what was tried', message: 'what was tried' });
    });

    it('carries errors by field and the time to wait', () => {
      const received = crossTheWire(
        new ServiceError('invalid', 'Invalid: a.', { errors: { a: ['one', 'two'] }, retryAfterSeconds: 7 }),
      );

      expect(received).toMatchObject({ errors: { a: ['one', 'two'] }, retryAfterSeconds: 7 });
    });

    it('does not send the cause or the methods of a path', () => {
      const message = new ServiceError('internal', 'failed', { cause: new Error('secret'), allow: ['GET'] });

      expect(message.toMessage()).toEqual({ code: 'internal', detail: 'failed' });
    });
  });

  describe('fromMessage', () => {
    it.each([
      ['nothing', undefined],
      ['null', null],
      ['text', 'There is no handler'],
      ['a code only', { code: 'conflict' }],
      ['an unknown code', { code: 'on_fire', detail: 'x' }],
      ['a code that every object has', { code: 'toString', detail: 'x' }],
      ['a detail of the wrong type', { code: 'conflict', detail: 7 }],
      ["Nest's reply to an unexpected error", { status: 'error', message: 'Internal server error' }],
    ])('converts %s to an internal error', (_, message) => {
      const error = ServiceError.fromMessage(message);

      expect(error.code).toBe('internal');
    });
  });

  it('has a default retry time of 1 s for unavailable, and none for other codes', () => {
    expect(new ServiceError('unavailable', 'x').retryAfterSeconds).toBe(1);
    expect(new ServiceError('unavailable', 'x', { retryAfterSeconds: 5 }).retryAfterSeconds).toBe(5);
    expect(new ServiceError('conflict', 'x').retryAfterSeconds).toBeUndefined();
  });

  it('names the field in the detail of an error on one field', () => {
    const error = ServiceError.onField('event_type', 'must be text');

    expect(error).toMatchObject({
      code: 'invalid',
      detail: 'event_type: must be text',
      errors: { event_type: ['must be text'] },
    });
  });
});
