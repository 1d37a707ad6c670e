import { createHash } from 'node:crypto';
import type { FilterColumnName } from '@stream-events/contracts';
import { indexKeys, type EventIndex } from '../store/event-indexes.js';
import { catalogVersion } from './partition-catalog.js';
import type { RangeSearch, Source } from './scan-plan.js';

/**
 * The properties that determine the text of a statement. All other values are parameters, which keeps the number of different statements
 * small.
 */
export interface StatementShape {
  sources: readonly Source[];
  /** True when the sources look up given event types; false when they look up every type of a value. */
  hasTypes: boolean;
  ranges: RangeSearch;
  /**
   * The conditions that are checked row by row. With such conditions, the statement checks at most `chunk` rows, unless it uses a hash
   * index.
   */
  rest: readonly CheckedCondition[];
  isOlder: boolean;
  /** The only partition to read. Null when the statement reads all partitions from `spanFrom` to before `spanTo`. */
  partition: string | null;
}

/** A condition that is checked row by row: one of the columns equals the value, or a value of the list. */
export interface CheckedCondition {
  columns: readonly FilterColumnName[];
  isList: boolean;
}

/** The parameters of statements. `rest <n>` is the value or list of values for `StatementShape.rest[n]`. */
export type ParameterName =
  | 'from'
  | 'to'
  | 'spanFrom'
  | 'spanTo'
  | 'rows'
  | 'bytes'
  | 'chunk'
  | 'values'
  | 'types'
  | 'emptyPartitions'
  | `rest ${number}`;

/**
 * A statement that returns rows of (id, event_id, event_type, event_source, origin, event_data, occurred_at, mark):
 *
 * - the rows of the page in the direction of paging; `event_data` is null for rows beyond the byte budget, but never for the first row
 * - the last row of a full chunk: its mark is `last` when the row belongs to the page, or else the id of the row before it
 * - one row without an id, whose mark is the version of the partition catalog
 */
export interface Statement {
  name: string;
  text: string;
  parameters: readonly ParameterName[];
}

/** The largest page plus one more row. Without a constant limit, the planner would expect to read large parts of the table. */
export const maxPageRows = 1_001;

export function buildStatement(shape: StatementShape): Statement {
  const { text, parameters } = new StatementText(shape);
  return { name: createHash('sha1').update(text).digest('hex').slice(0, 20), text, parameters };
}

interface Bounds {
  from: string;
  to: string;
}

const columns = 'id, event_id, event_type, event_source, origin';
const content = 'event_data::text AS data, (extract(epoch FROM occurred_at) * 1000)::float8 AS occurred';

class StatementText {
  readonly parameters: ParameterName[] = [];
  readonly text: string;
  private readonly table: string;
  private readonly order: 'ASC' | 'DESC';

  constructor(private readonly shape: StatementShape) {
    this.table = shape.partition ?? 'events';
    this.order = shape.isOlder ? 'DESC' : 'ASC';
    this.text = this.print();
  }

  private print(): string {
    const { hasRest, shape } = this;
    const [source] = shape.sources;
    const isOneRange = shape.ranges === 'one';
    if (source?.index.method === 'hash') return this.page(this.rowsOfHash(source));
    if (isOneRange && !hasRest) return this.page(this.rowsOfRange());
    const { tables, ids } = isOneRange ? { tables: [], ids: this.idsOfRange() } : this.idsOfRanges();
    const selected = hasRest ? this.passed(ids) : `SELECT id, NULL AS mark FROM (${ids}) AS ids`;
    const rows = `SELECT event.*, selected.mark FROM (${selected}) AS selected
      CROSS JOIN LATERAL (SELECT ${columns}, ${content} FROM ${this.table} WHERE id = selected.id${this.span} LIMIT 1) AS event`;
    return (tables.length > 0 ? `WITH RECURSIVE ${tables.join(', ')} ` : '') + this.page(rows);
  }

