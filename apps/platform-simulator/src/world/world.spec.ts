import { simulatedTypes } from './lively-events.js';
import { World, type Audience, type WorldEvent } from './world.js';

const now = new Date('2026-08-02T20:00:00.000Z');

/** An audience for these types on these channels. */
function listenersTo(types: readonly string[], ids: readonly string[]): Audience {
  return {
    has: (type) => types.includes(type),
    channelsFor: (type) => (types.includes(type) ? ids : []),
    wants: (type, id) => types.includes(type) && ids.includes(id),
  };
}

function everything(world: World): Audience {
  const ids = world.channels.map(({ broadcaster }) => broadcaster.id).sort();
  return listenersTo(
    simulatedTypes.map(({ type }) => type),
    ids,
  );
}

function idOf(world: World): string {
  return world.channels[0]!.broadcaster.id;
}

function describeEvent(world: World, type: string): Record<string, unknown> {
  return world.describeEvent({ type, broadcasterId: '1' }, now).event;
}

function play(world: World, count: number, audience = everything(world)): WorldEvent[] {
  return Array.from({ length: count }, () => {
    const happened = world.nextEvent(audience, now);
    if (!happened) throw new Error('nothing happened');
    return happened;
  });
}

describe(World.name, () => {
  describe('nextEvent', () => {
    it('generates the same events when the seed is the same', () => {
      expect(play(new World('seed'), 500)).toEqual(play(new World('seed'), 500));
    });

    it('generates other events when the seed differs', () => {
      expect(play(new World('seed'), 20)).not.toEqual(play(new World('other'), 20));
    });

    it('generates events of every simulated type', () => {
      const types = new Set(play(new World('seed'), 5_000).map(({ type }) => type));
      expect([...types].sort()).toEqual(simulatedTypes.map(({ type }) => type).sort());
    });

    it('ends only streams that started, under the same id', () => {
      const live = new Map<unknown, unknown>();
      let ended = 0;
      for (const { type, event } of play(new World('seed'), 5_000)) {
        const channel = event.broadcaster_user_id;
        if (type === 'stream.online') {
          expect(live.has(channel)).toBe(false);
          live.set(channel, event.id);
        } else if (type === 'stream.offline') {
          expect(event.id).toBe(live.get(channel));
          live.delete(channel);
          ended += 1;
        } else if (type === 'channel.chat.message' && !live.has(channel)) {
          // Throw instead of expect(), which is slow for thousands of messages.
          throw new Error(`chat on channel ${String(channel)}, which is offline`);
        }
      }
      expect(ended).toBeGreaterThan(10);
    });

    it('generates only events that the audience wants', () => {
      const world = new World('seed');
      const audience = listenersTo(['channel.cheer'], ['4711']);
      for (const { type, event } of play(world, 50, audience)) {
        expect([type, event.broadcaster_user_id]).toEqual(['channel.cheer', '4711']);
      }
    });

    it('returns null for an empty audience', () => {
      expect(new World('seed').nextEvent(listenersTo([], []), now)).toBeNull();
    });
  });

  describe('describeEvent', () => {
    it('leaves out the user only in an anonymous cheer', () => {
      const world = new World('seed');
      const cheers = Array.from({ length: 100 }, () => describeEvent(world, 'channel.cheer'));
      expect(new Set(cheers.map((cheer) => cheer.is_anonymous))).toEqual(new Set([true, false]));
      for (const cheer of cheers) {
        expect([cheer.user_id, cheer.user_login, cheer.user_name].every((part) => part === null)).toBe(
          cheer.is_anonymous,
        );
        expect(cheer.message).toContain(`Cheer${String(cheer.bits)} `);
      }
    });

    it('redeems the rewards of the channel', () => {
      const world = new World('seed');
      const type = 'channel.channel_points_custom_reward_redemption.add';
      const rewardIds = Array.from({ length: 50 }, () => {
        const { reward } = describeEvent(world, type) as { reward: { id: string } };
        return reward.id;
      });
      expect(new Set(rewardIds)).toEqual(new Set(world.channel('1').rewards.map(({ id }) => id)));
    });

    it('does not change the world', () => {
      const world = new World('seed');
      const story = play(new World('seed'), 100);
      for (const { type } of simulatedTypes) world.describeEvent({ type, broadcasterId: idOf(world) }, now);
      expect(play(world, 100)).toEqual(story);
    });

    it('throws for an unknown type', () => {
      expect(() => describeEvent(new World('seed'), 'channel.dance')).toThrow('channel.dance');
    });
  });

  describe('channel', () => {
    it('creates the same channel for an unknown id when the seed is the same', () => {
      expect(new World('seed').channel('4711')).toEqual(new World('seed').channel('4711'));
    });
  });
});
