import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { table, type KeptPromise, type Section } from '../measure/report.js';
import { portOf, withSystem, type BenchBed, type Version } from './bench-bed.js';
import { filterCases, type FilterCase, type Spread } from './filter-cases.js';
import { ListClient } from './list-client.js';
import { monthsOf, type Population } from './population.js';
import type { ListQuery } from './list-query.js';

/** Request durations in milliseconds, for the first page and at random depths. */
interface Timings {
  first: number[];
  deep: number[];
}

interface CaseResult {
  filter: FilterCase;
  timings: Timings;
}

interface Results {
  version: Version['name'];
  cases: CaseResult[];
}

const goals: Record<Spread, number> = { many: 10, few: 20, absent: 10, 'oldest month': 10 };

/** Measures each filter alone and with a type, on the first page and at random depths, with one client. */
export async function measureSingleFilters({ versions, isQuick }: BenchBed): Promise<Section> {
  const results: Results[] = [];
  for (const version of versions) {
    const population = version.stores.populationOf('filled');
    const url = await version.stores.databaseOf('filled');
    const cases = await withSystem(version, url, async (system) => {
      const client = new ListClient(portOf(system), system.token);
      try {
        return await measureCases(client, population, isQuick ? 8 : 60);
      } finally {
        client.close();
      }
    });
    results.push({ version: version.name, cases });
    const all = cases.flatMap(({ timings: { first, deep } }) => [...first, ...deep]);
    say(
      `single filters, ${version.name}: ${all.length} pages, p50 ${median(all).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms`,
    );
  }
  return print(results);
}

async function measureCases(
  client: ListClient,
  population: Population,
  samples: number,
): Promise<CaseResult[]> {
  const cases = filterCases(population);
  // Warm-up: the first requests open database connections, plan statements, and run uncompiled code.
  for (const { queryOf } of cases)
    for (let number = 0; number < 3; number += 1) {
      await client.first(queryOf(number));
      await readDeep(client, queryOf(number), population);
    }
  const results: CaseResult[] = [];
  for (const filter of cases) {
    const timings: Timings = { first: [], deep: [] };
    for (let number = 0; number < samples; number += 1) {
      const query = filter.queryOf(number);
      timings.first.push((await client.first(query)).ms);
      timings.deep.push(...(await readDeep(client, query, population)));
    }
    results.push({ filter, timings });
  }
  return results;
}

/** Reads a page at a random time, then the next page, then back to the previous one. */
async function readDeep(client: ListClient, query: ListQuery, population: Population): Promise<number[]> {
  const from = monthsOf(population)[0]?.from ?? 0;
  const until = new Date(from + Math.random() * (population.until - from)).toISOString();
  const page = await client.first({ ...query, until });
  if (page.next === null) return [page.ms];
  const next = await client.read(page.next);
  if (next.previous === null) return [page.ms, next.ms];
  const previous = await client.read(next.previous);
  return [page.ms, next.ms, previous.ms];
}

function print(results: readonly Results[]): Section {
  const [own] = results;
  const columns = results.flatMap(({ version }) => {
    const suffix = results.length > 1 ? `, ${version}` : '';
    return [`first page p50 / p99${suffix}`, `any depth p50 / p99${suffix}`];
  });
  const rows = (own?.cases ?? []).map(({ filter }) => [
    filter.name,
    filter.spread,
    ...results.flatMap(({ cases }) => {
      const found = cases.find(
        ({ filter: { name, spread } }) => name === filter.name && spread === filter.spread,
      );
      const timings = found?.timings ?? { first: [], deep: [] };
      return [printTimes(timings.first), printTimes(timings.deep)];
    }),
  ]);
  return {
    title: 'Single filters',
    paragraphs: [
      'One client reads pages of 50 events, one after the other, without other load. Each filter has values with many events, with few events spread over all months, and values that do not occur; "oldest month" is a value whose only event is in the oldest partition. "Any depth" starts at a random time of the store (`until`), follows `next`, and then `previous`. Milliseconds include the client:',
      table(['filter', 'events of the values', ...columns], rows),
    ],
    promises: own ? judge(own) : [],
  };
}

function judge({ cases }: Results): KeptPromise[] {
  return (Object.keys(goals) as Spread[]).map((spread) => {
    const chosen = cases
      .filter(({ filter }) => filter.spread === spread)
      .map(({ filter: { name }, timings: { first, deep } }) => ({
        name,
        p99: Math.max(quantile(first, 0.99), quantile(deep, 0.99)),
      }))
      .sort((a, b) => b.p99 - a.p99);
    const worst = chosen[0] ?? { name: 'nothing', p99: Number.NaN };
    return {
      promise: `single filters (events of the values: ${spread}): p99 ≤ ${goals[spread]} ms on the first page and at any depth`,
      measured: `${worst.p99.toFixed(1)} ms (${worst.name}); ${chosen.filter(({ p99 }) => p99 <= goals[spread]).length} of ${chosen.length} filters within`,
      isKept: worst.p99 <= goals[spread],
    };
  });
}

function printTimes(ms: readonly number[]): string {
  return ms.length === 0 ? '' : `${median(ms).toFixed(1)} / ${quantile(ms, 0.99).toFixed(1)}`;
}
