import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last error of a call to the platform: one row per application, shared by all instances. */
@Entity({ name: 'platform_errors' })
export class PlatformErrorRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  message!: string;
}
