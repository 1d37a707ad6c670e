import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Failed logins from one address with one user name. Counting the pair keeps an attacker from locking a user out. */
@Entity({ name: 'login_failures' })
export class LoginFailure {
  @PrimaryColumn('text')
  address!: string;

  /** SHA-256 of the attempted user name: a fixed length for any input, and no list of names to steal. */
  @PrimaryColumn('bytea', { name: 'username_hash' })
  usernameHash!: Buffer;

  @Column('integer')
  failures!: number;

  @Column('timestamptz', { name: 'last_failed_at' })
  lastFailedAt!: Date;
}
