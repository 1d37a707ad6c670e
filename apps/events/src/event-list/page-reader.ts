import { Inject, Injectable, Optional } from '@nestjs/common';
import { isDroppedTableError } from '@stream-events/database';
import { ChunkSize } from './chunk-size.js';
import { positionAt, rangeAbove, rangeBelow, type IdRange } from './id-range.js';
import { PageBuilder, type EventPage } from './page-builder.js';
import type { StatementShape } from './page-statement.js';
import { PartitionCatalog, type Catalog } from './partition-catalog.js';
import { findSpan, type Span } from './partition-span.js';
import type { ScanPlan } from './scan-plan.js';
import { StatementRunner, type ParameterValues, type StatementResult } from './statement-runner.js';

/** The range, direction, and size limits of a page. */
export interface PageLimits {
  range: IdRange;
  /** Whether the page goes from newer to older events. */
  isOlder: boolean;
  pageSize: number;
  /** Maximum size of the data of all events. The first event may be larger. */
  bytes: number;
}

/** Injection token of the clock for page durations, in milliseconds. */
export const PAGE_CLOCK = Symbol('PAGE_CLOCK');

// Time limit for a page that checks rows. A page that reaches the limit ends early and has a `next`, so that a search for rare matches does
// not hold up other lists.
const checkingBudgetMs = 30;

// Time limit for a page that checks no rows. Such a page needs few statements, so it reaches the limit only when the database is overloaded.
const matchingBudgetMs = 1_000;

// How many statements of a page read a single partition. One partition fills most pages; two do so at the beginning of a month. Each
// further statement can read twice as many partitions as the previous one.
const singlePartitions = 2;

// Attempts to read a page while the partitions change. Partitions change only a few times a day, so one attempt is nearly always enough.
const maxAttempts = 5;

/** Reads a page from partition to partition, until the page is full, its time limit is reached, or the list ends. */
@Injectable()
export class PageReader {
  constructor(
    private readonly catalog: PartitionCatalog,
    private readonly statements: StatementRunner,
    @Optional() @Inject(PAGE_CLOCK) private readonly now: () => number = () => performance.now(),
  ) {}

  /** @throws the database's error; Error when the partitions change during every attempt */
  async read(plan: ScanPlan, limits: PageLimits): Promise<EventPage> {
    for (let attempt = 1; ; attempt += 1) {
      const catalog = await this.catalog.read();
      try {
        const page = await this.walk(catalog, plan, limits);
        if (page) return page;
      } catch (error) {
        if (!isDroppedTableError(error) || attempt >= maxAttempts) throw error;
      }
      if (attempt >= maxAttempts)
        throw new Error('the partitions of the events table changed during every attempt to read a page');
      await this.catalog.discard(catalog);
    }
  }

  /** Returns null if the catalog is stale. */
  private async walk(catalog: Catalog, plan: ScanPlan, limits: PageLimits): Promise<EventPage | null> {
    const { isOlder } = limits;
    const budgetMs = plan.rest.length > 0 ? checkingBudgetMs : matchingBudgetMs;
    const startedAt = this.now();
    const page = new PageBuilder(limits);
    const expectedRows = limits.pageSize / plan.restShare;
    const chunk = new ChunkSize(expectedRows);
    let range: IdRange | null = limits.range;
    let reached: string | null = null;
    let leftMs = budgetMs;
    // A statement that uses a hash index reads all partitions at once.
    let width = plan.sources.some(({ index }) => index.method === 'hash') ? Infinity : 1;
    for (let step = 1; range; step += 1) {
      const span = findSpan(catalog.partitions, range, { isOlder, width });
      if (!span) return step > 1 || (await this.catalog.isCurrent(catalog)) ? page.end(null) : null;
      if (leftMs <= 0) return page.end(reached);
      const askedAt = this.now();
      const rows = chunk.within(leftMs);
      const result = await this.query(plan, { catalog, span, range, isOlder, page, chunk: rows });
      // Only the first statement must see every partition. Partitions that are attached later contain only events stored after the request.
      if (step === 1 && result.catalogVersion !== catalog.version) return null;
      page.add(result);
      if (page.isFull) break;
      const { chunkEnd } = result;
      range =
        chunkEnd === null ? rangeAfterSpan(range, span, isOlder) : rangeAfterId(range, chunkEnd, isOlder);
      reached = chunkEnd ?? positionAt(isOlder ? span.from : span.to, isOlder);
      const endedAt = this.now();
      leftMs = budgetMs - (endedAt - startedAt);
      if (step >= singlePartitions) width *= 2;
      if (chunkEnd === null) chunk.enterPartitions();
      else {
        chunk.adapt({ rows, tookMs: endedAt - askedAt });
        width = 1;
      }
    }
    return page.end(null);
  }

  private query(
    plan: ScanPlan,
    {
      catalog,
      span,
      range,
      isOlder,
      page,
      chunk,
    }: { catalog: Catalog; span: Span; range: IdRange; isOlder: boolean; page: PageBuilder; chunk: number },
  ): Promise<StatementResult> {
    const { sources, values, types, ranges, rest } = plan;
    const shape: StatementShape = {
      sources,
      hasTypes: types !== null,
      ranges,
      rest: rest.map((condition) => ({
        columns: condition.columns.map(({ name }) => name),
        isList: condition.values.length > 1,
      })),
      isOlder,
      partition: span.partition,
    };
    const parameters: ParameterValues = {
      ...range,
      spanFrom: span.from,
      spanTo: span.to,
      rows: page.missingRows,
      bytes: page.missingBytes,
      chunk,
      values,
      types,
      emptyPartitions: catalog.emptyPartitions,
      ...Object.fromEntries(
        rest.map(({ values: wanted }, place) => [`rest ${place}`, wanted.length > 1 ? wanted : wanted[0]]),
      ),
    };
    return this.statements.run(shape, parameters);
  }
}

function rangeAfterSpan(range: IdRange, { from, to }: Span, isOlder: boolean): IdRange | null {
  if (isOlder) return rangeBelow(range, from);
  return to > range.to ? null : { from: to, to: range.to };
}

function rangeAfterId(range: IdRange, id: string, isOlder: boolean): IdRange | null {
  return isOlder ? rangeBelow(range, id) : rangeAbove(range, id);
}
