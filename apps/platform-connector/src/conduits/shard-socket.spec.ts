import { PlatformUnavailableError, type OutboundConduits, type ShardOutcome } from '@stream-events/platforms';
import { createLogger } from '@stream-events/service';
import type { DeliveryGaps } from '../sockets/delivery-gaps.service.js';
import type { SocketIngest } from '../sockets/socket-ingest.service.js';
import { ShardSocket } from './shard-socket.js';
import type { ShardsRepository } from './shards.repository.js';

const key = { conduitId: 'conduit', id: 0 };
const session = (id: string) => ({ id, keepAliveMs: 10_000 });
const loss = { since: 1_000, reason: 'connection closed' };

describe(ShardSocket.name, () => {
  /** Creates a socket. If `lostDuring` is given, its session is lost during that step. */
  const setup = (lostDuring?: 'saveSession' | 'assignShard' | 'findClosed' | 'saveEnabled') => {
    const log: string[] = [];
    let isLost = false;
    let outcome: () => Promise<ShardOutcome> = () => Promise.resolve({ kind: 'assigned' });
    const step = async <T>(name: string, result: () => T | Promise<T>): Promise<T> => {
      const reply = await result();
      if (name !== lostDuring || isLost) return reply;
      isLost = true;
      sut.lost(loss);
      return reply;
    };
    const shards = {
      saveSession: () => step('saveSession', () => true),
      findClosed: () => step('findClosed', () => null),
      saveEnabled: (_: unknown, id: string) => {
        log.push(`${id} enabled`);
        return step('saveEnabled', () => true);
      },
      saveConnecting: () => Promise.resolve(void log.push('connecting')),
      saveDisabled: ({ sessionId, status }: { sessionId: string; status: string }) =>
        Promise.resolve(void log.push(`${sessionId} ${status}`)),
    } as unknown as ShardsRepository; // Safe cast: nothing else is used.
    const gaps = {
      begin: (_: unknown, since: number) => void log.push(`gap from ${since}`),
      end: () => void log.push('gap ended'),
    } as unknown as DeliveryGaps; // Safe cast: nothing else is used.
    const platform = {
      assignShard: () => step('assignShard', outcome),
    } as unknown as OutboundConduits; // Safe cast: nothing else is used.
    const sut: ShardSocket = new ShardSocket(key, 'me', {
      url: 'ws://127.0.0.1:9',
      platform,
      shards,
      ingest: {} as SocketIngest, // Safe cast: no message arrives.
      gaps,
      logger: createLogger('test', 'silent'),
      onShardDisabled: () => undefined,
    });
    return { sut, log, reply: (next: typeof outcome) => (outcome = next) };
  };

  it('serves the shard when the session is assigned, and records a gap from its loss to the next session', async () => {
    const { sut, log } = setup();
    await sut.welcomed(session('one'));
    expect(sut.sessionId).toBe('one');

    sut.lost(loss);
    expect(sut.sessionId).toBeNull();
    await sut.welcomed(session('two'));
    expect(log).toEqual([
      'one enabled',
      'gap ended',
      'gap from 1000',
      'connecting',
      'two enabled',
      'gap ended',
    ]);
  });

  it.each([
    ['assignShard', ['connecting', 'gap from 1000']],
    ['findClosed', ['gap from 1000', 'connecting']],
    ['saveEnabled', ['one enabled', 'gap from 1000', 'connecting', 'one connecting']],
  ] as const)('treats a loss during %s as a loss', async (step, expected) => {
    const { sut, log } = setup(step);
    await expect(sut.welcomed(session('one'))).rejects.toThrow('was lost during the assignment');
    expect(sut.sessionId).toBeNull();
    expect(log).toEqual(expected);

    await sut.welcomed(session('two'));
    expect(sut.sessionId).toBe('two');
    expect(log.slice(expected.length)).toEqual(['two enabled', 'gap ended']);
  });

  it('records no gap when the session is lost before it is assigned', async () => {
    const { sut, log } = setup('saveSession');
    await expect(sut.welcomed(session('one'))).rejects.toThrow('was lost during the assignment');
    expect(log).toEqual(['connecting']);
  });

  it('records an ended gap when another session serves the shard before the reply to the first assignment', async () => {
    const { sut, log, reply } = setup();
    let confirm: (outcome: ShardOutcome) => void = () => undefined;
    reply(() => new Promise((resolve) => (confirm = resolve)));
    const first = sut.welcomed(session('one'));
    const isRejected = expect(first).rejects.toThrow('was lost during the assignment');
    await new Promise(setImmediate); // wait until the platform was called
    sut.lost(loss);
    reply(() => Promise.resolve({ kind: 'assigned' }));
    await sut.welcomed(session('two'));
    confirm({ kind: 'assigned' });
    await isRejected;

    expect(sut.sessionId).toBe('two');
    expect(log).toEqual(['connecting', 'two enabled', 'gap ended', 'gap from 1000', 'gap ended']);
  });

  it('does not assign a lost session again', async () => {
    const { sut, log, reply } = setup('assignShard');
    let calls = 0;
    reply(() => {
      calls += 1;
      sut.lost(loss);
      return Promise.reject(new PlatformUnavailableError('away', 1));
    });
    await expect(sut.welcomed(session('one'))).rejects.toThrow('was lost during the assignment');
    expect(calls).toBe(1);
    expect(log).toEqual(['connecting']);
  });
});
