import type { EncryptedColumn } from '@stream-events/database';
import { Column, Entity, Generated, PrimaryColumn } from 'typeorm';

/** A user's main token. The key is stored hashed and encrypted, never in plain text. */
@Entity({ name: 'access_tokens' })
export class MainToken {
  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('uuid', { unique: true })
  @Generated('uuid')
  id!: string;

  /** SHA-256 of the key, for lookups. A fast hash is safe, because the key is random. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The key, encrypted with `SECRET_KEY`, because `api-token-auth` returns the same key until somebody rotates or revokes the token. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;

  /** The first four characters of the key. */
  @Column('text', { name: 'key_start' })
  keyStart!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Last use, to the minute. Null if never used. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}

/** Tells `KeyRotation` where the encrypted keys are. */
export const mainTokenColumn: EncryptedColumn = {
  table: 'access_tokens',
  column: 'key_encrypted',
  boundTo: 'user_id',
};
