import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last thing that went wrong with the platform, one row for all instances. */
@Entity({ name: 'platform_errors' })
export class PlatformErrorRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  message!: string;
}