  /** Drops event data beyond the page's byte budget, and adds the catalog version. */
  private page(rows: string): string {
    return `SELECT ${columns}, CASE WHEN bytes <= ${this.bytes} OR bytes = size THEN data END, occurred, mark
      FROM (
        SELECT *, octet_length(data) AS size,
          sum(octet_length(data)) OVER (ORDER BY id ${this.order} ROWS UNBOUNDED PRECEDING) AS bytes
        FROM (${rows}) AS event
      ) AS measured
      UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${catalogVersion(this.parameter('emptyPartitions', 'oid[]'))}`;
  }

  /** Finds a few rows through a hash index. OFFSET keeps the planner from scanning the range of ids instead. */
  private rowsOfHash({ index }: Source): string {
    return `SELECT ${columns}, ${content}, NULL AS mark
      FROM ${this.wantedValues} CROSS JOIN LATERAL (SELECT * FROM events WHERE ${index.column} = wanted.value OFFSET 0) AS event
      WHERE id >= ${this.from} AND id <= ${this.to}${this.hasRest ? ` AND ${this.rest}` : ''}
      ORDER BY id ${this.order} LIMIT ${this.rows}`;
  }

  /** The first rows of one range. */
  private rowsOfRange(): string {
    return `SELECT ${columns}, ${content}, NULL AS mark
      FROM (${this.oneRange('*')} LIMIT ${maxPageRows}) AS event LIMIT ${this.rows}`;
  }

  /** The ids of one range in order, each with `ok`: whether the row meets all conditions. */
  private idsOfRange(): string {
    return `${this.oneRange(`id, ${this.rest} AS ok`)} LIMIT ${this.limit}`;
  }

  private oneRange(selected: string): string {
    const [source] = this.shape.sources;
    const bounds = { from: this.from, to: this.to };
    if (!source) return this.range(selected, { prefix: [], bounds });
    // PostgreSQL cannot infer the type of a parameter that the statement does not use.
    const value = source.index.column === 'event_type' ? '' : `(${this.values})[1]`;
    return this.rangeOf(source, { selected, value, type: `(${this.types})[1]`, bounds });
  }

  /**
   * Merges the first ids of several ranges. If there are few ranges (`each`), the statement reads up to `limit` ids from each. The types of a
   * value (`skipped`) can be many. Their ranges contain at least `limit` ids up to `bound`, so the statement reads only ranges that begin at
   * or before `bound`.
   */
  private idsOfRanges(): { tables: string[]; ids: string } {
    const { sources, ranges, isOlder } = this.shape;
    const main = ranges === 'skipped' ? sources.find((source) => !source.types) : undefined;
    const limit = main ? 'bound.id' : undefined;
    const bounds: Bounds = isOlder
      ? { from: limit ?? this.from, to: this.to }
      : { from: this.from, to: limit ?? this.to };
    const parts = sources.map((source) => this.idsOfSource(source, bounds, source === main));
    const distinct = sources.length > 1 ? 'DISTINCT ' : '';
    const ids = `SELECT ${distinct}* FROM (${parts.join(' UNION ALL ')}) AS ids ORDER BY id ${this.order} LIMIT ${this.limit}`;
    return { tables: main ? [...this.starts(main), this.bound(main)] : [], ids };
  }

  private idsOfSource(source: Source, bounds: Bounds, isMain: boolean): string {
    const selected = this.hasRest ? `id, ${this.rest} AS ok` : 'id';
    const of = (value: string, type: string): string =>
      `CROSS JOIN LATERAL (${this.rangeOf(source, { selected, value, type, bounds })} LIMIT ${this.limit}) AS found`;
    if (isMain)
      return `SELECT found.* FROM bound CROSS JOIN starts ${of('starts.value', 'starts.event_type')}
        WHERE starts.id ${this.shape.isOlder ? '>=' : '<='} bound.id`;
    const bound = bounds.from === 'bound.id' || bounds.to === 'bound.id' ? 'bound CROSS JOIN ' : '';
    return `SELECT found.* FROM ${bound}${this.valuesAndTypes(source)} ${of('wanted.value', 'type.event_type')}`;
  }

