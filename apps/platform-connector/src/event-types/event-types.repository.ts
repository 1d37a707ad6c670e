import { Injectable } from '@nestjs/common';
import type { EventType } from '@stream-events/platforms';
import { DataSource, type EntityManager } from 'typeorm';
import type { EventTypeChoice } from './event-type-choice.entity.js';
import { StreamerEventTypes } from './streamer-event-types.entity.js';
import { seedEventTypes } from './event-type-seeds.js';

/** The number of subscriptions with this type, version, and status. */
export interface SubscriptionCount {
  type: string;
  version: string;
  status: string;
  count: number;
}

@Injectable()
export class EventTypesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds the types that are new in the catalog. Several instances can call this concurrently. */
  async seed(catalogue: readonly EventType[], platform: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      // The lock makes concurrent changes of choices wait. Another instance that starts at the same time waits too, then finds no new
      // types.
      await manager.query('LOCK TABLE event_types IN SHARE ROW EXCLUSIVE MODE');
      const chosen = await readAll(manager);
      const { add, retire } = seedEventTypes(catalogue, chosen, platform);
      await manager.query(
        'INSERT INTO event_types (type, version, active) SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[])',
        [add.map((row) => row.type), add.map((row) => row.version), add.map((row) => row.active)],
      );
      for (const { type, version } of retire)
        await manager.query('UPDATE event_types SET active = false WHERE type = $1 AND version = $2', [type, version]); // prettier-ignore
    });
  }

  async list(): Promise<EventTypeChoice[]> {
    return readAll(this.dataSource.manager);
  }

  /** Activates this version of the type and deactivates its other versions. If `isActive` is false, deactivates all versions. */
  async choose(type: string, version: string, isActive: boolean): Promise<void> {
    await this.dataSource.query('UPDATE event_types SET active = ($3 AND version = $2) WHERE type = $1', [
      type,
      version,
      isActive,
    ]);
  }

  /** Returns the chosen types, by the streamer's id on the platform. Contains only streamers with chosen types. */
  async listChosen(): Promise<Map<string, string[]>> {
    const rows = await this.dataSource.getRepository(StreamerEventTypes).find();
    return new Map(rows.map(({ userId, types }) => [userId, types]));
  }

  /** Returns a streamer's chosen types. Returns null when none were chosen; all active types then apply. */
  async findChosen(userId: string): Promise<string[] | null> {
    const row = await this.dataSource.getRepository(StreamerEventTypes).findOneBy({ userId });
    return row?.types ?? null;
  }

  async saveChosen(userId: string, types: string[] | null): Promise<void> {
    const repository = this.dataSource.getRepository(StreamerEventTypes);
    if (types) await repository.save({ userId, types });
    else await repository.delete({ userId });
  }

  async countSubscriptions(): Promise<SubscriptionCount[]> {
    return this.dataSource.query<SubscriptionCount[]>(
      'SELECT type, version, status, count(*)::int AS count FROM subscriptions GROUP BY type, version, status',
    );
  }
}

function readAll(manager: EntityManager): Promise<EventTypeChoice[]> {
  return manager.query<EventTypeChoice[]>('SELECT type, version, active FROM event_types');
}
