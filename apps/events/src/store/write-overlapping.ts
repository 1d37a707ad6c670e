import { hash } from 'node:crypto';
import { takeKeyedAdvisoryLocks } from '@stream-events/database';
import type { Delivery } from '@stream-events/contracts';
import type { Pool, PoolClient } from 'pg';
import { writeBatch, type EventRow, type WrittenBatch } from './write-batch.js';
import { findReceivedKeys, inTransaction, rememberKeys } from './write-transaction.js';

/** A delivery that can be paired: the platform reported the subscription and the time of the message. */
export interface PairableRow extends EventRow {
  delivery: Delivery;
  occurredAt: number;
}

/** Whether a row can be paired. A dead letter that an older version stored has no delivery. */
export function isPairable(row: EventRow): row is PairableRow {
  return row.delivery != null && row.occurredAt != null && row.eventId !== null && row.origin === 'platform';
}

/** The ends of the overlaps of a subscription, in milliseconds since 1970. */
export interface OverlapEnds {
  /** The end of the overlap before the current one; minus infinity when there was none. */
  previousEnd: number;
  /** The end of the current overlap; infinite until the end is known. */
  end: number;
}

interface PairableDelivery {
  row: PairableRow;
  pairingKey: string;
  ends: OverlapEnds;
}

/** A stored event that only one of the two subscriptions has delivered so far. Times are in milliseconds since 1970. */
interface Unpaired {
  eventId: string;
  pairingKey: string;
  via: string;
  occurredAt: number;
  subscribedAt: number;
}

// Maximum time between two messages that are paired. The platform creates the two messages about an occurrence at the same time. A message
// that could not be delivered at first may be redelivered with a later time. The first redeliveries follow within a minute. A longer window
// would pair more of the later redeliveries. But it would also count two equal occurrences as one if the platform lost one subscription's
// message about the first occurrence and the other subscription's message about the second.
const maxApartMs = 60_000;

/**
 * The largest difference in milliseconds between the times of two messages that are paired across the end of an overlap. The two messages
 * about one occurrence may have times on both sides of the end. At the end, two equal occurrences that are closer together than this can be
 * counted as one if a delivery of the first one has no partner. A longer time would lose events when a channel gets equal cheers in quick
 * succession.
 */
export const edgeMs = 25;

const noEnds: OverlapEnds = { previousEnd: -Infinity, end: Infinity };

// Limits the number of locks per transaction, because PostgreSQL has room for 64 locks per connection by default.
const lockedParts = 64;

/**
 * Writes deliveries of subscriptions that overlap. Two subscriptions with the same type and condition deliver each occurrence twice, under
 * different message ids. Pairs the deliveries of the two subscriptions one to one: stores the first delivery of a pair, and records the
 * message of the second delivery as known, with the id of the stored event. Two equal occurrences remain two events. Idempotent by message
 * key, like `writeBatch`.
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
 * Concurrent writers of equal deliveries wait for each other: both deliveries often arrive in the same millisecond, at different
 * instances. A writer takes all its locks at once, before it touches a row, so that two writers do not deadlock.
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
    // These reads are separate statements, because their snapshots must be newer than the locks.
    const received = await findReceivedKeys(client, rows);
    const pairing = new Pairing(await findUnpaired(client, deliveries));
    // Pairs deliveries in the order of their times, so that neighbors become partners.
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

/** Pairs deliveries, one after the other. */
class Pairing {
  /** The deliveries to store. */
  readonly fresh = new Set<EventRow>();
  /** The new events that are still unpaired. */
  readonly unpaired = new Set<Unpaired>();
  /** The deliveries that repeat a stored event. */
  readonly repeated: { key: string; id: string }[] = [];
  /** The ids of stored events that were unpaired before this batch, and are paired now. */
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
 * Returns the partner that is nearest in time; undefined when there is none. A delivery whose partner was lost then stays unpaired and does
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
 * Whether two deliveries are a pair. A subscription delivers nothing from before it was created, so an older delivery of the other
 * subscription has no partner. A delivery from before the end of an overlap and a delivery from after the end are a pair only if they are
 * at most `edgeMs` apart, even when the next overlap has begun.
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

/** Returns a key that is the same for all deliveries with the same type, condition, and event bytes: 128 bits in the form of a UUID. */
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
