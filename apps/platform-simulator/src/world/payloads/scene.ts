import { findEventType } from '@stream-events/platforms';
import type { Channel, Person, Viewer } from '../population.js';
import type { Random } from '../random.js';

/** The condition of a subscription: keys such as `broadcaster_user_id`, and their values. */
export type Condition = Readonly<Record<string, string>>;

/** The `event` part of a notification. */
export type EventPayload = Record<string, unknown>;

/** The participants and circumstances of an event. */
export interface Scene {
  readonly random: Random;
  readonly channel: Channel;
  /** The viewer who acts. */
  readonly viewer: Viewer;
  /** Another viewer, for events with two viewers. */
  readonly otherViewer: Viewer;
  /** The user of events that concern a user and not a channel. */
  readonly listener: Person;
  /** Another channel: the source of a raid, or the partner of a shared chat. */
  readonly otherChannel: Channel;
  /** The condition of the subscription; empty for an event without one. */
  readonly condition: Condition;
  readonly now: Date;
}

/** Builds an event of one type. */
export type PayloadBuilder = (scene: Scene) => EventPayload;

/** Builders by type, or by `type/version` if the versions differ. */
export type PayloadBuilders = Readonly<Record<string, PayloadBuilder>>;

/** The three fields that name a person; null for an anonymous person. */
export function identify(prefix: string, person: Person | null): EventPayload {
  return {
    [`${prefix}_id`]: person?.id ?? null,
    [`${prefix}_login`]: person?.login ?? null,
    [`${prefix}_name`]: person?.name ?? null,
  };
}

/** The three fields that name the broadcaster, which most events have. */
export function identifyBroadcaster({ channel }: Scene): EventPayload {
  return identify('broadcaster_user', channel.broadcaster);
}

/** The fields that name the broadcaster and the acting viewer. */
export function identifyBoth(scene: Scene): EventPayload {
  return { ...identifyBroadcaster(scene), ...identify('user', scene.viewer) };
}

/** A random moderator or the broadcaster, but never the viewer whom the event concerns. */
export function pickModerator({ random, channel, viewer }: Scene): Person {
  return random.pick([channel.broadcaster, ...channel.moderators.filter(({ id }) => id !== viewer.id)]);
}

/** The time this many seconds after `now`, or before `now` if the number is negative. */
export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

/** The nullable fields of a type, all null. */
export function emptyDetails(type: string, version: string): EventPayload {
  const fields = Object.entries(findEventType(type, version)?.fields ?? {});
  return Object.fromEntries(fields.flatMap(([name, kind]) => (kind.endsWith('|null') ? [[name, null]] : [])));
}
