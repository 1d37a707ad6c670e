import { createHash } from 'node:crypto';
import { eventFilters, type TextFilterName } from '@stream-events/contracts';
import { indexKeys, type EventIndex } from '../store/event-indexes.js';
import { catalogVersion } from './partition-catalog.js';
import type { Source } from './scan-plan.js';

/** What the text of a statement depends on. Everything else is a parameter, so that there are few statements. */
export interface StatementShape {
  sources: readonly Source[];
  /** Whether the sources look up given event types, or all types of a value. */
  hasTypes: boolean;
  /** Whether the page is one range of one index. */
  isOneRange: boolean;
  /** The filters that are checked row by row. With any, the statement checks at most `chunk` rows. */
  rest: readonly CheckedFilter[];
  isOlder: boolean;
  /** The partition to read. Null: the partitions whose ids are between `spanFrom` and `spanTo`. */
  partition: string | null;
}

/** A filter that is checked row by row: against one value, or against a list of which the row must have any. */
export interface CheckedFilter {
  name: TextFilterName;
  isList: boolean;
}

/** The parameters of statements. A `rest` parameter has the value or the list of a filter. */
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
  | `rest ${TextFilterName}`;

/**
 * A statement that returns rows of (id, event_id, event_type, event_source, origin, event_data, occurred_at, mark):
 *
 * - the rows of a page in their order. `event_data` is null from the row on that exceeds the byte budget
 * - the last row of a full chunk: with the mark `last` when it belongs to the page, otherwise `end`
 * - one row without an id, whose mark is the version of the partition catalog
 */
export interface Statement {
  name: string;
  text: string;
  parameters: readonly ParameterName[];
}

/** The largest page, plus the row after it. Without this fixed limit, plans would prepare for large parts of the table. */
export const maxPageRows = 1_001;

