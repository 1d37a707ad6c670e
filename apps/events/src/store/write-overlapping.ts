import { hash } from 'node:crypto';
import { takeKeyedAdvisoryLocks } from '@stream-events/database';
import type { Delivery } from '@stream-events/contracts';
import type { Pool, PoolClient } from 'pg';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';
import { findReceivedKeys, inTransaction, rememberKeys } from './write-transaction.js';

/** A delivery for which the platform reported the subscription and the message's time, so it can be paired. */
export interface PairableRow extends EventRow {
  delivery: Delivery;
  occurredAt: number;
}

/** False, for example, for an event that a client posted, which has no `delivery`. */
export function isPairable(row: EventRow): row is PairableRow {
  return row.delivery != null && row.occurredAt != null && row.eventId !== null && row.origin === 'platform';
}

/** The ends of a subscription's overlaps, in milliseconds since 1970. */
export interface OverlapEnds {
  /** The end of the previous overlap; minus infinity when there was none. */
  previousEnd: number;
  /** The end of the current overlap; infinity until it ends. */
  end: number;
}

interface PairableDelivery {
  row: PairableRow;
  pairingKey: string;
  ends: OverlapEnds;
}

/** A stored event that only one of the two subscriptions has delivered; times are in milliseconds since 1970. */
interface Unpaired {
  eventId: string;
  pairingKey: string;
  via: string;
  occurredAt: number;
  subscribedAt: number;
}

// Maximum difference between the times of two paired messages. The platform creates both messages at once, but a redelivery may carry a
// later time. First redeliveries follow within a minute. A longer window would pair more of the later redeliveries. But it would also merge
// two equal occurrences when the platform loses one subscription's message about the first and the other's about the second.
export const maxApartMs = 60_000;

/**
 * Maximum difference between the times of two messages that are paired across the end of an overlap, in milliseconds. The two messages
 * about one occurrence may lie on both sides of the end. If one of two equal deliveries across the end has no partner of its own, this rule
 * merges the two occurrences when they are this close. A larger value would therefore lose events when a channel gets equal cheers in quick
 * succession.
 */
export const edgeMs = 25;

const noEnds: OverlapEnds = { previousEnd: -Infinity, end: Infinity };

// Maximum number of different locks, because PostgreSQL by default has room for 64 locks per connection.
const lockedParts = 64;

/**
 * Writes deliveries of overlapping subscriptions. Two subscriptions with the same type and condition deliver each occurrence twice, with
 * different message ids. Of each pair of deliveries, stores the first, and records the message of the second as known, with the id of the
 * stored event. Pairs are one to one, so two equal occurrences stay two events. Idempotent by message key, like `writeBatch`.
 *
 * ```
 * message id known? ──yes──▶ known
 *    │ no
 * unpaired delivery of the other subscription, with the same type, condition, and event bytes, at most 60 s apart, and not older
 * than either subscription? ──yes──▶ known as that event, which is paired now
 *    │ no
 *    ▼
 * stored, and unpaired
 * ```
 *
 * The two deliveries of an occurrence often arrive in the same millisecond at different instances, so writers of equal deliveries wait for
 * each other. A writer takes all locks at once, before it touches a row, so that writers cannot deadlock.
 *
 * @param rows sorted by key and without repeated keys
 * @param ends the ends of the overlaps, by subscription
 */
export async function writeOverlapping(
  pool: Pool,
  rows: readonly PairableRow[],
  ends: ReadonlyMap<string, OverlapEnds>,
): Promise<WrittenBatch> {
  const deliveries = rows.map((row) => ({
    row,
    ends: ends.get(row.delivery.subscription) ?? noEnds,
    pairingKey: pairingKeyOf(row),
  }));
  return inTransaction(pool, async (client) => {
    await takeKeyedAdvisoryLocks(
      client,
      'overlappingDeliveries',
      deliveries.map(({ pairingKey }) => partOf(pairingKey)),
    );
    // Separate statements, because their snapshots must be newer than the locks.
    const received = await findReceivedKeys(client, rows);
    const pairing = new Pairing(await findUnpaired(client, deliveries));
    // Pair in order of time, so that neighbors become partners.
    const inOrder = deliveries
      .filter(({ row }) => !received.has(row.key))
      .sort((one, other) => one.row.occurredAt - other.row.occurredAt);
    for (const delivery of inOrder) pairing.add(delivery);
    if (pairing.repeated.length > 0) await rememberKeys(client, pairing.repeated);
    if (pairing.paired.length > 0) await removeUnpaired(client, pairing.paired);
    const fresh = rows.filter((row) => pairing.fresh.has(row));
    const written = fresh.length > 0 ? await writeBatch(client, fresh) : { outboxId: null, stored: [] };
    const stored = new Set(written.stored.map(({ id }) => id));
    const unpaired = [...pairing.unpaired].filter(({ eventId }) => stored.has(eventId));
    if (unpaired.length > 0) await addUnpaired(client, unpaired);
    return written;
  });
}

