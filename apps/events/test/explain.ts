import type { DataSource } from 'typeorm';

/** A node of a plan with the numbers of its execution, as PostgreSQL names them. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Heap Fetches'?: number;
  Plans?: PlanNode[];
}

/** A row of the output of EXPLAIN (FORMAT JSON). */
export interface ExplainedRow {
  'QUERY PLAN': { Plan: PlanNode }[];
}

/** Runs a statement, and returns its plan. */
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

/** Returns a node and all nodes below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Returns the number of rows that a node read, including the rows that it discarded. */
export function rowsRead(node: PlanNode): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}
