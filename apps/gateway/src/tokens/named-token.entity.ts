import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TokenScope } from '../access/token-scopes.js';

/** A session or a named token. Of the key, only a hash and the first four characters are stored. */
@Entity({ name: 'named_tokens' })
export class NamedToken {
  /** UUIDv7: sorts by creation time. */
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

  /** Limits the token to these event types. Null: all types. */
  @Column('text', { name: 'event_types', array: true, nullable: true })
  eventTypes!: string[] | null;

  /** Limits the token to these channels. Null: all channels. */
  @Column('text', { name: 'channel_ids', array: true, nullable: true })
  channelIds!: string[] | null;

  /** SHA-256 of the key, for lookups. */
  @Column('bytea', { name: 'key_hash', unique: true })
  keyHash!: Buffer;

  /** The first four characters of the key, by which people recognize the token. */
  @Column('text', { name: 'key_start' })
  keyStart!: string;

  /** Increases when the scopes or limits change. Gateways then close live connections that still have the old rights. */
  @Column('integer')
  version!: number;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** Last use, to the minute. Null if never used. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt!: Date | null;
}
