import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn, type Relation } from 'typeorm';
import { User } from './user.entity.js';

/** A user's access token. The key itself is never in the database in clear. */
@Entity({ name: 'access_tokens' })
export class AccessToken {
  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @OneToOne(() => User, (user) => user.token)
  @JoinColumn({ name: 'user_id' })
  user?: Relation<User>;

  /** SHA-256 of the key, to look it up by. The key is random, so a fast hash does. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The key under `SECRET_KEY`, because `api-token-auth` gives the same key until it is rotated. */
  @Column('text', { name: 'key_encrypted' })
  keyEncrypted!: string;
}
