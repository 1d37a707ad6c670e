import { Inject, Injectable } from '@nestjs/common';
import { filterColumns, type FilterCondition } from '@stream-events/contracts';
import { LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { PartitionsRepository } from '../store/partitions.repository.js';

export interface ColumnStatistics {
  /** Share of rows for each common value. */
  shares: ReadonlyMap<string, number>;
  /** Average share of rows for each remaining value. */
  otherShare: number;
}

/** Statistics by column, for the columns that filters use. Columns without statistics are left out. */
export type TableStatistics = ReadonlyMap<string, ColumnStatistics>;

interface StatisticsRow {
  tablename: string;
  attname: string;
  null_frac: number;
  n_distinct: number;
  values: string[] | null;
  shares: number[] | null;
  reltuples: number;
}

const intervalMs = 5 * 60_000;

// How many partitions to average, newest first. The newest ones resemble the events that arrive now. Older ones would not improve the
// estimates.
const maxPartitions = 4;

// Partitions with fewer rows are ignored, because their statistics are not representative. Examples are next month's empty partition and
// the newest partition soon after it begins.
const minRows = 1_000;

/**
 * Reads PostgreSQL's statistics about the newest partitions every five minutes. Lists use them to find the filter with the fewest matching
 * events. Without statistics, lists are slower but correct.
 */
@Injectable()
export class EventStatistics {
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> = Promise.resolve();
  private statistics: TableStatistics = new Map();

  constructor(
    private readonly dataSource: DataSource,
    private readonly partitions: PartitionsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  get current(): TableStatistics {
    return this.statistics;
  }

  /** Reads the statistics now, then every five minutes in the background. */
  async start(): Promise<void> {
    await this.refresh();
    this.timer = setInterval(() => {
      this.reading = this.refresh();
    }, intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.reading;
  }

  /** Keeps the previous statistics when the database is unavailable. */
  async refresh(): Promise<void> {
    try {
      const newest = await this.partitions.list();
      this.statistics = toStatistics(await this.readRows(newest.map(({ name }) => name)), newest.map(({ name }) => name)); // prettier-ignore
    } catch (error) {
      this.logger.warn(
        { err: error },
        'cannot read the planner statistics of the events table, retrying in 5 min',
      );
    }
  }

  private readRows(names: readonly string[]): Promise<StatisticsRow[]> {
    return this.dataSource.query<StatisticsRow[]>(
      `SELECT tablename, attname, null_frac, n_distinct, most_common_vals::text::text[] AS values,
         most_common_freqs AS shares, reltuples
       FROM pg_stats
       JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(tablename))
       WHERE schemaname = current_schema() AND tablename = ANY($1) AND attname = ANY($2) AND NOT inherited`,
      [names, Object.keys(filterColumns)],
    );
  }
}

/** @param names the partitions, newest first */
export function toStatistics(rows: readonly StatisticsRow[], names: readonly string[]): TableStatistics {
  const used = names
    .map((name) => rows.filter((row) => row.tablename === name))
    .filter(([first]) => first !== undefined && first.reltuples >= minRows)
    .slice(0, maxPartitions)
    .flat();
  const columns = new Map<string, StatisticsRow[]>();
  for (const row of used) columns.set(row.attname, [...(columns.get(row.attname) ?? []), row]);
  return new Map([...columns].map(([column, ofColumn]) => [column, merge(ofColumn)]));
}

/** Averages the statistics of partitions, weighted by their sizes. */
function merge(rows: readonly StatisticsRow[]): ColumnStatistics {
  const total = rows.reduce((sum, row) => sum + row.reltuples, 0);
  const values = new Set(rows.flatMap((row) => row.values ?? []));
  const average = (share: (row: StatisticsRow) => number): number =>
    rows.reduce((sum, row) => sum + share(row) * row.reltuples, 0) / total;
  const shares = new Map([...values].map((value) => [value, average((row) => shareOf(row, value))]));
  return { shares, otherShare: average(otherShareOf) };
}

function shareOf(row: StatisticsRow, value: string): number {
  const place = row.values?.indexOf(value) ?? -1;
  return row.shares?.[place] ?? otherShareOf(row);
}

function otherShareOf({ null_frac, n_distinct, reltuples, values, shares }: StatisticsRow): number {
  const distinct = n_distinct >= 0 ? n_distinct : -n_distinct * reltuples;
  const rest = 1 - null_frac - (shares ?? []).reduce((sum, share) => sum + share, 0);
  const others = distinct - (values?.length ?? 0);
  // The common values already make up all values of the sample, so assume a single row for any other value.
  return others >= 1 ? Math.max(rest, 0) / others : 1 / reltuples;
}

/** Estimates the share of rows that meet a condition; undefined without statistics. */
export function estimateShare(
  statistics: TableStatistics,
  { columns, values }: Pick<FilterCondition, 'columns' | 'values'>,
): number | undefined {
  let share = 0;
  for (const { name } of columns) {
    const column = statistics.get(name);
    if (!column) return undefined;
    for (const value of values) share += column.shares.get(value) ?? column.otherShare;
  }
  return Math.min(share, 1);
}
