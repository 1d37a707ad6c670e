import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The scopes that a user has granted to the application, according to the platform's last listing. */
@Entity({ name: 'user_grants' })
export class UserGrant {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { array: true, nullable: true })
  scopes!: string[] | null;

  @Column('timestamptz', { name: 'due_at', default: () => 'now()' })
  dueAt!: Date;

  @Column('integer', { default: 0 })
  revision!: number;
}
