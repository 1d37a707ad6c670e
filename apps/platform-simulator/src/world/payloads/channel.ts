import type { Person } from '../population.js';
import {
  after,
  identify,
  identifyModerator,
  pickModerator,
  type EventPayload,
  type PayloadBuilders,
  type Scene,
} from './scene.js';

/** Streams, titles, ads, raids, shoutouts, guests, and shared chat. */
export const channelBuilders: PayloadBuilders = {
  /** Uses the running stream. On an offline channel, invents a stream that starts now. */
  'stream.online': ({ channel, random, now }) => ({
    id: channel.stream?.id ?? random.digits(15),
    ...identify('broadcaster_user', channel.broadcaster),
    type: 'live',
    started_at: new Date(channel.stream?.startedAt ?? now).toISOString(),
  }),
  /** Uses the running stream. On an offline channel, uses the last stream, or a random id if there is none. */
  'stream.offline': ({ channel, random }) => {
    const stream = channel.stream ?? channel.pastStreams.at(-1);
    return { id: stream?.id ?? random.digits(15), ...identify('broadcaster_user', channel.broadcaster) };
  },
  'channel.update': ({ random, channel }) => ({
    ...identify('broadcaster_user', channel.broadcaster),
    title: channel.title,
    language: channel.language,
    category_id: channel.category.id,
    category_name: channel.category.name,
    content_classification_labels: random.chance(0.2) ? ['ProfanityVulgarity'] : [],
  }),
  'channel.ad_break.begin': (scene) => {
    const { random, channel, now } = scene;
    const isAutomatic = random.chance(0.5);
    return {
      duration_seconds: random.pick([30, 60, 90, 180]),
      started_at: now.toISOString(),
      is_automatic: isAutomatic,
      ...scene.broadcasterFields,
      ...identify('requester_user', isAutomatic ? channel.broadcaster : pickModerator(scene)),
    };
  },
  'channel.raid': raid,
  'channel.shoutout.create': (scene) => {
    const { random, otherChannel, now } = scene;
    return {
      ...scene.broadcasterFields,
      ...identify('to_broadcaster_user', otherChannel.broadcaster),
      ...identifyModerator(scene),
      viewer_count: random.integer(3, 900),
      started_at: now.toISOString(),
      // The platform allows one shoutout per 2 minutes, and one per hour for the same channel.
      cooldown_ends_at: after(now, 120),
      target_cooldown_ends_at: after(now, 3_600),
    };
  },
  'channel.shoutout.receive': ({ random, otherChannel, now, broadcasterFields }) => ({
    ...broadcasterFields,
    ...identify('from_broadcaster_user', otherChannel.broadcaster),
    viewer_count: random.integer(3, 900),
    started_at: now.toISOString(),
  }),
  'channel.shared_chat.begin': (scene) => ({ ...shareChat(scene), participants: listParticipants(scene) }),
  'channel.shared_chat.update': (scene) => ({ ...shareChat(scene), participants: listParticipants(scene) }),
  'channel.shared_chat.end': shareChat,
  'channel.guest_star_session.begin': (scene) => ({
    ...scene.broadcasterFields,
    session_id: scene.random.uuid(),
    started_at: scene.now.toISOString(),
    ...perhapsModerator(scene),
  }),
  'channel.guest_star_session.end': (scene) => {
    const { random, channel, now } = scene;
    return {
      ...scene.broadcasterFields,
      session_id: random.uuid(),
      started_at: after(now, -random.integer(300, 7_200)),
      ended_at: now.toISOString(),
      ...(random.chance(0.5) && identify('host_user', channel.broadcaster)),
      ...perhapsModerator(scene),
    };
  },
  /** An empty slot has no guest. */
  'channel.guest_star_guest.update': (scene) => {
    const { random, viewer, channel } = scene;
    const isPresent = random.chance(0.7);
    return {
      ...scene.broadcasterFields,
      session_id: random.uuid(),
      ...identify('moderator_user', random.chance(0.5) ? pickModerator(scene) : null),
      ...identify('guest_user', isPresent ? viewer : null),
      slot_id: isPresent ? String(random.integer(1, 5)) : null,
      state: isPresent ? random.pick(['invited', 'accepted', 'ready', 'backstage', 'live']) : null,
      ...identify('host_user', channel.broadcaster),
      host_video_enabled: isPresent ? true : null,
      host_audio_enabled: isPresent ? random.chance(0.9) : null,
      host_volume: isPresent ? random.integer(0, 100) : null,
    };
  },
  'channel.guest_star_settings.update': ({ random, broadcasterFields }) => ({
    ...broadcasterFields,
    is_moderator_send_live_enabled: random.chance(0.5),
    slot_count: random.integer(1, 5),
    is_browser_source_audio_enabled: random.chance(0.8),
    group_layout: random.pick(['tiled', 'screenshare', 'horizontal_top', 'vertical_left']),
  }),
};

/** An incoming raid, or an outgoing one if the subscription is to outgoing raids. */
function raid({ random, channel, otherChannel, condition }: Scene): EventPayload {
  const leaves = condition.from_broadcaster_user_id !== undefined;
  const [from, to] = leaves ? [channel, otherChannel] : [otherChannel, channel];
  return {
    ...identify('from_broadcaster_user', from.broadcaster),
    ...identify('to_broadcaster_user', to.broadcaster),
    viewers: random.integer(3, 900),
  };
}

function shareChat({ random, channel, otherChannel, broadcasterFields }: Scene): EventPayload {
  const host = random.pick([channel, otherChannel]);
  return {
    session_id: random.uuid(),
    ...broadcasterFields,
    ...identify('host_broadcaster_user', host.broadcaster),
  };
}

function listParticipants({ channel, otherChannel }: Scene): EventPayload[] {
  return [channel, otherChannel].map(({ broadcaster }) => identify('broadcaster_user', broadcaster));
}

// The platform documents these events incompletely. The moderator can be missing or null.
function perhapsModerator(scene: Scene): EventPayload {
  const { random } = scene;
  if (random.chance(0.3)) return {};
  const moderator: Person | null = random.chance(0.8) ? pickModerator(scene) : null;
  return identify('moderator_user', moderator);
}
