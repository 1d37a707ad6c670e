import {
  eventFilters,
  limitFields,
  maxSummaryTops,
  readLimits,
  type ReadLimits,
} from '@stream-events/contracts';
import type { RaidRule, SummaryRule } from '@stream-events/platforms';

// The first parameter number for a reader's limits.
const firstLimit = 8;

const withinLimits = limitFields
  .map((field, index) => {
    const list = `$${firstLimit + index}::text[]`;
    const matches = eventFilters[readLimits[field]].columns.map((column) => `${column} = ANY (${list})`);
    return `(${[`${list} IS NULL`, ...matches].join(' OR ')})`;
  })
  .join(' AND ');

/**
 * Returns the parameters with the lists of a reader's limits; null where the reader has no such limit. These parameters follow the
 * parameters of the period.
 */
export function limitParameters(limits: ReadLimits): (readonly string[] | null)[] {
  return limitFields.map((field) => limits[field] ?? null);
}

/**
 * The condition that an event is from the platform, in the period, and within the reader's limits. Its parameters follow the channel ($1):
 *
 * $2, $3: the range of ids that contains the events. An id contains the time of receipt, so this range is wider than the period.
 * $4, $5: the range of ids for events whose only time is the time of receipt.
 * $6, $7: the first and the last time of the period.
 * $8, $9: the lists of the limits (see `limitParameters`).
 */
const inPeriod = `id >= $2::uuid AND id < $3::uuid AND origin = 'platform'
  AND CASE WHEN occurred_at IS NULL THEN id >= $4::uuid AND id < $5::uuid ELSE occurred_at BETWEEN $6 AND $7 END
  AND ${withinLimits}`;

const highSurrogate = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}`;
const lowSurrogate = String.raw`\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
// Matches up to a backslash that begins an escape: an even number of backslashes precedes it.
const atEscape = String.raw`(?:^|[^\\])(?:\\\\)*`;
/** Matches an escaped NUL or half an escaped surrogate pair. Both escapes are valid in JSON, but PostgreSQL cannot convert them to text. */
const unreadable =
  `(?<=${atEscape})(?:` +
  [
    String.raw`\\u0000`,
    `${highSurrogate}(?!${lowSurrogate})`,
    `(?<!${atEscape}${highSurrogate})${lowSurrogate}`,
  ].join('|') +
  ')';
const readableData = String.raw`CASE WHEN strpos(event_data::text, '\u') = 0 THEN event_data
  ELSE regexp_replace(event_data::text, '${unreadable}', '\\ufffd', 'g')::json END AS data`;

/**
 * Returns the SQL for a channel's first event type after a given type. Only the index on (broadcaster_user_id, event_type, id) can return
 * it without a sort.
 */
function firstType(after: string): string {
  // $10 and $11 span whole partitions: they exclude no index entry of a partition, so the scan ends at its first entry.
  return `SELECT broadcaster_user_id AS channel, event_type FROM events
    WHERE (broadcaster_user_id, event_type) ${after} AND broadcaster_user_id IS NOT NULL AND id >= $10::uuid AND id < $11::uuid
    ORDER BY broadcaster_user_id, event_type LIMIT 1`;
}

/**
 * Counts the events and distinct acting users of each type. Skips through the channel's types (a loose index scan), and reads the events of
 * each type in the period.
 */
export const countTypes = `
  WITH RECURSIVE types AS (
    (${firstType(`>= ($1::text, '')`)})
    UNION ALL
    SELECT next.channel, next.event_type FROM types
    CROSS JOIN LATERAL (${firstType('> (types.channel, types.event_type)')}) AS next
    WHERE types.channel = $1
  ), counted AS (
    SELECT types.event_type, events, users FROM types
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(events), 0) AS events, count(user_id) AS users FROM (
        SELECT user_id, count(*) AS events FROM events
        WHERE broadcaster_user_id = $1 AND event_type = types.event_type AND ${inPeriod}
          -- The queries below count raids. Exclude raids here, because raids that clients add may also have a broadcaster_user_id.
          AND raid_to_id IS DISTINCT FROM $1 AND raid_from_id IS DISTINCT FROM $1
        GROUP BY user_id
      ) AS users
    ) AS counts
    WHERE types.channel = $1
    UNION ALL
    SELECT event_type, count(*), 0 FROM events WHERE raid_to_id = $1 AND ${inPeriod} GROUP BY event_type
    UNION ALL
    SELECT event_type, count(*), 0 FROM events
    WHERE raid_from_id = $1 AND raid_to_id IS DISTINCT FROM $1 AND ${inPeriod} GROUP BY event_type
  )
  SELECT event_type AS "eventType", sum(events)::float8 AS events, sum(users)::float8 AS users FROM counted
  GROUP BY event_type HAVING sum(events) > 0 ORDER BY events DESC, event_type COLLATE "C"`;

/** A row of `sumRules`. */
export interface RuleSum {
  adds: SummaryRule['adds'] | 'giftedSubscription';
  /** `tier`: the sum for one tier. `user`: the sum for one user, or for all anonymous users together. */
  of: 'all' | 'tier' | 'user';
  tier: string | null;
  userId: string | null;
  userName: string | null;
  total: number;
}

