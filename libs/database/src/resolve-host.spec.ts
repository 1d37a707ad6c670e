import type { LookupAddress } from 'node:dns';
import { connect, createServer, type AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { lookUpIn, resolveHost } from './resolve-host.js';

const found: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];

describe(resolveHost, () => {
  afterEach(() => jest.restoreAllMocks());

  const setup = (failures: number) => {
    const asked: string[] = [];
    const resolve = (host: string): Promise<LookupAddress[]> => {
      asked.push(host);
      return asked.length > failures
        ? Promise.resolve(found)
        : Promise.reject(new Error('getaddrinfo EAI_AGAIN'));
    };
    return { asked, resolve };
  };

  it('asks again until the name resolves', async () => {
    const { asked, resolve } = setup(2);
    expect(await resolveHost('postgres', { resolve })).toEqual(found);
    expect(asked).toEqual(['postgres', 'postgres', 'postgres']);
  });

  it('gives up without an error', async () => {
    const { asked, resolve } = setup(Number.POSITIVE_INFINITY);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const resolveLate = (host: string): Promise<LookupAddress[]> => {
      now += 60;
      return resolve(host);
    };
    expect(await resolveHost('postgres', { resolve: resolveLate, limitMs: 150 })).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it('gives up a look-up that does not end', async () => {
    const resolve = (): Promise<LookupAddress[]> => new Promise(() => undefined);
    expect(await resolveHost('postgres', { resolve, limitMs: 50 })).toBeUndefined();
  });

  it.each(['127.0.0.1', '::1', '/var/run/postgresql'])('resolves no name for %s', async (host) => {
    const { asked, resolve } = setup(0);
    expect(await resolveHost(host, { resolve })).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe(lookUpIn, () => {
  it.each([true, false])(
    'connects to a name that no DNS knows, with autoSelectFamily: %s',
    async (autoSelectFamily) => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo; // Safe cast: the server listens on TCP.

      const socket = connect({
        host: 'no.such.name.invalid',
        port,
        lookup: lookUpIn(found),
        autoSelectFamily,
      });
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));

      expect(socket.remoteAddress).toBe('127.0.0.1');
      socket.destroy();
      server.close();
    },
  );
});
