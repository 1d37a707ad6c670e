import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The event socket of a connected user, which one connector holds at a time. */
@Entity({ name: 'user_sessions' })
export class UserSession {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  /** The platform's id of the session; null while the socket is not connected. */
  @Column('text', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  /** The claim of the connector that holds the socket. */
  @Column('uuid', { nullable: true })
  holder!: string | null;

  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil!: Date | null;

  /** Everything that arrived before this time is stored. */
  @Column('timestamptz', { name: 'settled_at', nullable: true })
  settledAt!: Date | null;
}
