import type { Reward } from '../population.js';
import { createPhrase, createPlainText, createTextWithEmotes, pickEmote } from './chat-texts.js';
import { after, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

const automaticRewards = [
  { type: 'single_message_bypass_sub_mode', cost: 500 },
  { type: 'send_highlighted_message', cost: 200 },
  { type: 'random_sub_emote_unlock', cost: 1_000 },
  { type: 'chosen_sub_emote_unlock', cost: 2_000 },
  { type: 'chosen_modified_sub_emote_unlock', cost: 3_000 },
];

/** Rewards for channel points and Bits. */
export const rewardBuilders: PayloadBuilders = {
  'channel.channel_points_custom_reward.add': describeReward,
  'channel.channel_points_custom_reward.update': describeReward,
  'channel.channel_points_custom_reward.remove': describeReward,
  'channel.channel_points_custom_reward_redemption.add': (scene) =>
    redeem(scene, scene.random.chance(0.8) ? 'unfulfilled' : 'fulfilled'),
  'channel.channel_points_custom_reward_redemption.update': (scene) =>
    redeem(scene, scene.random.pick(['fulfilled', 'canceled'])),
  /** Version 1 has the positions of the emotes in the message. It repeats the user's input in its own field. */
  'channel.channel_points_automatic_reward_redemption.add/1': ({ random, now, userFields }) => {
    const { type, cost } = random.pick(automaticRewards);
    const isUnlock = type.endsWith('emote_unlock');
    const message = isUnlock ? null : createTextWithEmotes(random);
    return {
      id: random.uuid(),
      ...userFields,
      reward: { type, cost, unlocked_emote: isUnlock ? pickEmote(random) : null },
      message,
      ...(message !== null && { user_input: message.text }),
      redeemed_at: now.toISOString(),
    };
  },
  'channel.channel_points_automatic_reward_redemption.add/2': ({ random, now, userFields }) => {
    const { type, cost } = random.pick(automaticRewards);
    const isUnlock = type.endsWith('emote_unlock');
    return {
      id: random.uuid(),
      ...userFields,
      reward: { type, channel_points: cost, emote: isUnlock ? pickEmote(random) : null },
      message: isUnlock ? null : createPlainText(random),
      redeemed_at: now.toISOString(),
    };
  },
  'channel.custom_power_up_redemption.add': ({ random, now, condition, userFields }) => ({
    id: random.uuid(),
    ...userFields,
    user_input: '',
    status: random.pick(['unfulfilled', 'fulfilled']),
    custom_power_up: { id: condition.reward_id ?? random.uuid(), title: 'Confetti', bits: 50, prompt: '' },
    redeemed_at: now.toISOString(),
  }),
};

/** Returns the reward in the condition, or a random one of the channel. */
function pickReward({ random, channel, condition }: Scene): Reward {
  const wanted = condition.reward_id;
  const reward = channel.rewards.find(({ id }) => id === wanted) ?? random.pick(channel.rewards);
  return { ...reward, id: wanted ?? reward.id };
}

function describeReward(scene: Scene): EventPayload {
  const { random, now } = scene;
  const { id, title, cost, prompt, needsInput } = pickReward(scene);
  const isCooling = random.chance(0.2);
  const [hasLimit, hasUserLimit] = [random.chance(0.3), random.chance(0.3)];
  return {
    id,
    ...scene.broadcasterFields,
    is_enabled: true,
    is_paused: random.chance(0.1),
    is_in_stock: true,
    title,
    cost,
    prompt,
    is_user_input_required: needsInput,
    should_redemptions_skip_request_queue: random.chance(0.3),
    max_per_stream: { is_enabled: hasLimit, value: hasLimit ? 10 : 0 },
    max_per_user_per_stream: { is_enabled: hasUserLimit, value: hasUserLimit ? 1 : 0 },
    background_color: random.pick(['#FA1ED2', '#00C7AC', '#1E90FF']),
    image: random.chance(0.3) ? describeImage(id) : null,
    default_image: describeImage('default'),
    global_cooldown: { is_enabled: isCooling, seconds: isCooling ? 60 : 0 },
    cooldown_expires_at: isCooling ? after(now, 60) : null,
    redemptions_redeemed_current_stream: random.chance(0.5) ? random.integer(0, 40) : null,
  };
}

function describeImage(name: string): EventPayload {
  const address = `https://simulation.invalid/rewards/${name}`;
  return { url_1x: `${address}-1.png`, url_2x: `${address}-2.png`, url_4x: `${address}-4.png` };
}

function redeem(scene: Scene, status: string): EventPayload {
  const { random, now } = scene;
  const { id, title, cost, prompt, needsInput } = pickReward(scene);
  return {
    id: random.uuid(),
    ...scene.userFields,
    user_input: needsInput ? createPhrase(random) : '',
    status,
    reward: { id, title, cost, prompt },
    redeemed_at: now.toISOString(),
  };
}
