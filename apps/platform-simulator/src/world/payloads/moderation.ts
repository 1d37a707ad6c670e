import { createHeldText, createPhrase } from './chat-texts.js';
import {
  after,
  identify,
  identifyModerator,
  pickModerator,
  type EventPayload,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

const reasons = ['spam', 'insults', 'self-promotion', ''];
const trustStatuses = ['none', 'active_monitoring', 'restricted'];

/** Moderation events except AutoMod and the log of actions. */
export const moderationBuilders: PayloadBuilders = {
  'channel.ban': (scene) => {
    const { random, now } = scene;
    const isPermanent = random.chance(0.4);
    const seconds = random.pick([60, 600, 3_600, 86_400]);
    return {
      ...moderate(scene),
      reason: random.pick(reasons),
      banned_at: now.toISOString(),
      ends_at: isPermanent ? null : after(now, seconds),
      is_permanent: isPermanent,
    };
  },
  'channel.unban': moderate,
  'channel.unban_request.create': ({ random, now, userFields }) => ({
    id: random.uuid(),
    ...userFields,
    text: 'Sorry, I will be nicer from now on.',
    created_at: now.toISOString(),
  }),
  /** Canceled requests have no moderator. */
  'channel.unban_request.resolve': (scene) => {
    const { random } = scene;
    const status = random.pick(['approved', 'denied', 'canceled']);
    const isCanceled = status === 'canceled';
    return {
      id: random.uuid(),
      ...scene.userFields,
      ...identify('moderator_user', isCanceled ? null : pickModerator(scene)),
      resolution_text: isCanceled || random.chance(0.3) ? null : createPhrase(random),
      status,
    };
  },
  'channel.moderator.add': (scene) => scene.userFields,
  'channel.moderator.remove': (scene) => scene.userFields,
  'channel.vip.add': (scene) => scene.userFields,
  'channel.vip.remove': (scene) => scene.userFields,
  'channel.warning.acknowledge': (scene) => scene.userFields,
  'channel.warning.send': (scene) => {
    const { random } = scene;
    return {
      ...moderate(scene),
      reason: random.chance(0.8) ? random.pick(reasons) : null,
      chat_rules_cited: random.chance(0.5) ? ['Be kind'] : null,
    };
  },
  'channel.suspicious_user.message': ({ random, userFields }) => ({
    ...userFields,
    low_trust_status: random.pick(trustStatuses),
    shared_ban_channel_ids: random.chance(0.3) ? [random.digits(9)] : [],
    types: [random.pick(['manually_added', 'ban_evader', 'banned_in_shared_channel'])],
    ban_evasion_evaluation: random.pick(['unknown', 'possible', 'likely']),
    message: { message_id: random.uuid(), ...createHeldText(random) },
  }),
  'channel.suspicious_user.update': (scene) => ({
    ...moderate(scene),
    low_trust_status: scene.random.pick(trustStatuses),
  }),
  'channel.shield_mode.begin': (scene) => ({ ...shield(scene), started_at: scene.now.toISOString() }),
  'channel.shield_mode.end': (scene) => ({ ...shield(scene), ended_at: scene.now.toISOString() }),
};

function moderate(scene: Scene): EventPayload {
  return { ...scene.userFields, ...identifyModerator(scene) };
}

function shield(scene: Scene): EventPayload {
  return { ...scene.broadcasterFields, ...identifyModerator(scene) };
}

const categories = ['aggressive', 'bullying', 'sexual', 'swearing'];
const verdicts = ['Approved', 'Denied', 'Expired'];

/** Events of AutoMod, which holds chat messages for a moderator to review. */
export const automodBuilders: PayloadBuilders = {
  'automod.message.hold/1': hold,
  'automod.message.hold/2': holdWithReason,
  'automod.message.update/1': (scene) => ({ ...hold(scene), ...judge(scene) }),
  'automod.message.update/2': (scene) => ({ ...holdWithReason(scene), ...judge(scene) }),
  /** Either one level for all categories, or a level per category. */
  'automod.settings.update': (scene) => {
    const { random } = scene;
    const overall = random.chance(0.5) ? random.integer(0, 4) : null;
    const level = (): number => overall ?? random.integer(0, 4);
    return {
      ...scene.broadcasterFields,
      ...identifyModerator(scene),
      overall_level: overall,
      bullying: level(),
      disability: level(),
      race_ethnicity_or_religion: level(),
      misogyny: level(),
      sexuality_sex_or_gender: level(),
      aggression: level(),
      sex_based_terms: level(),
      swearing: level(),
    };
  },
  'automod.terms.update': (scene) => {
    const { random } = scene;
    return {
      ...scene.broadcasterFields,
      ...identifyModerator(scene),
      action: random.pick(['add_permitted', 'remove_permitted', 'add_blocked', 'remove_blocked']),
      from_automod: random.chance(0.3),
      terms: ['buy followers'],
    };
  },
};

function holdMessage({ random, now, userFields }: Scene): EventPayload {
  return {
    ...userFields,
    message_id: random.uuid(),
    message: createHeldText(random),
    held_at: now.toISOString(),
  };
}

function hold(scene: Scene): EventPayload {
  const { random } = scene;
  return { ...holdMessage(scene), category: random.pick(categories), level: random.integer(1, 4) };
}

function holdWithReason(scene: Scene): EventPayload {
  const { random, channel } = scene;
  const isTerm = random.chance(0.3);
  const boundary = { start_pos: 0, end_pos: random.integer(1, 6) };
  const term = {
    term_id: random.uuid(),
    boundary,
    ...identify('owner_broadcaster_user', channel.broadcaster),
  };
  const automod = { category: random.pick(categories), level: random.integer(1, 4), boundaries: [boundary] };
  return {
    ...holdMessage(scene),
    reason: isTerm ? 'blocked_term' : 'automod',
    automod: isTerm ? null : automod,
    blocked_term: isTerm ? { terms_found: [term] } : null,
  };
}

function judge(scene: Scene): EventPayload {
  return {
    ...identifyModerator(scene),
    status: scene.random.pick(verdicts),
  };
}
