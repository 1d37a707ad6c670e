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
  identifyBroadcaster,
  type EventPayload,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

/** Chat events except notices. */
export const chatBuilders: PayloadBuilders = {
  'channel.chat.message': chat,
  'channel.chat.message_delete': (scene) => ({ ...targetViewer(scene), message_id: scene.random.uuid() }),
  'channel.chat.clear': identifyBroadcaster,
  'channel.chat.clear_user_messages': targetViewer,
  'channel.chat_settings.update': updateSettings,
  'channel.chat.user_message_hold': holdMessage,
  'channel.chat.user_message_update': (scene) => ({
    ...holdMessage(scene),
    status: scene.random.pick(['approved', 'denied', 'invalid']),
  }),
};

function chat(scene: Scene): EventPayload {
  const { random, viewer, channel } = scene;
  const isCheer = random.chance(0.05);
  const { bits, ...message } = isCheer ? createCheerText(random) : { ...createMessage(scene), bits: 0 };
  return {
    ...emptyDetails('channel.chat.message', '1'),
    ...identifyBroadcaster(scene),
    ...identify('chatter_user', viewer),
    message_id: random.uuid(),
    message,
    message_type: random.chance(0.95) ? 'text' : 'channel_points_highlighted',
    color: viewer.color,
    badges: badgesOf(viewer, channel),
    cheer: isCheer ? { bits } : null,
    reply: !isCheer && random.chance(0.1) ? replyTo(scene) : null,
  };
}

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
  return { ...identifyBroadcaster(scene), ...identify('target_user', scene.viewer) };
}

function updateSettings(scene: Scene): EventPayload {
  const { random } = scene;
  const [isFollowerMode, isSlowMode] = [random.chance(0.3), random.chance(0.3)];
  return {
    ...identifyBroadcaster(scene),
    emote_mode: random.chance(0.2),
    follower_mode: isFollowerMode,
    follower_mode_duration_minutes: isFollowerMode ? random.pick([0, 10, 60]) : null,
    slow_mode: isSlowMode,
    slow_mode_wait_time_seconds: isSlowMode ? random.pick([3, 10, 30]) : null,
    subscriber_mode: random.chance(0.2),
    unique_chat_mode: random.chance(0.2),
  };
}

/** AutoMod holds a message that the listener wrote. */
function holdMessage(scene: Scene): EventPayload {
  const { random, listener } = scene;
  return {
    ...identifyBroadcaster(scene),
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
