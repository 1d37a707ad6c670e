import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Bytes of events that a user stored on one day, through all gateways. */
@Entity({ name: 'stored_bytes' })
export class StoredBytes {
  /** The day in UTC. */
  @PrimaryColumn('date')
  day!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  /** Total size of the user's events, as `bytesOnStream` counts it. */
  @Column('bigint')
  bytes!: string;
}