  /** Cross-joins the wanted values with the event types that the source can have. */
  private valuesAndTypes({ index, types }: Source): string {
    const values = index.column === 'event_type' ? '' : `${this.wantedValues} CROSS JOIN `;
    const listed = (types ?? []).map(quote).join(', ');
    if (!this.shape.hasTypes) return `${values}unnest(ARRAY[${listed}]) AS type (event_type)`;
    const wanted = `unnest(${this.types}) AS type (event_type)`;
    return values + (types ? `(SELECT * FROM ${wanted} WHERE event_type IN (${listed})) AS type` : wanted);
  }

  /** The non-empty ranges of wanted types, each with its first id. */
  private starts(source: Source): string[] {
    const { from, to } = this;
    const isBeyond = this.shape.isOlder ? `id > ${to}` : `id < ${from}`;
    const isWanted = this.shape.hasTypes ? ` AND event_type = ANY (${this.types})` : '';
    const first = this.rangeOf(source, { selected: 'id', value: 'heads.value', type: 'heads.event_type', bounds: { from, to } }); // prettier-ignore
    return [
      this.heads(source),
      `starts (value, event_type, id) AS (
        SELECT value, event_type, id FROM heads WHERE id >= ${from} AND id <= ${to}${isWanted}
        UNION ALL
        SELECT value, event_type, found.id FROM (SELECT * FROM heads WHERE ${isBeyond}${isWanted}) AS heads
        CROSS JOIN LATERAL (${first} LIMIT 1) AS found)`,
    ];
  }

  /** The event types of each value, each with its first id in the partition. The query skips through the index from type to type. */
  private heads({ index }: Source): string {
    const { column } = index;
    const head = (condition: string): string =>
      `CROSS JOIN LATERAL (SELECT event_type, id FROM ${this.table} WHERE ${condition}${this.partOf(index)}${this.span}
        ORDER BY ${this.keysOf(index)} LIMIT 1) AS head`;
    const next = this.shape.isOlder
      ? `(${column}, event_type) < (heads.value, heads.event_type) AND ${column} >= heads.value`
      : `(${column}, event_type) > (heads.value, heads.event_type) AND ${column} <= heads.value`;
    return `heads (value, event_type, id) AS (
      SELECT wanted.value, head.event_type, head.id FROM ${this.wantedValues}
      ${head(`${column} >= wanted.value AND ${column} <= wanted.value`)}
      UNION ALL
      SELECT heads.value, head.event_type, head.id FROM heads ${head(next)})`;
  }

  /**
   * Returns the SQL for `bound`: an id up to which the ranges together contain at least `limit` ids. Takes the nearer of two ids: the start
   * of the `limit`-th range, and the `limit`-th id of the range that begins first, which often has the most ids.
   */
  private bound(source: Source): string {
    const { isOlder } = this.shape;
    const bounds = { from: this.from, to: this.to };
    const first = `(SELECT value, event_type FROM starts ORDER BY id ${this.order} LIMIT 1) AS first`;
    const lastOf = (ids: string): string => `(${ids} OFFSET ${this.limit} - 1 LIMIT 1)`;
    const range = this.rangeOf(source, { selected: 'id', value: 'first.value', type: 'first.event_type', bounds }); // prettier-ignore
    return `bound AS MATERIALIZED (SELECT ${isOlder ? 'greatest' : 'least'}(
      ${isOlder ? this.from : this.to},
      ${lastOf(`SELECT id FROM starts ORDER BY id ${this.order}`)},
      (SELECT found.id FROM ${first} CROSS JOIN LATERAL ${lastOf(range)} AS found)) AS id)`;
  }

