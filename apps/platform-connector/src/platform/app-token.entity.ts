import type { EncryptedColumn } from '@stream-events/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The application's encrypted access token. All instances share it. */
@Entity({ name: 'app_tokens' })
export class AppToken {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** Encrypted with `SECRET_KEY` and bound to the client id; null when there is no token. */
  @Column('text', { name: 'token_encrypted', nullable: true })
  tokenEncrypted!: string | null;

  @Column('timestamptz', { name: 'issued_at', nullable: true })
  issuedAt!: Date | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** The platform's message when it last rejected the credentials; null when it last accepted them. */
  @Column('text', { nullable: true })
  refusal!: string | null;
}

/** The column with the encrypted token, for `KeyRotation`. If a token cannot be decrypted, the service requests a new one. */
export const appTokenColumn: EncryptedColumn = {
  table: 'app_tokens',
  column: 'token_encrypted',
  boundTo: 'client_id',
  isReplaceable: true,
};
