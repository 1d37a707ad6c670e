import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Bytes of events that a user stored on one day, through all gateways. */
@Entity({ name: 'stored_bytes' })
export class StoredBytes {
  /** In UTC. */
  @PrimaryColumn('date')
  day!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  /** As `bytesOnStream` counts them. */
  @Column('bigint')
  bytes!: string;
}
