import type { SecretBox } from '@stream-events/service';
import type { DataSource } from 'typeorm';

/** A column with values that are encrypted with `SECRET_KEY` and bound to the primary key of their row. */
export interface EncryptedColumn {
  table: string;
  column: string;
  /** The primary key column. */
  boundTo: string;
  /**
   * Whether the service can replace a value that it cannot decrypt, for example by a new token. A key that only such values need may be
   * removed.
   */
  isReplaceable?: boolean;
}

/** The number of encrypted values by key. */
export interface EncryptedCounts {
  /** Encrypted with the first key. */
  first: number;
  /** Encrypted with another key in `SECRET_KEY`. */
  older: number;
  /** No key in `SECRET_KEY` decrypts them. */
  unknown: number;
}

/** Reads and re-encrypts one column in order of the primary key. */
export class EncryptedValues {
  // Rows per batch: decrypting a batch takes about a millisecond, so client requests do not have to wait.
  static readonly batchRows = 200;

  constructor(
    private readonly dataSource: DataSource,
    readonly column: EncryptedColumn,
    private readonly box: SecretBox,
  ) {}

  async count(): Promise<number> {
    const { table, column } = this.column;
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(${column})::int AS count FROM ${table}`,
    );
    return row?.count ?? 0;
  }

  /**
   * Counts the values of the next batch by key; undefined after the last batch. If `isMoving`, also re-encrypts values of older keys with
   * the first key.
   *
   * @param after the last primary key of the previous batch; undefined for the first batch
   */
  async next(
    after: string | undefined,
    isMoving: boolean,
  ): Promise<{ last: string; moved: number; counts: EncryptedCounts } | undefined> {
    const rows = await this.read(after);
    const last = rows.at(-1)?.id;
    if (last === undefined) return undefined;
    const opened = rows.map((row) => ({ ...row, found: this.box.open(row.value, row.id) }));
    const older = opened.flatMap(({ id, value, found }) =>
      found && found.keyIndex > 0 ? [{ id, value, moved: this.box.encrypt(found.text, id) }] : [],
    );
    const unknown = opened.filter(({ found }) => !found).length;
    const moved = isMoving && older.length > 0 ? await this.replace(older) : 0;
    const first = rows.length - older.length - unknown + moved;
    return { last, moved, counts: { first, older: older.length - moved, unknown } };
  }

  private read(after: string | undefined): Promise<{ id: string; value: string }[]> {
    const { table, column, boundTo } = this.column;
    return this.dataSource.query(
      `SELECT ${boundTo}::text AS id, ${column} AS value FROM ${table}
       WHERE ${column} IS NOT NULL ${after === undefined ? '' : `AND ${boundTo} > $1`}
       ORDER BY ${boundTo} LIMIT ${EncryptedValues.batchRows}`,
      after === undefined ? [] : [after],
    );
  }

  /** Replaces values, unless they have changed since they were read (compare and set). Returns how many it replaced. */
  private async replace(values: readonly { id: string; value: string; moved: string }[]): Promise<number> {
    const { table, column, boundTo } = this.column;
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE ${table} SET ${column} = input.moved
       FROM unnest($1::text[], $2::text[], $3::text[]) AS input (id, value, moved)
       WHERE ${table}.${boundTo}::text = input.id AND ${table}.${column} = input.value
         AND ${table}.${boundTo} = ANY($4)`,
      [
        values.map(({ id }) => id),
        values.map(({ value }) => value),
        values.map(({ moved }) => moved),
        values.map(({ id }) => id),
      ],
    );
    return count;
  }
}
