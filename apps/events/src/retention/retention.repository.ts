import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The record of retention: the partition that is being removed, and the time before which events have been removed. */
@Injectable()
export class RetentionRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the partition whose removal has begun and is not complete; null when there is none. */
  async readRemoving(): Promise<string | null> {
    const [row] = await this.dataSource.query<{ removing: string | null }[]>(
      'SELECT removing FROM retention',
    );
    return row?.removing ?? null;
  }

  /** Records the partition whose removal begins; null when the removal is complete. */
  async saveRemoving(partition: string | null): Promise<void> {
    await this.dataSource.query('UPDATE retention SET removing = $1', [partition]);
  }

  /** Records that events received before this time are being removed, in milliseconds since 1970. */
  async saveRemovedBefore(time: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE retention SET removed_before = $1 WHERE removed_before < $1 OR removed_before IS NULL',
      [new Date(time)],
    );
  }

  /**
   * Returns the time before which events have been removed, in milliseconds since 1970; null when none were. Raising RETENTION_DAYS does
   * not bring the events back, so this time can be later than the start of the retention period.
   */
  async readRemovedBefore(): Promise<number | null> {
    const [row] = await this.dataSource.query<{ at: number | null }[]>(
      'SELECT (extract(epoch FROM removed_before) * 1000)::float8 AS at FROM retention',
    );
    return row?.at ?? null;
  }
}
