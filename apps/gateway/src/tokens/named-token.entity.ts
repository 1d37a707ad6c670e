import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TokenScope } from '../access/token-scopes.js';

/**
 * A token with a name, which can be limited and revoked on its own, or a session. The database holds no copy of the key. A table
 * of its own, because version 0.1.0 gives every token in `access_tokens` all rights.
 */
@Entity({ name: 'named_tokens' })
export class NamedToken {
  /** UUIDv7: the newest is the highest. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  /** A session has all rights of its user. */
  @Column('boolean', { name: 'is_session' })
  isSession!: boolean;

  @Column('text')
  name!: string;

  /** Empty for a session. */
  @Column('text', { array: true })
  scopes!: TokenScope[];

  /** Null: events of all types. */
  @Column('text', { name: 'event_types', array: true, nullable: true })
  eventTypes!: string[] | null;

  /** Null: events of all channels. */
  @Column('text', { name: 'channel_ids', array: true, nullable: true })
  channelIds!: string[] | null;

  /** SHA-256 of the key, for look-ups. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The first four characters of the key, by which people recognize it. */
  @Column('text', { name: 'key_start' })
  keyStart!: string;

  /** Increases when the scopes or the limits change. Live connections with an older version are closed. */
  @Column('integer')
  version!: number;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** To the minute. Null until the token is used. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}
