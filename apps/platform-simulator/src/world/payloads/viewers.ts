import { createChatText, createCheerText, createPhrase } from './chat-texts.js';
import type { Viewer, Channel } from '../population.js';
import { after, identify, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

const tiers = ['1000', '1000', '1000', '2000', '3000'];
const banReasons = ['spam', 'insults', 'self-promotion', ''];

const polls = [
  { title: 'Which game next?', choices: ['Chess', 'Minecraft', 'Surprise us'] },
  { title: 'Pineapple on pizza?', choices: ['Yes', 'No'] },
  { title: 'How long do we stay?', choices: ['One more hour', 'Until midnight', 'Until dawn'] },
];

/** What viewers do, and what streams do. */
export const viewerBuilders: PayloadBuilders = {
  'stream.online': describeStream,
  'stream.offline': ({ channel, random }) => ({
    id: (channel.stream ?? channel.pastStreams.at(-1))?.id ?? random.digits(15),
    ...identify('broadcaster_user', channel.broadcaster),
  }),
  'channel.update': updateChannel,
  'channel.follow': ({ viewer, channel, now }) => ({
    ...identify('user', viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    followed_at: now.toISOString(),
  }),
  'channel.subscribe': subscribe,
  'channel.subscription.gift': giveSubscriptions,
  'channel.subscription.message': resubscribe,
  'channel.cheer': cheer,
  'channel.raid': raid,
  'channel.chat.message': chat,
  'channel.channel_points_custom_reward_redemption.add': redeemReward,
  'channel.ban': ban,
  'channel.poll.begin': beginPoll,
  'channel.hype_train.begin': beginHypeTrain,
};

function describeStream({ channel, random, now }: Scene): EventPayload {
  return {
    id: channel.stream?.id ?? random.digits(15),
    ...identify('broadcaster_user', channel.broadcaster),
    type: 'live',
    started_at: new Date(channel.stream?.startedAt ?? now).toISOString(),
  };
}

function updateChannel({ random, channel }: Scene): EventPayload {
  return {
    ...identify('broadcaster_user', channel.broadcaster),
    title: channel.title,
    language: channel.language,
    category_id: channel.category.id,
    category_name: channel.category.name,
    content_classification_labels: random.chance(0.2) ? ['ProfanityVulgarity'] : [],
  };
}

function subscribe({ random, viewer, channel }: Scene): EventPayload {
  return {
    ...identify('user', viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    tier: random.pick(tiers),
    is_gift: random.chance(0.3),
  };
}

function giveSubscriptions({ random, viewer, channel }: Scene): EventPayload {
  const isAnonymous = random.chance(0.2);
  const total = random.pick([1, 1, 1, 5, 5, 10, 20]);
  return {
    ...identify('user', isAnonymous ? null : viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    total,
    tier: random.pick(tiers),
    cumulative_total: isAnonymous || random.chance(0.3) ? null : total + random.integer(0, 80),
    is_anonymous: isAnonymous,
  };
}

function resubscribe({ random, viewer, channel }: Scene): EventPayload {
  const months = viewer.subscribedMonths + 1;
  return {
    ...identify('user', viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    tier: random.pick(tiers),
    message: { text: createPhrase(random), emotes: [] },
    cumulative_months: months,
    streak_months: random.chance(0.5) ? random.integer(1, months) : null,
    duration_months: random.pick([1, 1, 1, 3, 6]),
  };
}

function cheer({ random, viewer, channel }: Scene): EventPayload {
  const isAnonymous = random.chance(0.25);
  const { text, bits } = createCheerText(random);
  return {
    is_anonymous: isAnonymous,
    ...identify('user', isAnonymous ? null : viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    message: text,
    bits,
  };
}

function raid({ random, channel, otherChannel }: Scene): EventPayload {
  return {
    ...identify('from_broadcaster_user', otherChannel.broadcaster),
    ...identify('to_broadcaster_user', channel.broadcaster),
    viewers: random.integer(3, 900),
  };
}

function chat({ random, viewer, otherViewer, channel }: Scene): EventPayload {
  const isCheer = random.chance(0.05);
  const { bits, ...message } = isCheer
    ? createCheerText(random)
    : { ...createChatText(random, otherViewer), bits: 0 };
  return {
    ...identify('broadcaster_user', channel.broadcaster),
    ...identify('source_broadcaster_user', null),
    ...identify('chatter_user', viewer),
    message_id: random.uuid(),
    source_message_id: null,
    is_source_only: null,
    message,
    color: viewer.color,
    badges: badgesOf(viewer, channel),
    source_badges: null,
    message_type: 'text',
    cheer: isCheer ? { bits } : null,
    reply: null,
    channel_points_custom_reward_id: null,
    channel_points_animation_id: null,
  };
}

function redeemReward({ random, viewer, channel, now }: Scene): EventPayload {
  const { id, title, cost, prompt, needsInput } = random.pick(channel.rewards);
  return {
    id: random.uuid(),
    ...identify('broadcaster_user', channel.broadcaster),
    ...identify('user', viewer),
    user_input: needsInput ? createPhrase(random) : '',
    status: random.chance(0.8) ? 'unfulfilled' : 'fulfilled',
    reward: { id, title, cost, prompt },
    redeemed_at: now.toISOString(),
  };
}

function ban({ random, viewer, channel, now }: Scene): EventPayload {
  const isPermanent = random.chance(0.4);
  const seconds = random.pick([60, 600, 3_600, 86_400]);
  const others = channel.moderators.filter((moderator) => moderator.id !== viewer.id);
  return {
    ...identify('user', viewer),
    ...identify('broadcaster_user', channel.broadcaster),
    ...identify('moderator_user', random.pick([channel.broadcaster, ...others])),
    reason: random.pick(banReasons),
    banned_at: now.toISOString(),
    ends_at: isPermanent ? null : after(now, seconds),
    is_permanent: isPermanent,
  };
}

function beginPoll({ random, channel, now }: Scene): EventPayload {
  const poll = random.pick(polls);
  const hasPointsVoting = random.chance(0.5);
  return {
    id: random.uuid(),
    ...identify('broadcaster_user', channel.broadcaster),
    title: poll.title,
    choices: poll.choices.map((title) => ({ id: random.uuid(), title })),
    bits_voting: { is_enabled: false, amount_per_vote: 0 }, // voting with Bits no longer exists on the platform
    channel_points_voting: { is_enabled: hasPointsVoting, amount_per_vote: hasPointsVoting ? 10 : 0 },
    started_at: now.toISOString(),
    ends_at: after(now, random.pick([60, 120, 300])),
  };
}

function beginHypeTrain({ random, channel, viewer, otherViewer, now }: Scene): EventPayload {
  const bits = random.integer(200, 900);
  const subscription = 500; // a subscription of the first tier counts as much as 500 Bits
  return {
    id: random.uuid(),
    ...identify('broadcaster_user', channel.broadcaster),
    total: bits + subscription,
    progress: bits + subscription,
    goal: 1_600,
    top_contributions: [
      { ...identify('user', viewer), type: 'bits', total: bits },
      { ...identify('user', otherViewer), type: 'subscription', total: subscription },
    ],
    level: 1,
    all_time_high_level: random.integer(3, 12),
    all_time_high_total: random.integer(9_000, 60_000),
    shared_train_participants: null,
    started_at: now.toISOString(),
    expires_at: after(now, 300),
    type: random.chance(0.1) ? 'golden_kappa' : 'regular',
    is_shared_train: false,
  };
}

function badgesOf(viewer: Viewer, channel: Channel): EventPayload[] {
  const isModerator = channel.moderators.some((moderator) => moderator.id === viewer.id);
  const months = viewer.subscribedMonths;
  return [
    ...(isModerator ? [{ set_id: 'moderator', id: '1', info: '' }] : []),
    ...(months > 0 ? [{ set_id: 'subscriber', id: '0', info: String(months) }] : []),
  ];
}