/** Builds the statement of a shape. */
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
    const { sources, isOneRange } = shape;
    const [source] = sources;
    if (source?.index.method === 'hash') return this.page(this.rowsOfHash(source));
    if (isOneRange && !hasRest) return this.page(this.rowsOfRange());
    const { tables, ids } = isOneRange ? { tables: [], ids: this.idsOfRange() } : this.idsOfRanges();
    const selected = hasRest ? this.passed(ids) : `SELECT id, NULL AS mark FROM (${ids}) AS ids`;
    const rows = `SELECT event.*, selected.mark FROM (${selected}) AS selected
      CROSS JOIN LATERAL (SELECT ${columns}, ${content} FROM ${this.table} WHERE id = selected.id${this.span} LIMIT 1) AS event`;
    return (tables.length > 0 ? `WITH RECURSIVE ${tables.join(', ')} ` : '') + this.page(rows);
  }

  /** Cuts the data of a page to its byte budget, and adds the version of the catalog. */
  private page(rows: string): string {
    return `SELECT ${columns}, CASE WHEN bytes <= ${this.bytes} OR bytes = size THEN data END, occurred, mark
      FROM (
        SELECT *, octet_length(data) AS size,
          sum(octet_length(data)) OVER (ORDER BY id ${this.order} ROWS UNBOUNDED PRECEDING) AS bytes
        FROM (${rows}) AS event
      ) AS measured
      UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${catalogVersion(this.parameter('emptyPartitions', 'oid[]'))}`;
  }

  /** The few rows that a hash index finds. OFFSET keeps the planner from using the range of ids instead. */
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

  /** The ids of one range in order, each with the result of the check. */
  private idsOfRange(): string {
    return `${this.oneRange(`id, ${this.rest} AS ok`)} LIMIT ${this.limit}`;
  }

  private oneRange(selected: string): string {
    const [source] = this.shape.sources;
    const bounds = { from: this.from, to: this.to };
    if (!source) return this.range(selected, { prefix: [], bounds });
    const type = `(${this.types})[1]`;
    const prefix = source.index.column === 'event_type' ? [type] : [`(${this.values})[1]`, type];
    return this.range(selected, { source, prefix, bounds });
  }

  /**
   * The first ids of several ranges, merged. When the types are not given, `heads` finds the types of each value. Reading `limit` ids
   * of each type would be too much: the ranges certainly have enough ids up to `bound`, which the value's most active type
   * determines.
   */
  private idsOfRanges(): { tables: string[]; ids: string } {
    const { sources, hasTypes, isOlder } = this.shape;
    const loose = sources.find((source) => !hasTypes && !source.types);
    const limit = loose ? 'bound.id' : undefined;
    const bounds: Bounds = isOlder
      ? { from: limit ?? this.from, to: this.to }
      : { from: this.from, to: limit ?? this.to };
    const parts = sources.map((source) => this.idsOfSource(source, bounds, source === loose));
    const distinct = sources.length > 1 ? 'DISTINCT ' : '';
    const ids = `SELECT ${distinct}* FROM (${parts.join(' UNION ALL ')}) AS ids ORDER BY id ${this.order} LIMIT ${this.limit}`;
    return { tables: loose ? [this.heads(loose), this.bound(loose)] : [], ids };
  }

  private idsOfSource(source: Source, bounds: Bounds, isLoose: boolean): string {
    const selected = this.hasRest ? `id, ${this.rest} AS ok` : 'id';
    const of = (table: string): string => {
      const type = `${table}.event_type`;
      const prefix = source.index.column === 'event_type' ? [type] : ['wanted.value', type];
      return `CROSS JOIN LATERAL (${this.range(selected, { source, prefix, bounds })} LIMIT ${this.limit}) AS found`;
    };
    if (isLoose)
      return `SELECT found.* FROM bound CROSS JOIN heads AS wanted ${of('wanted')}
        WHERE wanted.id ${this.shape.isOlder ? '>=' : '<='} bound.id`;
    const bound = bounds.from === 'bound.id' || bounds.to === 'bound.id' ? 'bound CROSS JOIN ' : '';
    const values = source.index.column === 'event_type' ? '' : `${this.wantedValues} CROSS JOIN `;
    const types = this.shape.hasTypes ? this.types : `ARRAY[${(source.types ?? []).map(quote).join(', ')}]`;
    return `SELECT found.* FROM ${bound}${values}unnest(${types}) AS type (event_type) ${of('type')}`;
  }

  /** The event types of each value, each with its first id. Skips from type to type in the index. */
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

  private bound(source: Source): string {
    const { isOlder } = this.shape;
    const bounds = { from: this.from, to: this.to };
    const prefix = ['head.value', 'head.event_type'];
    const first = `(SELECT value, event_type FROM heads ORDER BY id ${this.order} LIMIT 1) AS head`;
    const lastOf = (ids: string): string => `(${ids} OFFSET ${this.limit} - 1 LIMIT 1)`;
    return `bound AS MATERIALIZED (SELECT ${isOlder ? 'greatest' : 'least'}(
      ${isOlder ? this.from : this.to},
      ${lastOf(`SELECT id FROM heads WHERE id ${isOlder ? '<=' : '>='} ${isOlder ? this.to : this.from} ORDER BY id ${this.order}`)},
      (SELECT found.id FROM ${first} CROSS JOIN LATERAL ${lastOf(this.range('id', { source, prefix, bounds }))} AS found)) AS id)`;
  }

  /** Keeps the ids that passed the check, and marks the last one of a full chunk. */
  private passed(ids: string): string {
    return `SELECT id, CASE WHEN place = ${this.chunk} THEN CASE WHEN ok THEN 'last' ELSE 'end' END END AS mark
      FROM (SELECT *, row_number() OVER () AS place FROM (${ids}) AS ids) AS numbered
      WHERE ok OR place = ${this.chunk} LIMIT ${this.rows}`;
  }

  /** The rows of one range of an index in its order. The row comparisons leave the planner no other index. */
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

  /** The planner cannot derive from row comparisons that a partial index has the rows. */
  private partOf({ predicate }: EventIndex): string {
    return predicate === null ? '' : ` AND ${predicate}`;
  }

  /** Selects the partitions. These are their bounds, so that no row inside them is skipped one by one. */
  private get span(): string {
    return this.shape.partition === null
      ? ` AND id >= ${this.parameter('spanFrom', 'uuid')} AND id <= ${this.parameter('spanTo', 'uuid')}`
      : '';
  }

  /** The result of the check of a row. */
  private get rest(): string {
    const conditions = this.shape.rest.map(({ name, isList }) => {
      const value = this.parameter(`rest ${name}`, isList ? 'text[]' : 'text');
      const matches = eventFilters[name].columns.map((column) =>
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

  /** The number of rows to take from the sources. */
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