  /** Keeps the ids that passed the check. Marks the last id of a full chunk. */
  private passed(ids: string): string {
    return `SELECT id, CASE WHEN place = ${this.chunk} THEN CASE WHEN ok THEN 'last' ELSE former::text END END AS mark
      FROM (SELECT *, row_number() OVER () AS place, lag(id, 1, id) OVER () AS former FROM (${ids}) AS ids) AS numbered
      WHERE ok OR place = ${this.chunk} LIMIT ${this.rows}`;
  }

  /** The rows with one value and one event type. */
  private rangeOf(
    source: Source,
    { value, type, selected, bounds }: { selected: string; value: string; type: string; bounds: Bounds },
  ): string {
    const prefix = source.index.column === 'event_type' ? [type] : [value, type];
    return this.range(selected, { source, prefix, bounds });
  }

  /** The rows of one index range, in index order. Row comparisons leave the planner no other index. */
  private range(
    selected: string,
    { source, prefix, bounds: { from, to } }: { source?: Source; prefix: readonly string[]; bounds: Bounds },
  ): string {
    const columnsOfIndex = source ? indexKeys(source.index) : ['id'];
    const row = (id: string): string => `(${[...prefix, id].join(', ')})`;
    const key = `(${columnsOfIndex.join(', ')})`;
    const order = columnsOfIndex.map((column) => `${column} ${this.order}`).join(', ');
    return `SELECT ${selected} FROM ${this.table}
      WHERE ${key} >= ${row(from)} AND ${key} <= ${row(to)}${source ? this.partOf(source.index) : ''}${this.span}
      ORDER BY ${order}`;
  }

  private keysOf(index: EventIndex): string {
    return indexKeys(index).map((column) => `${column} ${this.order}`).join(', '); // prettier-ignore
  }

  /** Repeats the condition of a partial index: from row comparisons, the planner cannot tell that the index contains the rows. */
  private partOf({ predicate }: EventIndex): string {
    return predicate === null ? '' : ` AND ${predicate}`;
  }

  /**
   * Limits the scan to the partitions of the span. The bounds equal those of the partitions, so that PostgreSQL need not filter any rows.
   */
  private get span(): string {
    return this.shape.partition === null
      ? ` AND id >= ${this.parameter('spanFrom', 'uuid')} AND id < ${this.parameter('spanTo', 'uuid')}`
      : '';
  }

  /** Whether a row meets all conditions of `rest`. */
  private get rest(): string {
    const conditions = this.shape.rest.map(({ columns: compared, isList }, place) => {
      const value = this.parameter(`rest ${place}`, isList ? 'text[]' : 'text');
      const matches = compared.map((column) =>
        isList ? `${column} IN (SELECT unnest(${value}))` : `${column} = ${value}`,
      );
      return `(${matches.join(' OR ')})`;
    });
    return `(${conditions.join(' AND ')}) IS TRUE`;
  }

  private get hasRest(): boolean {
    return this.shape.rest.length > 0;
  }

  private get wantedValues(): string {
    return `unnest(${this.values}) AS wanted (value)`;
  }

  private get values(): string {
    return this.parameter('values', 'text[]');
  }

  private get types(): string {
    return this.parameter('types', 'text[]');
  }

  private get from(): string {
    return this.parameter('from', 'uuid');
  }

  private get to(): string {
    return this.parameter('to', 'uuid');
  }

  private get rows(): string {
    return this.parameter('rows', 'int');
  }

  private get bytes(): string {
    return this.parameter('bytes', 'int');
  }

  private get chunk(): string {
    return this.parameter('chunk', 'int');
  }

  /** How many rows to take from the sources. */
  private get limit(): string {
    return this.hasRest ? this.chunk : this.rows;
  }

  private parameter(name: ParameterName, type: string): string {
    const known = this.parameters.indexOf(name);
    const number = known === -1 ? this.parameters.push(name) : known + 1;
    return `$${number}::${type}`;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
