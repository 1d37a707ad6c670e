import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A subscription that has reported a stored raid. The row stays for an hour. */
@Entity({ name: 'raid_reports' })
export class RaidReport {
  /** The stored raid. The store may not have it anymore. */
  @PrimaryColumn('uuid', { name: 'event_id' })
  eventId!: string;

  /** See `Delivery`. The two sides of a raid have subscriptions with different conditions. */
  @PrimaryColumn('text')
  subscription!: string;

  @Column('timestamptz', { name: 'reported_at', default: () => 'now()' })
  reportedAt!: Date;
}
