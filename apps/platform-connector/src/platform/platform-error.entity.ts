import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The platform's last error: one row per application, shared by all instances. */
@Entity({ name: 'platform_errors' })
export class PlatformErrorRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  message!: string;
}
