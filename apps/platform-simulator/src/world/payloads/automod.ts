import { createHeldText } from './chat-texts.js';
import {
  identify,
  identifyBoth,
  identifyBroadcaster,
  pickModerator,
  type EventPayload,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

const categories = ['aggressive', 'bullying', 'sexual', 'swearing'];
const verdicts = ['Approved', 'Denied', 'Expired'];

/** Events of AutoMod, which holds chat messages for a moderator to review. */
export const automodBuilders: PayloadBuilders = {
  'automod.message.hold/1': hold,
  'automod.message.hold/2': holdWithReason,
  'automod.message.update/1': (scene) => ({ ...hold(scene), ...judge(scene) }),
  'automod.message.update/2': (scene) => ({ ...holdWithReason(scene), ...judge(scene) }),
  'automod.settings.update': updateSettings,
  'automod.terms.update': updateTerms,
};

function holdMessage(scene: Scene): EventPayload {
  const { random, now } = scene;
  return {
    ...identifyBoth(scene),
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
    ...identify('moderator_user', pickModerator(scene)),
    status: scene.random.pick(verdicts),
  };
}

/** Either one level for all categories, or a level per category. */
function updateSettings(scene: Scene): EventPayload {
  const { random } = scene;
  const overall = random.chance(0.5) ? random.integer(0, 4) : null;
  const level = (): number => overall ?? random.integer(0, 4);
  return {
    ...identifyBroadcaster(scene),
    ...identify('moderator_user', pickModerator(scene)),
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
}

function updateTerms(scene: Scene): EventPayload {
  const { random } = scene;
  return {
    ...identifyBroadcaster(scene),
    ...identify('moderator_user', pickModerator(scene)),
    action: random.pick(['add_permitted', 'remove_permitted', 'add_blocked', 'remove_blocked']),
    from_automod: random.chance(0.3),
    terms: ['buy followers'],
  };
}
