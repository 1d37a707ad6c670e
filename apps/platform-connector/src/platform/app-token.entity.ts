import type { EncryptedColumn } from '@stream-events/database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The application's access token, shared by all instances. The database holds it only encrypted. */
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

  /** The platform's message when it last rejected the credentials; null when it accepted them. */
  @Column('text', { nullable: true })
  refusal!: string | null;
}

/** The encrypted tokens, for `KeyRotation`. The platform issues a new token when one cannot be decrypted. */
export const appTokenColumn: EncryptedColumn = {
  table: 'app_tokens',
  column: 'token_encrypted',
  boundTo: 'client_id',
  isReplaceable: true,
};
