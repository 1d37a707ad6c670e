import type { DataSource } from 'typeorm';

/** A plan node with its execution figures; the keys are PostgreSQL's. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** A row of EXPLAIN (FORMAT JSON). */
export interface ExplainedRow {
  'QUERY PLAN': { Plan: PlanNode }[];
}

/** Executes a statement and returns its plan. */
export async function explain(
  dataSource: DataSource,
  sql: string,
  values: readonly unknown[],
): Promise<PlanNode> {
  const rows = await dataSource.query<ExplainedRow[]>(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...values]);
  const plan = planOf(rows);
  if (!plan) throw new Error('EXPLAIN returned no plan');
  return plan;
}

export function planOf([row]: readonly ExplainedRow[]): PlanNode | undefined {
  return row?.['QUERY PLAN'][0]?.Plan;
}

export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Counts the rows that a node read, including those it discarded. */
export function rowsRead(node: PlanNode): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}
