/** A column of a table or a view. */
export interface Column {
  table: string;
  column: string;
  type: string;
  isView: boolean;
  isNullable: boolean;
  /** Whether INSERT may omit the column. */
  hasDefault: boolean;
}

/** A constraint or unique index, with the definition that PostgreSQL prints. */
export interface Constraint {
  table: string;
  name: string;
  kind: 'primary key' | 'unique' | 'check' | 'foreign key';
  definition: string;
}

/** The parts of a schema that a service's SQL depends on. */
export interface SchemaSnapshot {
  columns: readonly Column[];
  constraints: readonly Constraint[];
}

/**
 * Lists the schema changes that can break the previous version's SQL:
 * - a column that the SQL names has changed
 * - a new column is NOT NULL without a default, so INSERT fails
 * - the key in an ON CONFLICT is gone
 * - a new constraint rejects rows
 *
 * New tables break nothing. A view with the name and columns of a removed table replaces that table, except for its keys.
 */
export function findBreaks(previous: SchemaSnapshot, current: SchemaSnapshot): string[] {
  const kept = new Map(current.columns.map((column) => [nameOf(column), column]));
  const tables = new Set(previous.columns.map(({ table }) => table));
  return [
    ...previous.columns.flatMap((column) => breaksOf(column, kept.get(nameOf(column)))),
    ...current.columns
      .filter(({ table }) => tables.has(table))
      .filter((column) => !previous.columns.some((other) => nameOf(other) === nameOf(column)))
      .filter(({ isView, isNullable, hasDefault }) => !isView && !isNullable && !hasDefault)
      .map((column) => `${nameOf(column)} is new, and has neither a default nor NULL`),
    ...previous.constraints
      .filter(isKey)
      .filter((key) => !current.constraints.some((other) => isKey(other) && isSame(key, other)))
      .map((key) => `${key.table} has lost its key ${key.definition}`),
    ...current.constraints
      .filter(({ table }) => tables.has(table))
      .filter((constraint) => !previous.constraints.some((other) => isSame(constraint, other)))
      .map(({ table, kind, name }) => `${table} has the new ${kind} ${name}`),
  ];
}

function breaksOf(before: Column, after: Column | undefined): string[] {
  const name = nameOf(before);
  if (!after) return [`${name} is removed or renamed`];
  const breaks = [];
  if (after.type !== before.type) breaks.push(`${name} has the type ${after.type} instead of ${before.type}`);
  if (before.isNullable && !after.isNullable) breaks.push(`${name} may no longer be NULL`);
  if (before.hasDefault && !after.hasDefault && !after.isView) breaks.push(`${name} has lost its default`);
  return breaks;
}

function isKey({ kind }: Constraint): boolean {
  return kind === 'primary key' || kind === 'unique';
}

/** Compares constraints by everything except their names. */
function isSame(one: Constraint, other: Constraint): boolean {
  return one.table === other.table && one.kind === other.kind && one.definition === other.definition;
}

function nameOf({ table, column }: Column): string {
  return `${table}.${column}`;
}
