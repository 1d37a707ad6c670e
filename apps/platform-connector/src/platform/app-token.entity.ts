import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The application's access token, one for all instances. It is never in the database in clear. */
@Entity({ name: 'app_tokens' })
export class AppToken {
  @PrimaryColumn('text', { name: 'client_id' })
  clientId!: string;

  /** Under `SECRET_KEY`, bound to the client id; null when there is none. */
  @Column('text', { name: 'token_encrypted', nullable: true })
  tokenEncrypted!: string | null;

  @Column('timestamptz', { name: 'issued_at', nullable: true })
  issuedAt!: Date | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** What the platform said when it refused the credentials; null when it last took them. */
  @Column('text', { nullable: true })
  refusal!: string | null;
}
