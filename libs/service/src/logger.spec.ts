import { toLoggedError } from './logger.js';

describe(toLoggedError.name, () => {
  it('keeps the fields that explain an error, and none that may contain a payload', () => {
    const driverError = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (x)=(hunter2) exists',
    });
    const error = Object.assign(new Error('query failed', { cause: driverError }), {
      name: 'QueryFailedError',
      query: 'INSERT INTO users …',
      parameters: ['hunter2'],
      driverError,
      code: '23505',
      constraint: 'users_username_key_unique',
      table: 'users',
    });

    const logged = toLoggedError(error);

    expect(logged).toMatchObject({
      type: 'QueryFailedError',
      message: 'query failed',
      code: '23505',
      constraint: 'users_username_key_unique',
      table: 'users',
      cause: { message: 'duplicate key', code: '23505' },
    });
    expect(JSON.stringify(logged)).not.toContain('hunter2');
  });

  it('follows a limited number of causes', () => {
    const error = new Error('round and round');
    error.cause = error;

    expect(JSON.stringify(toLoggedError(error)).match(/round and round/g)?.length).toBeGreaterThan(1);
  });

  it.each([['text'], [undefined], [null], [7]])(
    'describes a thrown value that is not an error: %s',
    (thrown) => {
      expect(toLoggedError(thrown)).toMatchObject({ message: String(thrown) });
    },
  );
});
