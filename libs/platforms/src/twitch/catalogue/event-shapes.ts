/**
 * The fields of an object. A name can end in `?` (the field can be missing) or `|null` (the field can be null). A value is a kind
 * (`string`, `integer`, `boolean`), a nested object, or a list whose items are a kind or a nested object.
 */
export interface Shape {
  readonly [field: string]: Kind | Shape | readonly [Kind | Shape];
}

type Kind = 'string' | 'integer' | 'boolean';

/** The three fields that identify a user: id, login, and name. */
function user(prefix = 'user', suffix: '' | '|null' = ''): Shape {
  return {
    [`${prefix}_id${suffix}`]: 'string',
    [`${prefix}_login${suffix}`]: 'string',
    [`${prefix}_name${suffix}`]: 'string',
  };
}

const cheermote: Shape = { prefix: 'string', bits: 'integer', tier: 'integer' };
const badges = [{ set_id: 'string', id: 'string', info: 'string' }] as const;
const emote: Shape = { id: 'string', name: 'string' };

const fragment: Shape = {
  type: 'string',
  text: 'string',
  'cheermote|null': cheermote,
  'emote|null': { id: 'string', emote_set_id: 'string', owner_id: 'string', format: ['string'] },
};

const chatMessage: Shape = { text: 'string', fragments: [{ ...fragment, 'mention|null': user() }] };

/** A chat message that spends Bits or Channel Points. Its fragments contain no mentions. */
const chatMessageWithoutMentions: Shape = { text: 'string', fragments: [fragment] };

/** The form of a chat message in other events. Its fragments contain fewer details. */
const plainMessage: Shape = {
  text: 'string',
  fragments: [
    {
      type: 'string',
      text: 'string',
      'cheermote?|null': cheermote,
      'emote?|null': { id: 'string', emote_set_id: 'string' },
    },
  ],
};

const messageWithEmotes: Shape = {
  text: 'string',
  'emotes|null': [{ id: 'string', begin: 'integer', end: 'integer' }],
};

const amount: Shape = { value: 'integer', decimal_places: 'integer', currency: 'string' };
const limit: Shape = { is_enabled: 'boolean', value: 'integer' };
const images: Shape = { url_1x: 'string', url_2x: 'string', url_4x: 'string' };
const voting: Shape = { is_enabled: 'boolean', amount_per_vote: 'integer' };
const boundary: Shape = { start_pos: 'integer', end_pos: 'integer' };

const giftUpgrade: Shape = { gifter_is_anonymous: 'boolean', ...user('gifter_user', '|null') };

/** The details of `channel.chat.notification`, by type of notice. Notices of a shared chat have the same details. */
const notices: Shape = {
  sub: { sub_tier: 'string', is_prime: 'boolean', duration_months: 'integer' },
  resub: {
    cumulative_months: 'integer',
    duration_months: 'integer',
    'streak_months|null': 'integer',
    sub_tier: 'string',
    'is_prime|null': 'boolean',
    is_gift: 'boolean',
    'gifter_is_anonymous|null': 'boolean',
    ...user('gifter_user', '|null'),
  },
  sub_gift: {
    duration_months: 'integer',
    'cumulative_total|null': 'integer',
    ...user('recipient_user'),
    sub_tier: 'string',
    'community_gift_id|null': 'string',
  },
  community_sub_gift: {
    id: 'string',
    total: 'integer',
    sub_tier: 'string',
    'cumulative_total|null': 'integer',
  },
  gift_paid_upgrade: giftUpgrade,
  prime_paid_upgrade: { sub_tier: 'string' },
  pay_it_forward: giftUpgrade,
  raid: { ...user(), viewer_count: 'integer', profile_image_url: 'string' },
  unraid: {},
  announcement: { color: 'string' },
  bits_badge_tier: { tier: 'integer' },
  charity_donation: {
    charity_name: 'string',
    amount: { value: 'integer', decimal_place: 'integer', currency: 'string' },
  },
  watch_streak: { streak_count: 'integer', channel_points_awarded: 'integer' },
  modiversary: { months: 'integer' },
};

const ban: Shape = { ...user(), 'reason|null': 'string' };
const timeout: Shape = { ...ban, expires_at: 'string' };
const deletion: Shape = { ...user(), message_id: 'string', message_body: 'string' };

/** The details of `channel.moderate`, by action. */
const moderation: Shape = {
  followers: { follow_duration_minutes: 'integer' },
  slow: { wait_time_seconds: 'integer' },
  vip: user(),
  unvip: user(),
  mod: user(),
  unmod: user(),
  ban,
  unban: user(),
  timeout,
  untimeout: user(),
  raid: { ...user(), viewer_count: 'integer' },
  unraid: user(),
  delete: deletion,
  automod_terms: { action: 'string', list: 'string', terms: ['string'], from_automod: 'boolean' },
  unban_request: { is_approved: 'boolean', ...user(), moderator_message: 'string' },
  warn: { ...user(), 'reason|null': 'string', 'chat_rules_cited|null': ['string'] },
  shared_chat_ban: ban,
  shared_chat_unban: user(),
  shared_chat_timeout: timeout,
  shared_chat_untimeout: user(),
  shared_chat_delete: deletion,
};

