import { findEventType } from '@stream-events/platforms';
import type { Channel, Person, Viewer } from '../population.js';
import type { Random } from '../random.js';

/** A subscription's condition: keys such as `broadcaster_user_id`, with their values. */
export type Condition = Readonly<Record<string, string>>;

/** The `event` field of a notification. */
export type EventPayload = Record<string, unknown>;

/** Everything that a builder needs to describe an event. */
export interface Scene {
  readonly random: Random;
  readonly channel: Channel;
  /** The viewer who causes the event or whom it concerns. */
  readonly viewer: Viewer;
  /** For events with two viewers. */
  readonly otherViewer: Viewer;
  /** The user whom the subscription's condition names in `user_id`. Default: the viewer. */
  readonly listener: Person;
  /** The second channel, such as the other side of a raid or a shared chat. */
  readonly otherChannel: Channel;
  /** The subscription's condition. Empty if there is no subscription. */
  readonly condition: Condition;
  readonly now: Date;
  /** The broadcaster's id, login, and name, which most events have. */
  readonly broadcasterFields: EventPayload;
  /** The fields for the broadcaster and the acting viewer. */
  readonly userFields: EventPayload;
}

/** Builds an event of one type. */
export type PayloadBuilder = (scene: Scene) => EventPayload;

/** Keys: `type`, or `type/version` if the versions differ. */
export type PayloadBuilders = Readonly<Record<string, PayloadBuilder>>;

/** The fields for id, login, and name of a person. All are null for an anonymous person. */
export function identify(prefix: string, person: Person | null): EventPayload {
  return {
    [`${prefix}_id`]: person?.id ?? null,
    [`${prefix}_login`]: person?.login ?? null,
    [`${prefix}_name`]: person?.name ?? null,
  };
}

export function createScene(parts: Omit<Scene, 'broadcasterFields' | 'userFields'>): Scene {
  const broadcasterFields = identify('broadcaster_user', parts.channel.broadcaster);
  return {
    ...parts,
    broadcasterFields,
    userFields: { ...broadcasterFields, ...identify('user', parts.viewer) },
  };
}

/** Picks the broadcaster or a moderator, but never the viewer whom the event concerns. */
export function pickModerator({ random, channel, viewer }: Scene): Person {
  return random.pick([channel.broadcaster, ...channel.moderators.filter(({ id }) => id !== viewer.id)]);
}

/** The fields for the acting moderator. */
export function identifyModerator(scene: Scene): EventPayload {
  return identify('moderator_user', pickModerator(scene));
}

/** Negative numbers give a time before `now`. */
export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

/** The type's nullable fields, all set to null. */
export function emptyDetails(type: string, version: string): EventPayload {
  const fields = Object.entries(findEventType(type, version)?.fields ?? {});
  return Object.fromEntries(fields.flatMap(([name, kind]) => (kind.endsWith('|null') ? [[name, null]] : [])));
}
