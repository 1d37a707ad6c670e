import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Failed logins of one address on one user name: the pair, so that nobody can lock another out. */
@Entity({ name: 'login_failures' })
export class LoginFailure {
  @PrimaryColumn('text')
  address!: string;

  /** SHA-256 of the user name as it was tried: of any length, and no list of names to steal. */
  @PrimaryColumn('bytea', { name: 'username_hash' })
  usernameHash!: Buffer;

  @Column('integer')
  failures!: number;

  @Column('timestamptz', { name: 'last_failed_at' })
  lastFailedAt!: Date;
}
