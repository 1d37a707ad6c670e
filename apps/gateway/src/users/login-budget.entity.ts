import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The budget of failed logins for one client address or one user name. */
@Entity({ name: 'login_budgets' })
export class LoginBudget {
  /** SHA-256 of the address or the user name. */
  @PrimaryColumn('bytea')
  key!: Buffer;

  /** Number of failures at `updatedAt`. The number decreases by one per minute. */
  @Column('double precision')
  level!: number;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
