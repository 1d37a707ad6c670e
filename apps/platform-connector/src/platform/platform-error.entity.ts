import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last error of a call to the platform. Each application has one row, which all instances share. */
@Entity({ name: 'platform_errors' })
export class PlatformErrorRow {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @Column('timestamptz')
  at!: Date;

  @Column('text')
  message!: string;
}
