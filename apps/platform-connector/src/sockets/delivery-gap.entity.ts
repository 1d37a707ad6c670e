import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A period in which platform messages may be missing. See `DeliveryGap`. */
@Entity({ name: 'delivery_gaps' })
@Index('delivery_gaps_from_index', ['from'])
export class DeliveryGapRow {
  /** UUIDv7. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  transport!: string;

  @Column('text')
  source!: string;

  @Column('timestamptz', { name: 'from_at' })
  from!: Date;

  /** Null while the gap is open. */
  @Column('timestamptz', { name: 'until_at', nullable: true })
  until!: Date | null;

  /** The number of lost messages; null when it is unknown. */
  @Column('integer', { nullable: true })
  lost!: number | null;

  @Column('text')
  reason!: string;
}