class Pairing {
  /** Deliveries to store. */
  readonly fresh = new Set<EventRow>();
  /** New events that are still unpaired. */
  readonly unpaired = new Set<Unpaired>();
  /** Deliveries that repeat a stored event. */
  readonly repeated: { key: string; id: string }[] = [];
  /** Ids of events that were stored as unpaired, and that this batch pairs. */
  readonly paired: string[] = [];
  private readonly candidates = new Map<string, Set<Unpaired>>();

  constructor(unpaired: readonly Unpaired[]) {
    for (const each of unpaired) this.candidatesFor(each).add(each);
  }

  add({ row, pairingKey, ends }: PairableDelivery): void {
    const { via, subscribedAt } = row.delivery;
    const own: Unpaired = { eventId: row.id, pairingKey, via, occurredAt: row.occurredAt, subscribedAt };
    const candidates = this.candidatesFor(own);
    const partner = findNearest(own, candidates, ends);
    if (!partner) {
      candidates.add(own);
      this.unpaired.add(own);
      this.fresh.add(row);
      return;
    }
    candidates.delete(partner);
    this.repeated.push({ key: row.key, id: partner.eventId });
    if (!this.unpaired.delete(partner)) this.paired.push(partner.eventId);
  }

  private candidatesFor({ pairingKey }: Unpaired): Set<Unpaired> {
    const found = this.candidates.get(pairingKey) ?? new Set();
    this.candidates.set(pairingKey, found);
    return found;
  }
}

/**
 * Returns the partner nearest in time; undefined when there is none. This way, a delivery whose partner was lost stays unpaired and does
 * not take the partner of a later delivery.
 */
function findNearest(own: Unpaired, candidates: Iterable<Unpaired>, ends: OverlapEnds): Unpaired | undefined {
  let nearest: Unpaired | undefined;
  for (const other of candidates) {
    if (!isPair(own, other, ends)) continue;
    if (!nearest || apart(own, other) < apart(own, nearest)) nearest = other;
  }
  return nearest;
}

/**
 * A subscription delivers nothing from before its creation, so an older delivery of the other subscription has no partner. Across the end
 * of an overlap, two deliveries are a pair only within `edgeMs`, even when the next overlap has begun.
 */
function isPair(one: Unpaired, other: Unpaired, { previousEnd, end }: OverlapEnds): boolean {
  const earlier = Math.min(one.occurredAt, other.occurredAt);
  const later = Math.max(one.occurredAt, other.occurredAt);
  const isDivided = later > end || (earlier <= previousEnd && later > previousEnd);
  const maxMs = isDivided ? edgeMs : maxApartMs;
  return (
    one.via !== other.via &&
    apart(one, other) <= maxMs &&
    one.occurredAt >= other.subscribedAt &&
    other.occurredAt >= one.subscribedAt
  );
}

function apart(one: Unpaired, other: Unpaired): number {
  return Math.abs(one.occurredAt - other.occurredAt);
}

/** Returns a hash of type, condition, and event bytes: 128 bits in the form of a UUID. */
function pairingKeyOf({ delivery, eventData }: PairableRow): string {
  const hex = hash('sha256', `${delivery.subscription}\0${eventData}`, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

function partOf(pairingKey: string): string {
  return String(Number.parseInt(pairingKey.slice(0, 8), 16) % lockedParts);
}

async function findUnpaired(
  client: PoolClient,
  deliveries: readonly PairableDelivery[],
): Promise<Unpaired[]> {
  const times = deliveries.map(({ row }) => row.occurredAt);
  const { rows } = await client.query<Unpaired>(
    `SELECT event_id AS "eventId", pairing_key AS "pairingKey", via,
            (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt",
            (extract(epoch FROM subscribed_at) * 1000)::float8 AS "subscribedAt"
     FROM unpaired_deliveries
     WHERE pairing_key = ANY($1::uuid[]) AND occurred_at BETWEEN to_timestamp($2) AND to_timestamp($3)`,
    [
      [...new Set(deliveries.map(({ pairingKey }) => pairingKey))],
      (Math.min(...times) - maxApartMs) / 1_000,
      (Math.max(...times) + maxApartMs) / 1_000,
    ],
  );
  return rows;
}

async function removeUnpaired(client: PoolClient, eventIds: readonly string[]): Promise<void> {
  await client.query('DELETE FROM unpaired_deliveries WHERE event_id = ANY($1::uuid[])', [eventIds]);
}

async function addUnpaired(client: PoolClient, unpaired: readonly Unpaired[]): Promise<void> {
  await client.query(
    `INSERT INTO unpaired_deliveries (event_id, pairing_key, via, occurred_at, subscribed_at)
     SELECT event_id, pairing_key, via, to_timestamp(occurred_at / 1000), to_timestamp(subscribed_at / 1000)
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::float8[])
       AS input (event_id, pairing_key, via, occurred_at, subscribed_at)`,
    [
      unpaired.map(({ eventId }) => eventId),
      unpaired.map(({ pairingKey }) => pairingKey),
      unpaired.map(({ via }) => via),
      unpaired.map(({ occurredAt }) => occurredAt),
      unpaired.map(({ subscribedAt }) => subscribedAt),
    ],
  );
}
