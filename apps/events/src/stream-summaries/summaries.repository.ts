import { Injectable } from '@nestjs/common';
import {
  firstIdAt,
  maxSummaryTops,
  maxSummaryTypes,
  receivedAt,
  type GivenTotal,
  type RaidTotal,
  type ReadLimits,
  type StreamSummaryMessage,
  type TierCount,
} from '@stream-events/contracts';
import { streamSummaryRules } from '@stream-events/platforms';
import { readDespiteDrops } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import type { Partition } from '../store/partitions.js';
import type { SummaryPeriod } from './summary-period.js';
import {
  countTypes,
  limitParameters,
  sumRaids,
  sumRules,
  type RaidRow,
  type RuleSum,
} from './summary-statements.js';

interface TypeRow {
  eventType: string;
  events: number;
  users: number;
}

/**
 * Maximum difference between an event's time and its receipt. The gateway rejects platform messages whose time is more than ten minutes
 * off.
 */
export const maxReceiptGapMs = 15 * 60_000;

const { follower, chatMessage, rules, raids } = streamSummaryRules;
const raidStatement = sumRaids(raids);

@Injectable()
export class SummariesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Summarizes a period of a channel.
   *
   * @param partitions the partitions of `events`, oldest first
   * @param limits count only the events that a reader may see
   */
  async compute(
    period: SummaryPeriod,
    partitions: readonly Partition[],
    limits: ReadLimits,
  ): Promise<StreamSummaryMessage> {
    const parameters = toParameters(period, partitions, limits);
    const sums = await readDespiteDrops(() =>
      this.dataSource.transaction('REPEATABLE READ', (transaction) => read(transaction, parameters)),
    );
    return { isPartial: period.keptFrom !== null, ...sums };
  }
}

async function read(
  transaction: EntityManager,
  { values, scan }: Parameters,
): Promise<Omit<StreamSummaryMessage, 'isPartial'>> {
  await prepare(transaction);
  const types = await transaction.query<TypeRow[]>(countTypes, [...values, ...scan]);
  const counts = new Map(types.map(({ eventType, events }) => [eventType, events]));
  const applying = rules.filter(
    ({ eventType, unless }) => counts.has(eventType) && (unless === undefined || !counts.has(unless)),
  );
  const sums = applying.length > 0 ? await transaction.query<RuleSum[]>(sumRules(applying), values) : [];
  const hasRaids = raids.some(({ eventType }) => counts.has(eventType));
  const raidRows = hasRaids ? await transaction.query<RaidRow[]>(raidStatement, values) : [];
  const chat = types.find(({ eventType }) => eventType === chatMessage);
  return {
    events: types.reduce((sum, { events }) => sum + events, 0),
    eventTypes: types
      .slice(0, maxSummaryTypes)
      .map(({ eventType, events }) => ({ eventType, count: events })),
    followers: counts.get(follower) ?? 0,
    tiers: toTiers(sums),
    gifts: toGiven(sums, 'gifts'),
    bits: toGiven(sums, 'bits'),
    incomingRaids: toRaids(raidRows, 'incoming'),
    outgoingRaids: toRaids(raidRows, 'outgoing'),
    chatMessages: chat?.events ?? 0,
    chatters: chat?.users ?? 0,
  };
}

async function prepare(transaction: EntityManager): Promise<void> {
  // JIT compilation would take longer than running these statements.
  await transaction.query('SET LOCAL jit = off');
  // Enough for the list of chatters of a large stream.
  await transaction.query("SET LOCAL work_mem = '16MB'");
}

/** The parameters of all statements (see `inPeriod`), and two more for `countTypes`. */
interface Parameters {
  values: unknown[];
  scan: unknown[];
}

function toParameters(
  { channelId, from, to, keptFrom }: SummaryPeriod,
  partitions: readonly Partition[],
  limits: ReadLimits,
): Parameters {
  const first = Math.max(from, keptFrom ?? from);
  const lowest = firstIdAt(first - maxReceiptGapMs);
  const highest = firstIdAt(to + 1 + maxReceiptGapMs);
  const scanned = partitions.filter((partition) => partition.from < highest && partition.to > lowest);
  const values = [
    channelId,
    lowest,
    highest,
    firstIdAt(first),
    firstIdAt(to + 1),
    new Date(first),
    new Date(to),
    ...limitParameters(limits),
  ];
  return { values, scan: [scanned[0]?.from ?? lowest, scanned.at(-1)?.to ?? highest] };
}

function toTiers(sums: readonly RuleSum[]): TierCount[] {
  const tiers = new Map<string, TierCount>();
  const counts = { subscription: 'new', giftedSubscription: 'gifted', renewal: 'renewed' } as const;
  for (const { adds, of, tier, total } of sums) {
    if (of !== 'tier' || tier === null || !(adds in counts)) continue;
    const counted = tiers.get(tier) ?? { tier, new: 0, gifted: 0, renewed: 0 };
    counted[counts[adds as keyof typeof counts]] += total; // Safe cast: checked above.
    tiers.set(tier, counted);
  }
  const totalOf = (count: TierCount): number => count.new + count.gifted + count.renewed;
  return [...tiers.values()]
    .sort((one, other) => totalOf(other) - totalOf(one) || (one.tier < other.tier ? -1 : 1))
    .slice(0, maxSummaryTops);
}

function toGiven(sums: readonly RuleSum[], adds: 'gifts' | 'bits'): GivenTotal {
  const given = sums.filter((sum) => sum.adds === adds);
  const users = given.filter(({ of }) => of === 'user');
  return {
    total: given.find(({ of }) => of === 'all')?.total ?? 0,
    anonymous: users.find(({ userId }) => userId === null)?.total ?? 0,
    top: users.flatMap(({ userId, userName, total }) =>
      userId === null ? [] : [{ userId, userName, total }],
    ),
  };
}

function toRaids(rows: readonly RaidRow[], direction: RaidRow['direction']): RaidTotal {
  const raidRows = rows.filter((row) => row.direction === direction);
  return {
    count: raidRows[0]?.count ?? 0,
    viewers: raidRows[0]?.total ?? 0,
    top: raidRows.map(({ id, occurredAt, channelId, channelName, viewers }) => ({
      at: occurredAt ?? receivedAt(id),
      channelId,
      channelName,
      viewers,
    })),
  };
}
