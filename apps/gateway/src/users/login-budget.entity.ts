import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The budget of failed logins for one client network or one user name. */
@Entity({ name: 'login_budgets' })
export class LoginBudget {
  /** SHA-256 of the prefixed network, or of the prefixed hash of the user name (`budgetsOf`). */
  @PrimaryColumn('bytea')
  key!: Buffer;

  /** Number of failures at `updatedAt`. Since then, one failure per minute has expired. */
  @Column('double precision')
  level!: number;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
