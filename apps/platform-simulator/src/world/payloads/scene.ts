import { findEventType } from '@stream-events/platforms';
import type { Channel, Person, Viewer } from '../population.js';
import type { Random } from '../random.js';

/** The condition of a subscription: keys such as `broadcaster_user_id`, and their values. */
export type Condition = Readonly<Record<string, string>>;

/** The `event` part of a notification. */
export type EventPayload = Record<string, unknown>;

/** What an event is about, ready to be told. */
export interface Scene {
  readonly random: Random;
  readonly channel: Channel;
  /** The viewer who does it. */
  readonly viewer: Viewer;
  /** Another viewer, for what takes two. */
  readonly otherViewer: Viewer;
  /** Whose own affairs it is about, for types that are about a user and not about a channel. */
  readonly listener: Person;
  /** Another channel: that a raid comes from, that chat is shared with. */
  readonly otherChannel: Channel;
  /** What the subscription asks for; empty when the event is for nobody in particular. */
  readonly condition: Condition;
  readonly now: Date;
}

/** Tells an event of one type. */
export type PayloadBuilder = (scene: Scene) => EventPayload;

/** The builders of a group of types, by type; where versions differ, by `type/version`. */
export type PayloadBuilders = Readonly<Record<string, PayloadBuilder>>;

/** The three fields that name a person, null for someone who stays anonymous. */
export function identify(prefix: string, person: Person | null): EventPayload {
  return {
    [`${prefix}_id`]: person?.id ?? null,
    [`${prefix}_login`]: person?.login ?? null,
    [`${prefix}_name`]: person?.name ?? null,
  };
}

/** The broadcaster's three fields, which most events have. */
export function identifyBroadcaster({ channel }: Scene): EventPayload {
  return identify('broadcaster_user', channel.broadcaster);
}

/** The broadcaster and the viewer who does it. */
export function identifyBoth(scene: Scene): EventPayload {
  return { ...identifyBroadcaster(scene), ...identify('user', scene.viewer) };
}

/** Someone who moderates: the broadcaster or one of the moderators, but never the viewer it is about. */
export function pickModerator({ random, channel, viewer }: Scene): Person {
  return random.pick([channel.broadcaster, ...channel.moderators.filter(({ id }) => id !== viewer.id)]);
}

/** A time some seconds from now, or ago when negative. */
export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

/** The fields of a type that are null unless something fills them, from the catalogue. */
export function emptyDetails(type: string, version: string): EventPayload {
  const fields = Object.entries(findEventType(type, version)?.fields ?? {});
  return Object.fromEntries(fields.flatMap(([name, kind]) => (kind.endsWith('|null') ? [[name, null]] : [])));
}
