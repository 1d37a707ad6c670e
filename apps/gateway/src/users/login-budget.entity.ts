import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The failed logins of one address, or with one user name. */
@Entity({ name: 'login_budgets' })
export class LoginBudget {
  /** SHA-256 of the address or of the user name. */
  @PrimaryColumn('bytea')
  key!: Buffer;

  /** Number of failures at `updatedAt`. Since then, the number has decreased by one per minute. */
  @Column('double precision')
  level!: number;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
