import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A user's access token. The database never holds the key in plain text. */
@Entity({ name: 'access_tokens' })
export class AccessToken {
  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  /** SHA-256 of the key, for lookups. The key is random, so a fast hash is enough. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The key, encrypted with `SECRET_KEY`: `api-token-auth` returns the same key until the user rotates it. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}
