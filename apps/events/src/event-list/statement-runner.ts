import { Inject, Injectable } from '@nestjs/common';
import type { EventOrigin, StoredEvent } from '@stream-events/contracts';
import type { Pool } from 'pg';
import { idBetween } from './id-range.js';
import { LIST_POOL } from './list-pool.js';
import { buildStatement, type ParameterName, type Statement, type StatementShape } from './page-statement.js';

export type ParameterValues = Readonly<Partial<Record<ParameterName, unknown>>>;

/** The result of one statement of a page. */
export interface StatementResult {
  /** The events in the direction of paging. Ends before the event that would exceed the byte budget, unless this event is the first. */
  events: StoredEvent[];
  /** Whether the byte budget cut off rows. */
  isCut: boolean;
  /** The end of a full chunk: more rows may follow after this id. Null when the statement has read its whole range. */
  chunkEnd: string | null;
  /** The version that the database had when the statement ran. */
  catalogVersion: string;
}

type Row = [
  id: string | null,
  eventId: string | null,
  eventType: string,
  eventSource: string,
  origin: EventOrigin,
  eventData: string | null,
  occurredAt: string | null,
  mark: string | null,
];

// Maximum number of conditions in a named statement, whose plan each connection keeps. With more conditions, there are too many
// combinations to keep all plans. Statements with more conditions check many rows, so planning takes only a small part of their time.
const maxPlannedConditions = 2;

// Maximum number of statement texts in memory. Each text takes a few kilobytes. The map is cleared at this size, which also drops
// statements for old partitions and unusual filters.
const maxStatements = 1_000;

// Leave cells as text: parsing them would cost more than all other work on a row.
const asText = { getTypeParser: () => (text: string) => text };

@Injectable()
export class StatementRunner {
  private readonly statements = new Map<string, Statement>();

  constructor(@Inject(LIST_POOL) private readonly pool: Pool) {}

  async run(shape: StatementShape, values: ParameterValues): Promise<StatementResult> {
    const { name, text, parameters } = this.statementOf(shape);
    const { rows } = await this.pool.query<Row>({
      // A connection plans a named statement once and keeps the plan.
      ...(countConditions(shape) <= maxPlannedConditions && { name }),
      text,
      values: parameters.map((parameter) => values[parameter] ?? null),
      rowMode: 'array',
      types: asText,
    });
    return toResult(rows);
  }

  private statementOf(shape: StatementShape): Statement {
    const { sources, rest, ...others } = shape;
    const key = JSON.stringify([others, sources.map(({ index }) => index.name), rest]);
    let statement = this.statements.get(key);
    if (!statement) {
      if (this.statements.size >= maxStatements) this.statements.clear();
      this.statements.set(key, (statement = buildStatement(shape)));
    }
    return statement;
  }
}

/** Counts the driving condition, if there is one, and the conditions that are checked row by row. */
function countConditions({ sources, rest }: StatementShape): number {
  return Math.min(sources.length, 1) + rest.length;
}

function toResult(rows: readonly Row[]): StatementResult {
  const result: StatementResult = { events: [], isCut: false, chunkEnd: null, catalogVersion: '' };
  for (const [id, eventId, eventType, eventSource, origin, eventData, occurredAt, mark] of rows) {
    if (id === null) {
      result.catalogVersion = mark ?? '';
      continue;
    }
    if (mark === 'last') {
      result.chunkEnd = id;
    } else if (mark !== null) {
      // A reader must not learn the id of an event outside the reader's limits, so use a random id next to it. The next page reads this row
      // again.
      result.chunkEnd = idBetween(id, mark);
      continue;
    }
    if (eventData === null) result.isCut = true;
    else if (!result.isCut)
      result.events.push({ id, eventId, eventType, eventSource, origin, eventData, occurredAt: occurredAt === null ? null : Number(occurredAt) }); // prettier-ignore
  }
  return result;
}
