import type { EncryptedColumn } from '@stream-events/database';
import { Column, Entity, Generated, PrimaryColumn } from 'typeorm';

/** A user's main token. The database never holds the key in plain text. */
@Entity({ name: 'access_tokens' })
export class MainToken {
  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('uuid', { unique: true })
  @Generated('uuid')
  id!: string;

  /** SHA-256 of the key, for lookups. The key is random, so a fast hash is enough. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The key, encrypted with `SECRET_KEY`: `api-token-auth` returns the same key until the user rotates the token. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;

  /** The first four characters of the key. Null for a token that version 0.1.0 of the service created. */
  @Column('text', { name: 'key_start', nullable: true })
  keyStart!: string | null;

  @Column('timestamptz', { name: 'created_at', nullable: true })
  createdAt!: Date | null;

  /** Time of the last use, to the minute. Null until the token is used. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}

/** The column of encrypted keys, for `KeyRotation`. */
export const mainTokenColumn: EncryptedColumn = {
  table: 'access_tokens',
  column: 'key_encrypted',
  boundTo: 'user_id',
};
