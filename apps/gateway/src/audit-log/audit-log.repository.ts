import { Injectable } from '@nestjs/common';
import { findNeighbours, firstIdAt, type PageReply, type PageRequest } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import type { AuditAction } from './audit-actions.js';
import { AuditEntry } from './audit-entry.entity.js';

const keptDays = 400;
const dayMs = 24 * 3_600_000;
// Maximum number of rows per DELETE. Keeps each statement fast.
const maxPruned = 5_000;

/** Which entries to list. */
export interface AuditLogFilter {
  action?: AuditAction | undefined;
  userId?: string | undefined;
}

export interface AuditLogPage extends PageReply {
  /** Newest first. */
  entries: AuditEntry[];
}

@Injectable()
export class AuditLogRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds entries in one statement. Skips ids that exist, because an earlier attempt that seemed to fail may have stored them. */
  async add(entries: readonly AuditEntry[]): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .insert()
      .into(AuditEntry)
      .values([...entries])
      .orIgnore()
      .updateEntity(false)
      .execute();
  }

  async list(
    { pageSize, position }: PageRequest,
    { action, userId }: AuditLogFilter = {},
  ): Promise<AuditLogPage> {
    const query = this.dataSource
      .createQueryBuilder(AuditEntry, 'entry')
      .orderBy('entry.id', position?.direction === 'newer' ? 'ASC' : 'DESC')
      .limit(pageSize + 1);
    if (position) {
      const comparison = (position.direction === 'newer' ? '>' : '<') + (position.inclusive ? '=' : '');
      query.andWhere(`entry.id ${comparison} :id`, { id: position.id });
    }
    if (action !== undefined) query.andWhere('entry.action = :action', { action });
    if (userId !== undefined) query.andWhere('entry.userId = :userId', { userId });
    const rows = await query.getMany();
    const entries = rows.slice(0, pageSize);
    const neighbours = findNeighbours(position, {
      firstId: entries[0]?.id,
      continueAfter: rows.length > pageSize ? (entries.at(-1)?.id ?? null) : null,
    });
    return { ...neighbours, entries: position?.direction === 'newer' ? entries.reverse() : entries };
  }

  /** Deletes one batch of entries that are older than 400 days at `now` (milliseconds since 1970). Returns true if more may remain. */
  async prune(now: number): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM audit_log WHERE id = ANY(ARRAY(
         SELECT id FROM audit_log WHERE id < $1 ORDER BY id LIMIT ${maxPruned}
       ))`,
      [firstIdAt(now - keptDays * dayMs)],
    );
    return count === maxPruned;
  }
}
