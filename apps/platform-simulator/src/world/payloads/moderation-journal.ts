import { createPhrase } from './chat-texts.js';
import {
  after,
  emptyDetails,
  identify,
  identifyBroadcaster,
  pickModerator,
  type EventPayload,
  type PayloadBuilder,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

/** Name of the action's detail field, and its builder. Null for an action without details. */
type Action = { detail: string; describe: PayloadBuilder } | null;

const viewer = (detail: string): Action => ({ detail, describe: nameViewer });

/** Moderators' actions (docs/platform-facts.md §5.2). */
const actions: Readonly<Record<string, Action>> = {
  ban: { detail: 'ban', describe: giveReason },
  timeout: { detail: 'timeout', describe: timeOut },
  unban: viewer('unban'),
  untimeout: viewer('untimeout'),
  clear: null,
  emoteonly: null,
  emoteonlyoff: null,
  followers: {
    detail: 'followers',
    describe: ({ random }) => ({ follow_duration_minutes: random.pick([0, 10, 60]) }),
  },
  followersoff: null,
  uniquechat: null,
  uniquechatoff: null,
  slow: { detail: 'slow', describe: ({ random }) => ({ wait_time_seconds: random.pick([3, 10, 30]) }) },
  slowoff: null,
  subscribers: null,
  subscribersoff: null,
  raid: {
    detail: 'raid',
    describe: ({ random, otherChannel }) => ({
      ...identify('user', otherChannel.broadcaster),
      viewer_count: random.integer(3, 900),
    }),
  },
  unraid: {
    detail: 'unraid',
    describe: ({ otherChannel }) => identify('user', otherChannel.broadcaster),
  },
  delete: { detail: 'delete', describe: deleteMessage },
  vip: viewer('vip'),
  unvip: viewer('unvip'),
  mod: viewer('mod'),
  unmod: viewer('unmod'),
  add_blocked_term: changeTerms('add', 'blocked'),
  remove_blocked_term: changeTerms('remove', 'blocked'),
  add_permitted_term: changeTerms('add', 'permitted'),
  remove_permitted_term: changeTerms('remove', 'permitted'),
  approve_unban_request: resolveUnbanRequest(true),
  deny_unban_request: resolveUnbanRequest(false),
  shared_chat_ban: { detail: 'shared_chat_ban', describe: giveReason },
  shared_chat_unban: viewer('shared_chat_unban'),
  shared_chat_timeout: { detail: 'shared_chat_timeout', describe: timeOut },
  shared_chat_untimeout: viewer('shared_chat_untimeout'),
  shared_chat_delete: { detail: 'shared_chat_delete', describe: deleteMessage },
};

/** Actions that only version 2 has. */
const warning: Readonly<Record<string, Action>> = {
  warn: {
    detail: 'warn',
    describe: (scene) => ({ ...giveReason(scene), chat_rules_cited: ['Be kind'] }),
  },
};

/** Log of moderators' actions. All detail fields are null except the action's own. */
export const moderationJournalBuilders: PayloadBuilders = {
  'channel.moderate/1': (scene) => record(scene, '1', actions),
  'channel.moderate/2': (scene) => record(scene, '2', { ...actions, ...warning }),
};

function record(scene: Scene, version: string, known: typeof actions): EventPayload {
  const { random, otherChannel } = scene;
  const [name, action] = random.pick(Object.entries(known));
  const isShared = name.startsWith('shared_chat_');
  return {
    ...emptyDetails('channel.moderate', version),
    ...identifyBroadcaster(scene),
    ...identify('source_broadcaster_user', isShared ? otherChannel.broadcaster : null),
    ...identify('moderator_user', pickModerator(scene)),
    action: name,
    ...(action !== null && { [action.detail]: action.describe(scene) }),
  };
}

function nameViewer(scene: Scene): EventPayload {
  return identify('user', scene.viewer);
}

function giveReason(scene: Scene): EventPayload {
  return { ...nameViewer(scene), reason: scene.random.pick(['spam', 'insults', '']) };
}

function timeOut(scene: Scene): EventPayload {
  return { ...giveReason(scene), expires_at: after(scene.now, scene.random.pick([60, 600, 3_600])) };
}

function deleteMessage(scene: Scene): EventPayload {
  const { random } = scene;
  return { ...nameViewer(scene), message_id: random.uuid(), message_body: createPhrase(random) };
}

function changeTerms(action: string, list: string): Action {
  const describe: PayloadBuilder = () => ({ action, list, terms: ['buy followers'], from_automod: false });
  return { detail: 'automod_terms', describe };
}

function resolveUnbanRequest(isApproved: boolean): Action {
  return {
    detail: 'unban_request',
    describe: (scene) => ({
      is_approved: isApproved,
      ...nameViewer(scene),
      moderator_message: createPhrase(scene.random),
    }),
  };
}
