import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AuditAction } from './audit-actions.js';

/** One action in the audit log: who did what, to which object, when, and from where. Entries never change. */
@Entity({ name: 'audit_log' })
@Index('audit_log_action_index', ['action', 'id'])
@Index('audit_log_user_id_index', ['userId', 'id'])
export class AuditEntry {
  /** UUIDv7: contains the time of the action. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  action!: AuditAction;

  /** The user who acted, or null if unknown. No foreign key, because entries outlive users. */
  @Column('uuid', { name: 'user_id', nullable: true })
  userId!: string | null;

  /** The user's name at the time of the action. */
  @Column('text', { nullable: true })
  username!: string | null;

  /** Id of the affected object. For an event type: its name. For a call to the platform: the method and the endpoint. Null if unknown. */
  @Column('text', { name: 'object_id', nullable: true })
  objectId!: string | null;

  /** Client IP address. Null for actions on the server itself, or if the client is unknown. */
  @Column('text', { nullable: true })
  address!: string | null;

  /** Number of actions in this entry. Can be more than 1 for `RepeatedEntries`, and for failed logins above `FailedLoginLimit`. */
  @Column('integer')
  count!: number;
}
