import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A user's access token. The key itself is never in the database in clear. */
@Entity({ name: 'access_tokens' })
export class AccessToken {
  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  /** SHA-256 of the key, to look it up by. The key is random, so a fast hash does. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The key under `SECRET_KEY`, because `api-token-auth` gives the same key until it is rotated. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}
