import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A connected user's event socket. One connector at a time holds it. */
@Entity({ name: 'user_sessions' })
export class UserSession {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  /** The session's id on the platform; null while the socket is not connected. */
  @Column('text', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  /** The id of the claim by which a connector holds the socket. */
  @Column('uuid', { nullable: true })
  holder!: string | null;

  @Column('timestamptz', { name: 'held_until', nullable: true })
  heldUntil!: Date | null;

  /** All messages that arrived before this time are stored or recorded as lost. */
  @Column('timestamptz', { name: 'settled_at', nullable: true })
  settledAt!: Date | null;
}
