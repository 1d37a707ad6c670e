import type { Envelope } from '../transports/message.js';
import { Conduit, type Shard } from './conduit.js';

const message = (id: string): Envelope => ({
  id,
  timestamp: '',
  type: 'notification',
  subscription: { type: 'stream.online', version: '1' },
  body: '{}',
});

function createConduit(shardCount: number): { conduit: Conduit; shards: Shard[] } {
  const conduit = new Conduit('an-application', shardCount);
  const shards = Array.from({ length: shardCount }, (_, index) => {
    const shard = { id: String(index), status: 'enabled' } as Shard; // Safe cast: choose() ignores the transport.
    conduit.assign(shard);
    return shard;
  });
  return { conduit, shards };
}

const channels = Array.from({ length: 1_000 }, (_, index) => String(index));

describe(Conduit.name, () => {
  describe('choose', () => {
    it('sends all messages of a channel to one shard, and spreads channels evenly', () => {
      const { conduit, shards } = createConduit(4);
      const counts = new Map(shards.map((shard) => [shard, 0]));
      for (const channel of channels) {
        const chosen = conduit.choose(channel, message('a'))!;
        expect(conduit.choose(channel, message('b'))).toBe(chosen);
        counts.set(chosen, counts.get(chosen)! + 1);
      }
      for (const count of counts.values()) expect(count).toBeGreaterThan(150);
    });

    it('tries one other shard when the first is disabled', () => {
      const { conduit, shards } = createConduit(2);
      shards[0]!.status = 'websocket_disconnected';
      for (const channel of channels) expect(conduit.choose(channel, message(channel))).toBe(shards[1]);
    });

    it('drops the message when the other shard is disabled, too', () => {
      const { conduit, shards } = createConduit(3);
      shards[0]!.status = shards[1]!.status = 'websocket_disconnected';
      const chosen = channels.map((channel) => conduit.choose(channel, message(channel)));
      expect(new Set(chosen)).toEqual(new Set([shards[2], undefined]));
    });

    it('has no other shard when there is only one', () => {
      const { conduit, shards } = createConduit(1);
      expect(conduit.choose('1', message('a'))).toBe(shards[0]);
      shards[0]!.status = 'websocket_disconnected';
      expect(conduit.choose('1', message('a'))).toBeUndefined();
    });
  });

  it('has places for the ids from 0 to the shard count less one', () => {
    const { conduit } = createConduit(2);
    expect(['0', '1', '2', '-1', '00', '1.0', 'a', ''].filter((id) => conduit.hasPlace(id))).toEqual([
      '0',
      '1',
    ]);
  });

  it('loses its highest shards when it shrinks, and gets empty places when it grows', () => {
    const { conduit, shards } = createConduit(3);
    conduit.resize(1);
    conduit.resize(4);
    expect([conduit.list(), conduit.shardCount]).toEqual([[shards[0]], 4]);
  });
});
