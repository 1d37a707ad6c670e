import { Inject, Injectable } from '@nestjs/common';
import {
  alarmExpiryMs,
  alarmKinds,
  maxClearedAlarms,
  maxOpenAlarms,
  parseAlarmKey,
  type AlarmMessage,
  type ListAlarmsReply,
  type ReportAlarmsRequest,
} from '@stream-events/contracts';
import { FailureLog, LOGGER, readForGauge, Registry, type Logger } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { v7 } from 'uuid';
import { AlarmPosts } from './alarm-posts.repository.js';
import { connectorMetrics } from '../metrics.js';

// How long closed alarms are kept. The console lists the newest closed alarms.
const keptDays = 30;

const columns = `id, key, message, floor(extract(epoch FROM raised_at) * 1000)::float8 AS "raisedAt",
  floor(extract(epoch FROM cleared_at) * 1000)::float8 AS "clearedAt"`;

type Row = Omit<AlarmMessage, 'kind' | 'subject'>;

/** Stores alarms. Saves each change and its alert webhook message in one transaction. */
@Injectable()
export class AlarmsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly posts: AlarmPosts,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const failureLog = new FailureLog(logger);
    connectorMetrics.alarms_open.create(metrics, async (gauge) => {
      const counts = await readForGauge(gauge, failureLog, () => this.countOpen());
      gauge.reset();
      if (!counts) return;
      for (const kind of Object.keys(alarmKinds)) gauge.set({ kind }, counts.get(kind) ?? 0);
    });
  }

  async save({ raised, cleared }: ReportAlarmsRequest): Promise<void> {
    const changed = await this.dataSource.transaction(async (manager) => {
      const closed = await close(manager, 'key = ANY($1)', [cleared]);
      const opened = await open(manager, raised);
      await this.posts.add(manager, [...closed, ...opened]);
      return [...closed, ...opened];
    });
    this.log(changed);
  }

  /**
   * Closes alarms that no process has repeated for 90 s. Deletes alarms that closed more than 30 days ago, and webhook messages that are
   * more than a day overdue.
   */
  async expire(): Promise<void> {
    const closed = await this.dataSource.transaction(async (manager) => {
      const expired = await close(manager, `repeated_at < now() - make_interval(secs => $1)`, [
        alarmExpiryMs / 1_000,
      ]);
      await this.posts.add(manager, expired);
      await this.posts.removeOld(manager);
      await manager.query(`DELETE FROM alarms WHERE cleared_at < now() - interval '${keptDays} days'`);
      return expired;
    });
    this.log(closed);
  }

  /** Returns the newest `maxOpenAlarms` open alarms, newest first. */
  async listOpen(): Promise<AlarmMessage[]> {
    return this.read(`cleared_at IS NULL ORDER BY raised_at DESC LIMIT ${maxOpenAlarms}`);
  }

  async list(): Promise<ListAlarmsReply> {
    const [open, cleared] = await Promise.all([
      this.listOpen(),
      this.read(`cleared_at IS NOT NULL ORDER BY cleared_at DESC LIMIT ${maxClearedAlarms}`),
    ]);
    return { open, cleared };
  }

  private async countOpen(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { kind } of await this.read('cleared_at IS NULL'))
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return counts;
  }

  private async read(condition: string): Promise<AlarmMessage[]> {
    const rows = await this.dataSource.query<Row[]>(`SELECT ${columns} FROM alarms WHERE ${condition}`);
    return rows.map(toMessage);
  }

  private log(changed: readonly AlarmMessage[]): void {
    for (const { key, message, clearedAt } of changed)
      if (clearedAt === null) this.logger.error({ key, detail: message }, 'alarm raised');
      // Log this at `warn`, because a log that hides `info` would show only that the alarm was raised.
      else this.logger.warn({ key }, 'alarm cleared');
  }
}

/**
 * Opens or repeats alarms. Sorts them by key, so that concurrent reports do not deadlock. Keeps at most `maxOpenAlarms` open. Returns the
 * newly opened alarms.
 */
async function open(manager: EntityManager, raised: ReportAlarmsRequest['raised']): Promise<AlarmMessage[]> {
  if (raised.length === 0) return [];
  const sorted = [...new Map(raised.map((alarm) => [alarm.key, alarm])).values()].sort((one, other) =>
    one.key < other.key ? -1 : 1,
  );
  const rows = await manager.query<(Row & { isNew: boolean })[]>(
    `INSERT INTO alarms (id, key, message)
     SELECT id, key, message FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS new (id, key, message, position)
     WHERE key IN (SELECT key FROM alarms WHERE cleared_at IS NULL)
        OR position <= $4 - (SELECT count(*) FROM alarms WHERE cleared_at IS NULL)
     ORDER BY position
     ON CONFLICT (key) WHERE cleared_at IS NULL DO UPDATE SET repeated_at = now(), message = excluded.message
     RETURNING ${columns}, xmax = 0 AS "isNew"`,
    [
      sorted.map(() => v7()),
      sorted.map(({ key }) => key),
      sorted.map(({ message }) => message),
      maxOpenAlarms,
    ],
  );
  return rows.filter(({ isNew }) => isNew).map(toMessage);
}

/** Closes the open alarms that match a condition, and returns them. */
async function close(
  manager: EntityManager,
  condition: string,
  parameters: unknown[],
): Promise<AlarmMessage[]> {
  const rows = await manager.query<Row[]>(
    `WITH closed AS (
       UPDATE alarms SET cleared_at = now() WHERE id IN (
         SELECT id FROM alarms WHERE cleared_at IS NULL AND ${condition} ORDER BY key FOR UPDATE
       ) RETURNING *
     ) SELECT ${columns} FROM closed`,
    parameters,
  );
  return rows.map(toMessage);
}

function toMessage({ id, key, message, raisedAt, clearedAt }: Row): AlarmMessage {
  return { id, key, ...parseAlarmKey(key), message, raisedAt, clearedAt };
}
