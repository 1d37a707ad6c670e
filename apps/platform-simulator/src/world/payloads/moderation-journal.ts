import { createPhrase } from './chat-texts.js';
import {
  after,
  emptyDetails,
  identify,
  identifyModerator,
  type EventPayload,
  type PayloadBuilder,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

/** Moderators' actions and their details; null for an action without details (FACTS.md §5.1). */
const actions: Readonly<Record<string, PayloadBuilder | null>> = {
  ban: giveReason,
  timeout: timeOut,
  unban: nameViewer,
  untimeout: nameViewer,
  clear: null,
  emoteonly: null,
  emoteonlyoff: null,
  followers: ({ random }) => ({ follow_duration_minutes: random.pick([0, 10, 60]) }),
  followersoff: null,
  uniquechat: null,
  uniquechatoff: null,
  slow: ({ random }) => ({ wait_time_seconds: random.pick([3, 10, 30]) }),
  slowoff: null,
  subscribers: null,
  subscribersoff: null,
  raid: ({ random, otherChannel }) => ({
    ...identify('user', otherChannel.broadcaster),
    viewer_count: random.integer(3, 900),
  }),
  unraid: ({ otherChannel }) => identify('user', otherChannel.broadcaster),
  delete: deleteMessage,
  vip: nameViewer,
  unvip: nameViewer,
  mod: nameViewer,
  unmod: nameViewer,
  add_blocked_term: () => changeTerms('add', 'blocked'),
  remove_blocked_term: () => changeTerms('remove', 'blocked'),
  add_permitted_term: () => changeTerms('add', 'permitted'),
  remove_permitted_term: () => changeTerms('remove', 'permitted'),
  approve_unban_request: (scene) => resolveUnbanRequest(scene, true),
  deny_unban_request: (scene) => resolveUnbanRequest(scene, false),
  shared_chat_ban: giveReason,
  shared_chat_unban: nameViewer,
  shared_chat_timeout: timeOut,
  shared_chat_untimeout: nameViewer,
  shared_chat_delete: deleteMessage,
};

/** Version 2 has one more action. */
const actionsOfVersion2 = {
  ...actions,
  warn: (scene: Scene) => ({ ...giveReason(scene), chat_rules_cited: ['Be kind'] }),
};

/** Log of moderators' actions. All detail fields are null except the action's own. */
export const moderationJournalBuilders: PayloadBuilders = {
  'channel.moderate/1': (scene) => record(scene, '1', actions),
  'channel.moderate/2': (scene) => record(scene, '2', actionsOfVersion2),
};

function record(scene: Scene, version: string, known: typeof actions): EventPayload {
  const { random, otherChannel } = scene;
  const [name, describe] = random.pick(Object.entries(known));
  const isShared = name.startsWith('shared_chat_');
  return {
    ...emptyDetails('channel.moderate', version),
    ...scene.broadcasterFields,
    ...identify('source_broadcaster_user', isShared ? otherChannel.broadcaster : null),
    ...identifyModerator(scene),
    action: name,
    ...(describe !== null && { [detailOf(name)]: describe(scene) }),
  };
}

/** The field with the details of an action: named like the action, except that some actions share a field. */
function detailOf(action: string): string {
  if (action.endsWith('_term')) return 'automod_terms';
  return action.endsWith('_unban_request') ? 'unban_request' : action;
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

function changeTerms(action: string, list: string): EventPayload {
  return { action, list, terms: ['buy followers'], from_automod: false };
}

function resolveUnbanRequest(scene: Scene, isApproved: boolean): EventPayload {
  return {
    is_approved: isApproved,
    ...nameViewer(scene),
    moderator_message: createPhrase(scene.random),
  };
}
