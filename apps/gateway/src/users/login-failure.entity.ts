import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Failed logins from one address with one user name. Counting per address keeps an attacker at one address from locking the user out at
 * other addresses.
 */
@Entity({ name: 'login_failures' })
export class LoginFailure {
  @PrimaryColumn('text')
  address!: string;

  /** `UsernameHasher`'s hash of the attempted user name. */
  @PrimaryColumn('bytea', { name: 'username_hash' })
  usernameHash!: Buffer;

  @Column('integer')
  failures!: number;

  @Column('timestamptz', { name: 'last_failed_at' })
  lastFailedAt!: Date;
}
