import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TokenScope } from '../access/token-scopes.js';

/**
 * A session, or a named token, which can be limited and revoked separately. The database stores only a hash of the key. Sessions and named
 * tokens have their own table, because version 0.1.0 of the service gives every token in `access_tokens` all rights.
 */
@Entity({ name: 'named_tokens' })
export class NamedToken {
  /** A UUIDv7, so ids sort by creation time. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'user_id' })
  userId!: string;

  /** Whether the token is a session, which has all rights of its user. */
  @Column('boolean', { name: 'is_session' })
  isSession!: boolean;

  @Column('text')
  name!: string;

  /** Empty for a session. */
  @Column('text', { array: true })
  scopes!: TokenScope[];

  /** The event types that the token is limited to. Null: events of all types. */
  @Column('text', { name: 'event_types', array: true, nullable: true })
  eventTypes!: string[] | null;

  /** The channels that the token is limited to. Null: events of all channels. */
  @Column('text', { name: 'channel_ids', array: true, nullable: true })
  channelIds!: string[] | null;

  /** SHA-256 of the key, for lookups. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The first four characters of the key, so that people can recognize the token. */
  @Column('text', { name: 'key_start' })
  keyStart!: string;

  /** Increases when the scopes or the limits change. Gateways then close the live connections that use an older version. */
  @Column('integer')
  version!: number;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** Time of the last use, to the minute. Null until the token is used. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}
