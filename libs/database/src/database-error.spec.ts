import {
  isDroppedTableError,
  isUnavailableError,
  readDespiteDrops,
  sqlState,
  toUnavailable,
} from './database-error.js';

function errorWith(code: string, message = 'failed'): Error {
  return Object.assign(new Error(message), { code });
}

describe(sqlState.name, () => {
  it.each([
    ['of pg', errorWith('23505'), '23505'],
    ['inside of TypeORM', Object.assign(new Error('x'), { driverError: errorWith('40P01') }), '40P01'],
    ['with letters first', errorWith('XX000'), 'XX000'],
    ['none', new Error('x'), undefined],
    ['of Node, with another length', errorWith('ECONNRESET'), undefined],
    ['of Node, with the same length', errorWith('EPIPE'), undefined],
    ['null', null, undefined],
    ['text', '23505', undefined],
  ])('reads the state: %s', (_, error, expected) => {
    expect(sqlState(error)).toBe(expected);
  });
});

describe(isUnavailableError.name, () => {
  it.each(['08006', '53300', '57P01', '57P03', '57014', '25006', '58030'])('is true for %s', (code) => {
    expect(isUnavailableError(errorWith(code))).toBe(true);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'])(
    'is true for a connection that fails by %s',
    (code) => {
      expect(isUnavailableError(errorWith(code, ''))).toBe(true);
    },
  );

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ])('is true for the message of pg: %s', (message) => {
    expect(isUnavailableError(new Error(message))).toBe(true);
  });

  it.each([
    ['a bug in the service', new TypeError("Cannot read properties of undefined (reading 'id')")],
    ['a content error', errorWith('22P02')],
    ['an error of the schema', errorWith('42P01', 'relation "connections" does not exist')],
    ['nothing', undefined],
    ['text', 'Connection terminated'],
  ])('is false for %s', (_, error) => {
    expect(isUnavailableError(error)).toBe(false);
    expect(toUnavailable(error)).toBe(error);
  });
});

describe(isDroppedTableError.name, () => {
  it.each([
    ['an undefined table', errorWith('42P01'), true],
    ['a table dropped during planning', errorWith('XX000', 'could not open relation with OID 16412'), true],
    ['the same, in a catalog function', errorWith('XX000', 'cache lookup failed for relation 16412'), true],
    ['another internal error', errorWith('XX000', 'unexpected chunk number 1'), false],
    ['a content error', errorWith('22P02'), false],
    ['nothing', undefined, false],
  ])('recognizes %s', (_, error, expected) => {
    expect(isDroppedTableError(error)).toBe(expected);
  });
});

describe(readDespiteDrops.name, () => {
  /** Reads from a table that loses a partition during each of the first `drops` reads. */
  function readDuring(drops: number, error: Error) {
    let reads = 0;
    return (): Promise<number> => {
      reads += 1;
      return reads <= drops ? Promise.reject(error) : Promise.resolve(reads);
    };
  }

  it('reads again after a partition was dropped, at most twice', async () => {
    const dropped = errorWith('42P01');

    expect(await readDespiteDrops(readDuring(0, dropped))).toBe(1);
    expect(await readDespiteDrops(readDuring(2, dropped))).toBe(3);
    await expect(readDespiteDrops(readDuring(3, dropped))).rejects.toBe(dropped);
  });

  it('throws any other error at once', async () => {
    const conflict = errorWith('40P01');

    await expect(readDespiteDrops(readDuring(1, conflict))).rejects.toBe(conflict);
  });
});
