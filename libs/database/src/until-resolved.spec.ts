import { untilResolved } from './until-resolved.js';

describe(untilResolved, () => {
  const setup = (failures: number) => {
    const asked: string[] = [];
    const resolve = (host: string): Promise<unknown> => {
      asked.push(host);
      return asked.length > failures ? Promise.resolve() : Promise.reject(new Error('getaddrinfo EAI_AGAIN'));
    };
    return { asked, resolve };
  };

  it('asks again until the name resolves', async () => {
    const { asked, resolve } = setup(2);
    await untilResolved('postgres', { resolve });
    expect(asked).toEqual(['postgres', 'postgres', 'postgres']);
  });

  it('gives up without an error', async () => {
    const { asked, resolve } = setup(Number.POSITIVE_INFINITY);
    await untilResolved('postgres', { resolve, limitMs: 150 });
    expect(asked.length).toBeGreaterThan(1);
  });

  it.each(['127.0.0.1', '::1', '/var/run/postgresql'])('resolves no name for %s', async (host) => {
    const { asked, resolve } = setup(0);
    await untilResolved(host, { resolve });
    expect(asked).toEqual([]);
  });
});
