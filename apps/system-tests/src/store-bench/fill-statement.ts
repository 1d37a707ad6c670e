import {
  firstIds,
  rewardsPerChannel,
  startOf,
  tailExponents,
  typeShares,
  viewerGroups,
  type EventForm,
  type EventRange,
  type Population,
} from './population.js';

// A change to the seed or to any expression changes the rows of all stores.
const seed = 20_261_122;

const forms: readonly EventForm[] = ['chat', 'viewer', 'reward', 'cheer', 'raid', 'broadcaster'];
const formNumber = (form: EventForm): number => forms.indexOf(form) + 1;

// Messages are parts of this text.
const text =
  'first time chatter, love the stream, how long have you been playing this? I have tried that jump for three hours yesterday and never ' +
  'made it. The audio is much better today, did you read the patch notes? They changed the whole crafting system!';

/**
 * Builds the SQL statement that fills a table with a range of events. All values are hashes of the event's number, so stores with the same
 * population have the same rows. OFFSET 0 in subqueries makes PostgreSQL compute each value only once.
 *
 * @param columns the table's columns; those that the statement does not know stay null
 */
export function fillStatement(
  table: string,
  columns: readonly string[],
  population: Population,
  range: EventRange,
): string {
  const known = Object.entries(columnValues).filter(([name]) => columns.includes(name));
  const select = known.map(([name, value]) => `${value} AS ${name}`).join(',\n');
  return `INSERT INTO ${table} (${known.map(([name]) => name).join(', ')}) SELECT ${select} FROM (${describedRows(population, range)}) AS row`;
}

const isForm = (form: EventForm): string => `form = ${formNumber(form)}`;
const isAnonymous = `(${isForm('cheer')} AND words & 7 = 0)`;
const hasViewer = `form <= ${formNumber('cheer')}`;

/** Expressions for the columns of `events`, based on `describedRows`. They give the values that the service derives from the data. */
const columnValues: Readonly<Record<string, string>> = {
  id: 'id',
  event_id: `CASE WHEN source <> 'MyBot' THEN message_id END`,
  event_type: 'type',
  event_source: 'source',
  origin: `CASE WHEN source = 'TestCall' THEN 'test' ELSE 'platform' END`,
  event_data: `(CASE form ${forms.map((form) => `WHEN ${formNumber(form)} THEN ${dataOf(form)}`).join('\n')} END)::json`,
  broadcaster_user_id: `CASE WHEN NOT ${isForm('raid')} THEN channel_id END`,
  user_id: `CASE WHEN NOT ${hasViewer} THEN channel_id WHEN NOT ${isAnonymous} THEN viewer_id END`,
  user_name: `CASE WHEN NOT ${hasViewer} THEN channel_login WHEN NOT ${isAnonymous} THEN viewer_login END`,
  reward_id: `CASE WHEN ${isForm('reward')} THEN reward_id END`,
  raid_from: `CASE WHEN ${isForm('raid')} THEN channel_login END`,
  raid_to: `CASE WHEN ${isForm('raid')} THEN 'channel_' || raided END`,
  raid_from_id: `CASE WHEN ${isForm('raid')} THEN channel_id END`,
  raid_to_id: `CASE WHEN ${isForm('raid')} THEN (${firstIds.channel} + raided)::text END`,
  occurred_at: `CASE WHEN source = 'PlatformSub' THEN to_timestamp(received_at / 1000.0) END`,
};

/** SQL for an event's data: JSON text as the platform sends it. */
function dataOf(form: EventForm): string {
  const channel = userKeys('broadcaster_user', 'channel_id', 'channel_login', "'Channel_' || channel");
  const viewer = userKeys('user', 'viewer_id', 'viewer_login', "'Viewer_' || viewer");
  const chatter = userKeys('chatter_user', 'viewer_id', 'viewer_login', "'Viewer_' || viewer");
  const nobody = `'"user_id":null,"user_login":null,"user_name":null'`;
  const at = `'"' || to_char(to_timestamp(received_at / 1000.0), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`;
  switch (form) {
    case 'chat':
      return `'{' || ${channel} || ',' || ${chatter} || ',"message_id":"' || message_id || '","message":{"text":"' || message
        || '"},"color":"#9146FF"}'`;
    case 'viewer':
      return `'{' || ${viewer} || ',' || ${channel} || ',"tier":"1000","message":"' || message || '","at":' || ${at} || '}'`;
    case 'reward':
      return `'{"id":"' || message_id || '",' || ${viewer} || ',' || ${channel} || ',"user_input":"","status":"unfulfilled","reward":{"id":"'
        || reward_id || '","title":"Hydrate","cost":500,"prompt":"Take a sip"},"redeemed_at":' || ${at} || '}'`;
    case 'cheer':
      return `'{"is_anonymous":' || (${isAnonymous})::text || ',' || CASE WHEN ${isAnonymous} THEN ${nobody} ELSE ${viewer} END
        || ',' || ${channel} || ',"message":"' || message || '","bits":' || 1 + (words & 511) || '}'`;
    case 'raid':
      return `'{' || ${userKeys('from_broadcaster_user', 'channel_id', 'channel_login', "'Channel_' || channel")} || ','
        || ${userKeys('to_broadcaster_user', `(${firstIds.channel} + raided)::text`, "'channel_' || raided", "'Channel_' || raided")}
        || ',"viewers":' || 1 + (words & 1023) || '}'`;
    case 'broadcaster':
      return `'{"id":"' || message_id || '",' || ${channel} || ',"title":"' || message || '","language":"en","at":' || ${at} || '}'`;
  }
}

