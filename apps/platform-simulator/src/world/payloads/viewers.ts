import { createCheerText, createPlainText, createTextWithEmotes, pickEmote } from './chat-texts.js';
import { identify, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

const tiers = ['1000', '1000', '1000', '2000', '3000'];

/** Follows, subscriptions, gifts, and cheers. */
export const viewerBuilders: PayloadBuilders = {
  'channel.follow': (scene) => ({ ...scene.userFields, followed_at: scene.now.toISOString() }),
  'channel.subscribe': subscribe,
  'channel.subscription.end': subscribe,
  'channel.subscription.gift': ({ random, viewer, broadcasterFields }) => {
    const isAnonymous = random.chance(0.2);
    const total = random.pick([1, 1, 1, 5, 5, 10, 20]);
    return {
      ...identify('user', isAnonymous ? null : viewer),
      ...broadcasterFields,
      total,
      tier: random.pick(tiers),
      cumulative_total: isAnonymous || random.chance(0.3) ? null : total + random.integer(0, 80),
      is_anonymous: isAnonymous,
    };
  },
  'channel.subscription.message': ({ random, viewer, userFields }) => {
    const months = viewer.subscribedMonths + 1;
    return {
      ...userFields,
      tier: random.pick(tiers),
      message: createTextWithEmotes(random),
      cumulative_months: months,
      streak_months: random.chance(0.5) ? random.integer(1, months) : null,
      duration_months: random.pick([1, 1, 1, 3, 6]),
    };
  },
  'channel.cheer': cheer,
  /** Bits can be spent in three ways, each with its own details. */
  'channel.bits.use': (scene) => {
    const { random } = scene;
    const type = random.pick(['cheer', 'power_up', 'custom_power_up']);
    if (type === 'cheer') return cheerInBits(scene);
    return {
      ...scene.userFields,
      bits: random.pick([10, 50, 300]),
      type,
      message: random.chance(0.5) ? createPlainText(random) : null,
      power_up: type === 'power_up' ? describePowerUp(scene) : null,
      custom_power_up: type === 'power_up' ? null : { title: 'Confetti', reward_id: random.uuid() },
    };
  },
};

function subscribe({ random, userFields }: Scene): EventPayload {
  return { ...userFields, tier: random.pick(tiers), is_gift: random.chance(0.3) };
}

function cheer({ random, viewer, broadcasterFields }: Scene): EventPayload {
  const isAnonymous = random.chance(0.25);
  const { text, bits } = createCheerText(random);
  return {
    is_anonymous: isAnonymous,
    ...identify('user', isAnonymous ? null : viewer),
    ...broadcasterFields,
    message: text,
    bits,
  };
}

function cheerInBits(scene: Scene): EventPayload {
  const { bits, text, fragments } = createCheerText(scene.random);
  const plain = fragments.map(({ mention: _mention, ...fragment }) => fragment);
  const message = { text, fragments: plain };
  // A cheer may omit the fields that it does not use, or set them to null.
  return { ...scene.userFields, bits, type: 'cheer', message, power_up: null };
}

function describePowerUp({ random }: Scene): EventPayload {
  const type = random.pick(['message_effect', 'celebration', 'gigantify_an_emote']);
  return {
    type,
    emote: type === 'message_effect' ? null : pickEmote(random),
    message_effect_id: type === 'message_effect' ? random.pick(['simmer', 'rainbow-eclipse']) : null,
  };
}
