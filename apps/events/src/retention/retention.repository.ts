import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The record of retention: which partition is being removed, and before which time events have been removed. */
@Injectable()
export class RetentionRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the partition whose removal is incomplete; null when there is none. */
  async readRemoving(): Promise<string | null> {
    const [row] = await this.dataSource.query<{ removing: string | null }[]>(
      'SELECT removing FROM retention',
    );
    return row?.removing ?? null;
  }

  /** Records that the removal of this partition begins; null when it is complete. */
  async saveRemoving(partition: string | null): Promise<void> {
    await this.dataSource.query('UPDATE retention SET removing = $1', [partition]);
  }

  /** Records that events received before this time (milliseconds since 1970) are being removed. */
  async saveRemovedBefore(time: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE retention SET removed_before = $1 WHERE removed_before < $1 OR removed_before IS NULL',
      [new Date(time)],
    );
  }

  /**
   * Returns the time before which events have been or are being removed (milliseconds since 1970); null before the first removal. After
   * RETENTION_DAYS is raised, this time is later than the start of the retention period, because removed events stay removed.
   */
  async readRemovedBefore(): Promise<number | null> {
    const [row] = await this.dataSource.query<{ at: number | null }[]>(
      'SELECT (extract(epoch FROM removed_before) * 1000)::float8 AS at FROM retention',
    );
    return row?.at ?? null;
  }
}
