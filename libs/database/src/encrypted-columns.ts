import type { SecretBox } from '@stream-events/service';
import type { DataSource } from 'typeorm';

/** A column whose values are encrypted with `SECRET_KEY`, each bound to the primary key of its row. */
export interface EncryptedColumn {
  table: string;
  column: string;
  /** The primary key. */
  boundTo: string;
  /** Whether the service obtains a new value when it cannot decrypt the stored value. A key that only such values need can be removed. */
  isReplaceable?: boolean;
}

/** The number of encrypted values, by the key that encrypted them. */
export interface EncryptedCounts {
  /** Encrypted under the first key. */
  first: number;
  /** Encrypted under another key of `SECRET_KEY`. */
  older: number;
  /** Not decrypted by any key of `SECRET_KEY`. */
  unknown: number;
}

/** Reads and re-encrypts one column, in order of the primary key. */
export class EncryptedValues {
  // Decrypting a batch of this size takes about a millisecond, so client requests do not wait.
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
   * Counts the values of the next batch by key. If `isMoving`, also re-encrypts the values of older keys under the first key.
   * Returns undefined after the last batch.
   *
   * @param after the last primary key of the previous batch; undefined at the beginning
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

  /** Replaces values that have not changed since they were read (compare and set). Returns how many values were replaced. */
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
