import type { Channel, Viewer } from '../population.js';
import {
  createChatText,
  createCheerText,
  createHeldText,
  createPhrase,
  type ChatText,
} from './chat-texts.js';
import {
  emptyDetails,
  identify,
  type EventPayload,
  type PayloadBuilder,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

/** Chat events except notices. */
export const chatBuilders: PayloadBuilders = {
  'channel.chat.message': (scene) => {
    const { random, viewer, channel } = scene;
    const isCheer = random.chance(0.05);
    const { bits, ...message } = isCheer ? createCheerText(random) : { ...createMessage(scene), bits: 0 };
    return {
      ...emptyDetails('channel.chat.message', '1'),
      ...scene.broadcasterFields,
      ...identify('chatter_user', viewer),
      message_id: random.uuid(),
      message,
      message_type: random.chance(0.95) ? 'text' : 'channel_points_highlighted',
      color: viewer.color,
      badges: badgesOf(viewer, channel),
      cheer: isCheer ? { bits } : null,
      reply: !isCheer && random.chance(0.1) ? replyTo(scene) : null,
    };
  },
  'channel.chat.message_delete': (scene) => ({ ...targetViewer(scene), message_id: scene.random.uuid() }),
  'channel.chat.clear': (scene) => scene.broadcasterFields,
  'channel.chat.clear_user_messages': targetViewer,
  'channel.chat_settings.update': ({ random, broadcasterFields }) => {
    const [isFollowerMode, isSlowMode] = [random.chance(0.3), random.chance(0.3)];
    return {
      ...broadcasterFields,
      emote_mode: random.chance(0.2),
      follower_mode: isFollowerMode,
      follower_mode_duration_minutes: isFollowerMode ? random.pick([0, 10, 60]) : null,
      slow_mode: isSlowMode,
      slow_mode_wait_time_seconds: isSlowMode ? random.pick([3, 10, 30]) : null,
      subscriber_mode: random.chance(0.2),
      unique_chat_mode: random.chance(0.2),
    };
  },
  'channel.chat.user_message_hold': holdMessage,
  'channel.chat.user_message_update': (scene) => ({
    ...holdMessage(scene),
    status: scene.random.pick(['approved', 'denied', 'invalid']),
  }),
};

function createMessage({ random, otherViewer }: Scene): ChatText {
  return createChatText(random, otherViewer);
}

/** The viewer replies to another viewer, whose message started the thread. */
function replyTo({ random, otherViewer }: Scene): EventPayload {
  const id = random.uuid();
  return {
    parent_message_id: id,
    parent_message_body: createPhrase(random),
    ...identify('parent_user', otherViewer),
    thread_message_id: id,
    ...identify('thread_user', otherViewer),
  };
}

function targetViewer(scene: Scene): EventPayload {
  return { ...scene.broadcasterFields, ...identify('target_user', scene.viewer) };
}

/** AutoMod holds a message that the listener wrote. */
function holdMessage({ random, listener, broadcasterFields }: Scene): EventPayload {
  return {
    ...broadcasterFields,
    ...identify('user', listener),
    message_id: random.uuid(),
    message: createHeldText(random),
  };
}

export function badgesOf(viewer: Viewer, channel: Channel): EventPayload[] {
  const isModerator = channel.moderators.some((moderator) => moderator.id === viewer.id);
  const months = viewer.subscribedMonths;
  return [
    ...(isModerator ? [{ set_id: 'moderator', id: '1', info: '' }] : []),
    ...(months > 0 ? [{ set_id: 'subscriber', id: '0', info: String(months) }] : []),
  ];
}

const tiers = ['1000', '1000', '2000', '3000'];

/** Details by type of notice (FACTS.md §5.1). */
const notices: Readonly<Record<string, PayloadBuilder>> = {
  sub: ({ random }) => ({ sub_tier: random.pick(tiers), is_prime: random.chance(0.3), duration_months: 1 }),
  resub: ({ random, otherViewer }) => {
    const isGift = random.chance(0.3);
    const isAnonymous = isGift && random.chance(0.3);
    return {
      cumulative_months: random.integer(2, 60),
      duration_months: 1,
      streak_months: random.chance(0.5) ? random.integer(1, 12) : null,
      sub_tier: random.pick(tiers),
      is_prime: false,
      is_gift: isGift,
      gifter_is_anonymous: isGift ? isAnonymous : null,
      ...identify('gifter_user', isGift && !isAnonymous ? otherViewer : null),
    };
  },
  sub_gift: ({ random, otherViewer }) => ({
    duration_months: 1,
    cumulative_total: random.chance(0.5) ? random.integer(1, 200) : null,
    ...identify('recipient_user', otherViewer),
    sub_tier: random.pick(tiers),
    community_gift_id: random.chance(0.3) ? random.uuid() : null,
  }),
  community_sub_gift: ({ random }) => ({
    id: random.uuid(),
    total: random.pick([5, 10, 20]),
    sub_tier: random.pick(tiers),
    cumulative_total: random.chance(0.5) ? random.integer(20, 200) : null,
  }),
  gift_paid_upgrade: continueGift,
  prime_paid_upgrade: ({ random }) => ({ sub_tier: random.pick(tiers) }),
  pay_it_forward: continueGift,
  raid: ({ random, otherChannel }) => ({
    ...identify('user', otherChannel.broadcaster),
    viewer_count: random.integer(3, 900),
    profile_image_url: `https://simulation.invalid/users/${otherChannel.broadcaster.id}.png`,
  }),
  unraid: () => ({}),
  announcement: ({ random }) => ({ color: random.pick(['PRIMARY', 'BLUE', 'GREEN', 'ORANGE', 'PURPLE']) }),
  bits_badge_tier: ({ random }) => ({ tier: random.pick([100, 1_000, 5_000]) }),
  charity_donation: ({ random }) => ({
    charity_name: 'Simulated Relief',
    amount: { value: random.integer(100, 10_000), decimal_place: 2, currency: 'EUR' },
  }),
  watch_streak: ({ random }) => ({
    streak_count: random.pick([3, 5, 7, 10]),
    channel_points_awarded: random.pick([350, 450]),
  }),
  modiversary: ({ random }) => ({ months: random.pick([12, 24, 36]) }),
};

/** The notices that also arrive from the other channels of a shared chat. Client libraries know no other forms. */
const shared = [
  ...['sub', 'resub', 'sub_gift', 'community_sub_gift', 'gift_paid_upgrade', 'prime_paid_upgrade'],
  ...['pay_it_forward', 'raid', 'announcement'],
];

/** Chat notices. A notice has a detail field per type; all are null except its own. */
export const chatNoticeBuilders: PayloadBuilders = { 'channel.chat.notification': notice };

function notice(scene: Scene): EventPayload {
  const { random, viewer, channel, otherChannel } = scene;
  const kind = random.pick(Object.keys(notices));
  const isShared = random.chance(0.2) && shared.includes(kind);
  const type = isShared ? `shared_chat_${kind}` : kind;
  return {
    ...emptyDetails('channel.chat.notification', '1'),
    ...scene.broadcasterFields,
    ...identify('chatter_user', viewer),
    chatter_is_anonymous: false,
    color: viewer.color,
    badges: badgesOf(viewer, channel),
    // The platform has nothing to say about an announcement.
    system_message: kind === 'announcement' ? '' : `${viewer.name}: ${kind.replaceAll('_', ' ')}`,
    message_id: random.uuid(),
    message: createChatText(random, scene.otherViewer),
    notice_type: type,
    [type]: notices[kind]?.(scene) ?? null,
    ...(isShared && {
      ...identify('source_broadcaster_user', otherChannel.broadcaster),
      source_message_id: random.uuid(),
      source_badges: [],
    }),
  };
}

function continueGift({ random, otherViewer }: Scene): EventPayload {
  const isAnonymous = random.chance(0.3);
  return { gifter_is_anonymous: isAnonymous, ...identify('gifter_user', isAnonymous ? null : otherViewer) };
}