function userKeys(prefix: string, id: string, login: string, name: string): string {
  return `'"${prefix}_id":"' || ${id} || '","${prefix}_login":"' || ${login} || '","${prefix}_name":"' || ${name} || '"'`;
}

/** SQL for the events of a range, with the values for their columns and data. */
function describedRows(population: Population, { first, count }: EventRange): string {
  const { channels, viewers, events, until } = population;
  const from = startOf(population);
  const tail = (size: number, hash: string, exponent: number): string =>
    `floor(${size} * power(${fraction(hash)}, ${exponent}))::int`;
  const numbers = `
    SELECT n,
      hashint8extended(n, ${seed}) AS a, hashint8extended(n, ${seed + 1}) AS b, hashint8extended(n, ${seed + 2}) AS c,
      hashint8extended(n, ${seed + 3}) AS d,
      ${from} + ((n - 1) * ${until - from}) / ${events} AS received_at
    FROM generate_series(${first}::bigint, ${first + count - 1}) AS n OFFSET 0`;
  const choices = `
    SELECT *,
      1 + width_bucket(${fraction('a')}, ${typeBounds()}) AS kind,
      ${tail(channels, 'b', tailExponents.channels)} AS channel
    FROM (${numbers}) AS numbers OFFSET 0`;
  const people = `
    SELECT *,
      (${array(
        typeShares.map((share) => String(formNumber(share.form))),
        'int',
      )})[kind] AS form,
      ${tail(viewers / viewerGroups, 'c', tailExponents.viewers)} * ${viewerGroups} + channel % ${viewerGroups} AS viewer,
      (channel + 1 + ${tail(channels - 1, 'd', tailExponents.channels)}) % ${channels} AS raided,
      (d & 65535)::int AS words
    FROM (${choices}) AS choices OFFSET 0`;
  return `
    SELECT *,
      (lpad(to_hex(received_at), 12, '0') || '7' || lpad(to_hex(a & 4095), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid AS id,
      (${array(
        typeShares.map(({ type }) => quote(type)),
        'text',
      )})[kind] AS type,
      (${array(
        typeShares.map(({ source = 'PlatformSub' }) => quote(source)),
        'text',
      )})[kind] AS source,
      md5('message ' || n)::uuid::text AS message_id,
      (${firstIds.channel} + channel)::text AS channel_id, 'channel_' || channel AS channel_login,
      (${firstIds.viewer} + viewer)::text AS viewer_id, 'viewer_' || viewer AS viewer_login,
      lpad(to_hex(channel), 8, '0') || '-0000-4000-8000-' || lpad(to_hex(words % ${rewardsPerChannel}), 12, '0') AS reward_id,
      substr(${quote(text)}, 1 + (words & 63), 16 + ((words >> 6) & 127)) AS message
    FROM (${people}) AS people OFFSET 0`;
}

function quote(text: string): string {
  return `'${text}'`;
}

/** SQL for a number from 0 to 1, from 52 bits of a hash. */
function fraction(hash: string): string {
  return `(((${hash} >> 12) & 4503599627370495) / 4503599627370496.0::float8)`;
}

/** Cumulative shares of the types except the last, as bounds for `width_bucket`. */
function typeBounds(): string {
  const total = typeShares.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  const bounds = typeShares.slice(0, -1).map(({ weight }) => String((sum += weight / total)));
  return array(bounds, 'float8');
}

function array(values: readonly string[], type: string): string {
  return `ARRAY[${values.join(', ')}]::${type}[]`;
}
