import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An address from which a user has logged in before. */
@Entity({ name: 'known_logins' })
export class KnownLogin {
  @PrimaryColumn('text')
  address!: string;

  /** `UsernameHasher`'s hash of the user name. */
  @PrimaryColumn('bytea', { name: 'username_hash' })
  usernameHash!: Buffer;

  @Column('timestamptz', { name: 'last_at' })
  lastAt!: Date;
}
