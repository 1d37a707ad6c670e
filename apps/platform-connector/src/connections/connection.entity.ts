import type { ConnectionRole, ConnectionState } from '@stream-events/contracts';
import type { EncryptedColumn } from '@stream-events/database';
import { Check, Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** A user who has given consent or has been asked for it. See `ConnectionMessage`. */
@Entity({ name: 'connections' })
@Unique('connections_client_id_user_id_role_unique', ['clientId', 'userId', 'role'])
@Unique('connections_state_hash_unique', ['stateHash'])
@Check('connections_role_check', `role IN ('channel', 'bot')`)
@Check('connections_state_check', `state IN ('pending', 'connected', 'reconnect_needed', 'expired')`)
@Check(
  'connections_connected_check',
  `state <> 'connected' OR (user_id IS NOT NULL AND login IS NOT NULL
      AND access_token_encrypted IS NOT NULL AND refresh_token_encrypted IS NOT NULL)`,
)
export class Connection {
  /** UUIDv7. */
  @PrimaryColumn('uuid')
  id!: string;

  /** The application for which the user gives consent. */
  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text')
  state!: ConnectionState;

  @Column('text', { default: 'channel' })
  role!: ConnectionRole;

  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  @Column('text', { nullable: true })
  login!: string | null;

  @Column('text', { array: true })
  scopes!: string[];

  @Column('text', { name: 'user_code', nullable: true })
  userCode!: string | null;

  @Column('text', { name: 'verification_uri', nullable: true })
  verificationUri!: string | null;

  /** The device code, encrypted with `SECRET_KEY` and bound to the id, as the tokens are. */
  @Column('text', { name: 'device_code_encrypted', nullable: true })
  deviceCodeEncrypted!: string | null;

  /** SHA-256 of the secret that the browser brings back from the authorize page. Null when there is no secret or it was already used. */
  @Column('text', { name: 'state_hash', nullable: true })
  stateHash!: string | null;

  @Column('integer', { name: 'poll_interval_ms', nullable: true })
  pollIntervalMs!: number | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('text', { name: 'access_token_encrypted', nullable: true })
  accessTokenEncrypted!: string | null;

  @Column('text', { name: 'refresh_token_encrypted', nullable: true })
  refreshTokenEncrypted!: string | null;

  /** Whether the channel was added to the streamer monitor. */
  @Column('boolean', { name: 'is_monitored', default: false })
  isMonitored!: boolean;

  @Column('text', { nullable: true })
  remedy!: string | null;

  @Column('timestamptz', { name: 'due_at', nullable: true })
  dueAt!: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}

/** The columns with encrypted codes and tokens, for `KeyRotation`. */
export const connectionColumns: readonly EncryptedColumn[] = [
  'device_code_encrypted',
  'access_token_encrypted',
  'refresh_token_encrypted',
].map((column) => ({ table: 'connections', column, boundTo: 'id' }));
