import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The bytes of events that a user has stored on one day, at all gateways. */
@Entity({ name: 'stored_bytes' })
export class StoredBytes {
  /** The day in UTC. */
  @PrimaryColumn('date')
  day!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  /** See `bytesOnStream`. */
  @Column('bigint')
  bytes!: string;
}
