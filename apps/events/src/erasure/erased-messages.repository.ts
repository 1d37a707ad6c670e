import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** The messages that erasures removed from the EVENTS stream. A client that resumes at such a sequence is not told about a gap. */
@Injectable()
export class ErasedMessagesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async add(epoch: string, sequences: readonly number[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO erased_messages (epoch, sequence) SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING`,
      [epoch, sequences],
    );
  }

  /** Whether erasures removed the messages at all sequences from `from` to `to`, both inclusive. */
  async hasAll(epoch: string, from: number, to: number): Promise<boolean> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::float8 AS count FROM erased_messages WHERE epoch = $1 AND sequence BETWEEN $2 AND $3`,
      [epoch, from, to],
    );
    return row?.count === to - from + 1;
  }

  /**
   * Deletes the records of messages from other epochs, and of messages that were erased more than `maxAgeMs` ago. After that time the
   * stream itself has dropped every message from before the erasure.
   */
  async forgetOld(transaction: EntityManager, epoch: string, maxAgeMs: number): Promise<void> {
    await transaction.query(
      `DELETE FROM erased_messages WHERE epoch <> $1 OR erased_at < now() - $2 * interval '1 millisecond'`,
      [epoch, maxAgeMs],
    );
  }
}
