import { isJsonObject, parseJson, receivedAt, type Delivery } from '@stream-events/contracts';
import type { EventRow } from './write-batch.js';

/** A platform raid with the subscription that reported it. */
export interface RaidRow extends EventRow {
  delivery: Delivery;
}

/** A raid that is stored or about to be, with the subscriptions that have reported it. */
export interface ReportedRaid extends Pick<EventRow, 'id' | 'occurredAt' | 'eventData'> {
  /** See `channelsOf`. */
  channels: string;
  reports: readonly Delivery[];
}

/** How much earlier or later the other message may have been received: the platform retries each delivery for minutes. */
export const maxRetriedMs = 60 * 60_000;

/**
 * Whether the platform may report this raid twice: to the subscription of the raiding channel and, with another message id, to that of the
 * raided channel. False when the message does not describe its subscription, so that its side is unknown.
 */
export function isPlatformRaid(row: EventRow): row is RaidRow {
  const { origin, eventId, delivery, columns } = row;
  const isOfPlatform = origin === 'platform' && eventId !== null && delivery != null;
  return isOfPlatform && columns.raidFromId !== null && columns.raidToId !== null;
}

/** Returns the same text for all raids of one type between the same channels. */
export function channelsOf({ eventType, columns }: EventRow): string {
  return JSON.stringify([eventType, columns.raidFromId, columns.raidToId]);
}

/**
 * Returns the id of the event that each message reports: the message's own id when it reports a new raid. The first rule that applies
 * decides:
 *
 * ```
 * 1  only the other side has reported raids with as many viewers    the nearest in time
 * 2  only the other side has reported raids                         the nearest in time
 * 3  none of these                                                  a new raid
 * ```
 *
 * Each subscription reports a raid once, so the number of raids does not depend on the order of the messages.
 *
 * @param stored stored raids between the same channels
 */
export function assignRaids(
  raids: readonly RaidRow[],
  stored: readonly ReportedRaid[],
): Map<RaidRow, string> {
  const eventIds = new Map<RaidRow, string>();
  const known = new Map(stored.map((raid) => [raid.id, raid]));
  // In order of time, so that the messages about one of several raids meet.
  for (const raid of raids.toSorted(timeBetween)) {
    const channels = channelsOf(raid);
    const near = [...known.values()].filter(
      (other) =>
        other.channels === channels && Math.abs(receivedAt(raid.id) - receivedAt(other.id)) <= maxRetriedMs,
    );
    const same = findSame(raid, near) ?? { ...raid, channels, reports: [] };
    known.set(same.id, { ...same, reports: [...same.reports, raid.delivery] });
    eventIds.set(raid, same.id);
  }
  return eventIds;
}

/** Returns the raid that this message repeats; undefined when it reports a new one. */
function findSame(raid: RaidRow, others: readonly ReportedRaid[]): ReportedRaid | undefined {
  const otherSide = others.filter(({ reports }) => isReportedByOtherSide(raid, reports));
  const viewers = viewersOf(raid);
  const equal = otherSide.filter((other) => viewersOf(other) === viewers);
  return findNearest(raid, equal) ?? findNearest(raid, otherSide);
}

function isReportedByOtherSide({ delivery }: RaidRow, reports: ReportedRaid['reports']): boolean {
  const subscriptions = new Set(reports.map(({ subscription }) => subscription));
  return subscriptions.size === 1 && !subscriptions.has(delivery.subscription);
}

function findNearest(raid: RaidRow, others: readonly ReportedRaid[]): ReportedRaid | undefined {
  const apart = (other: ReportedRaid): number => Math.abs(timeBetween(raid, other));
  return others.toSorted((one, other) => apart(one) - apart(other))[0];
}

/**
 * Returns the difference in milliseconds: by the platform's clock, or by the times of receipt if the platform did not report both times.
 */
function timeBetween(
  one: Pick<EventRow, 'id' | 'occurredAt'>,
  other: Pick<EventRow, 'id' | 'occurredAt'>,
): number {
  return one.occurredAt != null && other.occurredAt != null
    ? one.occurredAt - other.occurredAt
    : receivedAt(one.id) - receivedAt(other.id);
}

/** Parse here, because PostgreSQL's JSON functions reject a document that contains an escaped NUL anywhere. */
function viewersOf({ eventData }: Pick<EventRow, 'eventData'>): unknown {
  try {
    const data = parseJson(eventData);
    return isJsonObject(data) ? data.viewers : undefined;
  } catch {
    // The database will reject the event with a better message.
    return undefined;
  }
}
