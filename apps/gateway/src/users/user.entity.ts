import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Role } from '../access/caller.js';

@Entity({ name: 'users' })
export class User {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  username!: string;

  /** The user name as `toUsernameKey` normalizes it. Unique, because people confuse names that differ only in case. */
  @Column('text', { name: 'username_key', unique: true })
  usernameKey!: string;

  /** scrypt hash, see `PasswordHasher`. */
  @Column('text', { name: 'password_hash', select: false })
  passwordHash!: string;

  @Column('text')
  role!: Role;

  @Column('text', { name: 'first_name' })
  firstName!: string;

  @Column('text', { name: 'last_name' })
  lastName!: string;

  @Column('text')
  email!: string;

  @Column('boolean', { name: 'is_disabled' })
  isDisabled!: boolean;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}

/** Normalizes a user name for comparison. */
export function toUsernameKey(username: string): string {
  return username.trim().toLowerCase();
}
