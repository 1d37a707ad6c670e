import type { EventOrigin } from '@stream-events/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A stored event. The table is partitioned by range of `id`, which TypeORM cannot describe: the migration makes it,
 * and a test compares it with this class. From `broadcasterUserId` to `raidTo` everything is derived from `eventData` for the filters, folded
 * where they ignore case; null where the event has no such value or one that cannot be filtered by.
 */
@Entity({ name: 'events', synchronize: false })
export class Event {
  /** UUIDv7: sorts by the time of receipt. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The platform's message id, or the id of a test event. */
  @Column('text', { name: 'event_id', nullable: true })
  eventId!: string | null;

  @Column('text', { name: 'event_type' })
  eventType!: string;

  @Column('text', { name: 'event_source' })
  eventSource!: string;

  @Column('text')
  origin!: EventOrigin;

  /** `json`, not `jsonb`: kept as it was sent. */
  @Column('json', { name: 'event_data' })
  eventData!: string;

  @Column('text', { name: 'broadcaster_user_id', nullable: true })
  broadcasterUserId!: string | null;

  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  @Column('text', { name: 'user_name', nullable: true })
  userName!: string | null;

  @Column('text', { name: 'reward_id', nullable: true })
  rewardId!: string | null;

  @Column('text', { name: 'raid_from', nullable: true })
  raidFrom!: string | null;

  @Column('text', { name: 'raid_to', nullable: true })
  raidTo!: string | null;

  /** When it happened by the platform's own clock; null where nobody said. */
  @Column('timestamptz', { name: 'occurred_at', nullable: true })
  occurredAt!: Date | null;
}