const customReward: Shape = {
  image: images,
  default_image: images,
  max_per_stream: limit,
  max_per_user_per_stream: limit,
  global_cooldown: { is_enabled: 'boolean', seconds: 'integer' },
};
const redemption: Shape = { reward: { id: 'string', title: 'string', cost: 'integer', prompt: 'string' } };
const charity: Shape = { current_amount: amount, target_amount: amount };
// Counts are missing in the events that report the beginning of a poll or a prediction.
const poll: Shape = {
  choices: [
    {
      id: 'string',
      title: 'string',
      'bits_votes?': 'integer',
      'channel_points_votes?': 'integer',
      'votes?': 'integer',
    },
  ],
  bits_voting: voting,
  channel_points_voting: voting,
};
const prediction: Shape = {
  outcomes: [
    {
      id: 'string',
      title: 'string',
      color: 'string',
      'users?': 'integer',
      'channel_points?': 'integer',
      'top_predictors?|null': [
        { ...user(), 'channel_points_won|null': 'integer', channel_points_used: 'integer' },
      ],
    },
  ],
};
const hypeTrain: Shape = {
  top_contributions: [{ ...user(), type: 'string', total: 'integer' }],
  shared_train_participants: [user('broadcaster_user')],
};
const automodVerdict: Shape = {
  message: plainMessage,
  automod: { category: 'string', level: 'integer', boundaries: [boundary] },
  blocked_term: {
    terms_found: [{ term_id: 'string', boundary, ...user('owner_broadcaster_user') }],
  },
};

/**
 * The fields of nested objects in events, by type, or by `type/version` where versions differ (FACTS.md §5.1). The catalog
 * says which of these objects can be missing or null.
 */
export const eventShapes: Readonly<Record<string, Shape>> = {
  'automod.message.hold': automodVerdict,
  'automod.message.update': automodVerdict,
  'channel.bits.use': {
    message: chatMessageWithoutMentions,
    power_up: { type: 'string', 'emote|null': emote, 'message_effect_id|null': 'string' },
    custom_power_up: { title: 'string', reward_id: 'string' },
  },
  'channel.channel_points_automatic_reward_redemption.add/1': {
    reward: { type: 'string', cost: 'integer', 'unlocked_emote|null': emote },
    message: messageWithEmotes,
  },
  'channel.channel_points_automatic_reward_redemption.add/2': {
    reward: { type: 'string', channel_points: 'integer', 'emote|null': emote },
    message: chatMessageWithoutMentions,
  },
  'channel.channel_points_custom_reward.add': customReward,
  'channel.channel_points_custom_reward.update': customReward,
  'channel.channel_points_custom_reward.remove': customReward,
  'channel.channel_points_custom_reward_redemption.add': redemption,
  'channel.channel_points_custom_reward_redemption.update': redemption,
  'channel.charity_campaign.donate': { amount },
  'channel.charity_campaign.start': charity,
  'channel.charity_campaign.progress': charity,
  'channel.charity_campaign.stop': charity,
  'channel.chat.message': {
    badges,
    message: chatMessage,
    cheer: { bits: 'integer' },
    reply: {
      parent_message_id: 'string',
      parent_message_body: 'string',
      ...user('parent_user'),
      thread_message_id: 'string',
      ...user('thread_user'),
    },
    source_badges: badges,
  },
  'channel.chat.notification': {
    badges,
    message: chatMessage,
    source_badges: badges,
    ...notices,
    ...Object.fromEntries(Object.entries(notices).map(([notice, shape]) => [`shared_chat_${notice}`, shape])),
  },
  'channel.chat.user_message_hold': { message: plainMessage },
  'channel.chat.user_message_update': { message: plainMessage },
  'channel.custom_power_up_redemption.add': {
    custom_power_up: { id: 'string', title: 'string', bits: 'integer', prompt: 'string' },
  },
  'channel.hype_train.begin': hypeTrain,
  'channel.hype_train.progress': hypeTrain,
  'channel.hype_train.end': hypeTrain,
  'channel.moderate': moderation,
  'channel.poll.begin': poll,
  'channel.poll.progress': poll,
  'channel.poll.end': poll,
  'channel.prediction.begin': prediction,
  'channel.prediction.progress': prediction,
  'channel.prediction.lock': prediction,
  'channel.prediction.end': prediction,
  'channel.shared_chat.begin': { participants: [user('broadcaster_user')] },
  'channel.shared_chat.update': { participants: [user('broadcaster_user')] },
  'channel.subscription.message': { message: messageWithEmotes },
  'channel.suspicious_user.message': { message: { message_id: 'string', ...plainMessage } },
  'conduit.shard.disabled': {
    transport: {
      method: 'string',
      'callback|null': 'string',
      'session_id|null': 'string',
      'connected_at|null': 'string',
      'disconnected_at|null': 'string',
    },
  },
  'drop.entitlement.grant': {
    data: {
      organization_id: 'string',
      category_id: 'string',
      category_name: 'string',
      campaign_id: 'string',
      ...user(),
      entitlement_id: 'string',
      benefit_id: 'string',
      created_at: 'string',
    },
  },
  'extension.bits_transaction.create': {
    product: { name: 'string', bits: 'integer', sku: 'string', in_development: 'boolean' },
  },
  'user.whisper.message': { whisper: { text: 'string' } },
};
