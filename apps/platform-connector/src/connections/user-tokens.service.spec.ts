import { jest } from '@jest/globals';
import { createLogger } from '@stream-events/service';
import type { AuthorizationServer } from './authorization-server.js';
import type { Connection } from './connection.entity.js';
import type { ConnectionsRepository } from './connections.repository.js';
import { UserTokens } from './user-tokens.service.js';

const minute = 60_000;

describe(UserTokens.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Fakes a database that holds a refused token and fails every transaction while `isDown`, and a platform that issues new tokens. */
  const setup = () => {
    const database = { token: 'old', isDown: true, transactions: 0 };
    let refreshes = 0;
    const repository = {
      find: () => Promise.resolve({} as Connection),
      tokensOf: () => ({ accessToken: database.token, refreshToken: `refreshes ${database.token}` }),
      saveTokens: (_: string, { accessToken }: { accessToken: string }) => {
        if (database.isDown) return Promise.reject(new Error('database down'));
        database.token = accessToken;
        return Promise.resolve();
      },
      exclusively: <T>(_: string, work: () => Promise<T>) => {
        database.transactions += 1;
        return work();
      },
    } as unknown as ConnectionsRepository; // Safe cast: nothing else is used.
    const server = {
      refresh: () => {
        refreshes += 1;
        const tokens = { accessToken: `new ${refreshes}`, refreshToken: 'any' };
        return Promise.resolve({ kind: 'issued', tokens });
      },
    } as unknown as AuthorizationServer; // Safe cast: nothing else is used.
    const sut = new UserTokens(repository, server, createLogger('test', 'silent'));
    const failFirst = async (): Promise<void> => {
      const failed = expect(sut.refresh('id', 'old')).rejects.toThrow('database down');
      await jest.advanceTimersByTimeAsync(8_000);
      await failed;
    };
    return { sut, database, failFirst, countRefreshes: () => refreshes };
  };

  it('saves new tokens after an outage of the database that is longer than the callers wait', async () => {
    const { sut, database, failFirst, countRefreshes } = setup();
    await failFirst();
    await jest.advanceTimersByTimeAsync(9 * minute);
    // A call during the outage fails at once, without waiting for retries.
    await expect(sut.refresh('id', 'old')).rejects.toThrow('database down');

    database.isDown = false;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(database.token).toBe('new 1');
    expect(await sut.refresh('id', 'old')).toBe('new 1');
    expect(countRefreshes()).toBe(1);
    const { transactions } = database;
    await jest.advanceTimersByTimeAsync(minute);
    expect(database.transactions).toBe(transactions);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gives the new tokens to the first caller after the outage', async () => {
    const { sut, database, failFirst, countRefreshes } = setup();
    await failFirst();
    database.isDown = false;

    expect(await sut.refresh('id', 'old')).toBe('new 1');
    await jest.advanceTimersByTimeAsync(minute);
    expect(countRefreshes()).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('forgets the new tokens after 10 min', async () => {
    const { sut, database, failFirst } = setup();
    await failFirst();
    await jest.advanceTimersByTimeAsync(10 * minute);
    expect(jest.getTimerCount()).toBe(0);

    database.isDown = false;
    expect(await sut.refresh('id', 'old')).toBe('new 2');
  });

  it('tries for another 9 s when it stops', async () => {
    const { sut, database, failFirst } = setup();
    await failFirst();
    const stopped = sut.stop();
    await jest.advanceTimersByTimeAsync(9_000);
    await stopped;
    const { transactions } = database;
    await jest.advanceTimersByTimeAsync(minute);

    expect(database.transactions).toBe(transactions);
    expect(jest.getTimerCount()).toBe(0);
  });
});