/** Returns the SQL that adds up the values of the rules: in total, per tier, and per user. There must be at least one rule. */
export function sumRules(rules: readonly SummaryRule[]): string {
  return `
    WITH matching AS (${rules.map(selectRule).join(' UNION ALL ')}),
    sums AS (
      SELECT adds, tier, user_id,
        CASE grouping(tier, user_id) WHEN 1 THEN 'tier' WHEN 2 THEN 'user' ELSE 'all' END AS "of",
        -- Takes the latest name: the maximum of id and name together, because ids sort by time. An id has 36 characters.
        substr(max((id::text || user_name) COLLATE "C"), 37) AS user_name,
        sum(amount)::float8 AS total
      FROM matching GROUP BY GROUPING SETS ((adds), (adds, tier), (adds, user_id))
    ), ranked AS (
      SELECT *, row_number() OVER (
        PARTITION BY adds, "of", user_id IS NULL ORDER BY total DESC, tier COLLATE "C", user_id COLLATE "C"
      ) AS rank FROM sums
    )
    SELECT adds, "of", tier, user_id AS "userId", user_name AS "userName", total FROM ranked
    WHERE rank <= ${maxSummaryTops} ORDER BY adds, "of", rank`;
}

function selectRule(rule: SummaryRule): string {
  const { eventType, adds, amount, tier, isGift, userId, userName, isAnonymous, only, except } = rule;
  const keys = [amount, tier, isGift, userId, userName, isAnonymous, only?.key, except?.key];
  const user = userId === undefined ? 'NULL' : `left(nullif(${value(userId)}, ''), 255)`;
  const conditions = [
    ...(only ? [`${value(only.key)} = ${quote(only.value)}`] : []),
    ...(except ? [`${value(except.key)} IS DISTINCT FROM ${quote(except.value)}`] : []),
  ];
  return `
    SELECT id,
      ${isGift === undefined ? quote(adds) : `CASE WHEN ${value(isGift)} = 'true' THEN 'giftedSubscription' ELSE ${quote(adds)} END`} AS adds,
      ${amount === undefined ? '1::bigint' : toNumber(amount)} AS amount,
      ${tier === undefined ? 'NULL' : `coalesce(left(${value(tier)}, 32), '')`}::text AS tier,
      ${isAnonymous === undefined ? user : `CASE WHEN ${value(isAnonymous)} = 'true' THEN NULL ELSE ${user} END`}::text AS user_id,
      ${userName === undefined ? 'NULL' : `left(${value(userName)}, 255)`}::text AS user_name
    FROM (
      SELECT id, ${readableData} FROM events
      WHERE broadcaster_user_id = $1 AND event_type = ${quote(eventType)} AND ${inPeriod}
    ) AS event CROSS JOIN LATERAL ${toRecord(keys)}
    ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}`;
}

/** A row of `sumRaids`: one of the largest raids, and the total raids and viewers in its direction. */
export interface RaidRow {
  direction: 'incoming' | 'outgoing';
  id: string;
  /** Milliseconds since 1970. */
  occurredAt: number | null;
  channelId: string | null;
  channelName: string | null;
  viewers: number;
  count: number;
  total: number;
}

/** Returns the SQL that counts raids and their viewers per direction and selects the largest raids. There must be at least one rule. */
export function sumRaids(rules: readonly RaidRule[]): string {
  const raids = rules.flatMap((rule) => [
    selectRaids(rule, {
      direction: 'incoming',
      own: 'raid_to_id',
      other: 'raid_from_id',
      name: rule.fromName,
    }),
    selectRaids(rule, { direction: 'outgoing', own: 'raid_from_id', other: 'raid_to_id', name: rule.toName }),
  ]);
  return `
    WITH raids AS (${raids.join(' UNION ALL ')}),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY direction ORDER BY viewers DESC, id) AS rank,
        count(*) OVER (PARTITION BY direction)::float8 AS count,
        sum(viewers) OVER (PARTITION BY direction)::float8 AS total
      FROM raids
    )
    SELECT direction, id, (extract(epoch FROM occurred_at) * 1000)::float8 AS "occurredAt", other AS "channelId",
      name AS "channelName", viewers::float8 AS viewers, count, total
    FROM ranked WHERE rank <= ${maxSummaryTops} ORDER BY direction, rank`;
}

function selectRaids(
  { eventType, viewers }: RaidRule,
  side: { direction: RaidRow['direction']; own: string; other: string; name: string },
): string {
  return `
    SELECT ${quote(side.direction)} AS direction, id, occurred_at, other,
      left(${value(side.name)}, 255) AS name, ${toNumber(viewers)} AS viewers
    FROM (
      SELECT id, occurred_at, ${side.other} AS other, ${readableData} FROM events
      WHERE ${side.own} = $1 AND event_type = ${quote(eventType)} AND ${inPeriod}
    ) AS event CROSS JOIN LATERAL ${toRecord([viewers, side.name])}`;
}

/** Returns the SQL that parses an event's data once for all keys. */
function toRecord(keys: readonly (string | undefined)[]): string {
  const names = [...new Set(keys.filter((key) => key !== undefined))];
  return `json_to_record(event.data) AS value (${names.map((name) => `${quoteName(name)} text`).join(', ')})`;
}

function value(key: string): string {
  return `value.${quoteName(key)}`;
}

/** Returns the SQL for a whole number of up to nine digits. Other values count as 0; only clients can send them. */
function toNumber(key: string): string {
  return `CASE WHEN ${value(key)} ~ '^[0-9]{1,9}$' THEN ${value(key)}::bigint ELSE 0 END`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
