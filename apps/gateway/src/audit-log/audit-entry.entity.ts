import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AuditAction } from './audit-actions.js';

/** An audit log entry: who did what, to which object, when, and from where. Entries never change. */
@Entity({ name: 'audit_log' })
export class AuditEntry {
  /** UUIDv7: contains the time of the action. */
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  action!: AuditAction;

  /** The user who acted. No foreign key, because entries outlive users. Null when the user is unknown. */
  @Column('uuid', { name: 'user_id', nullable: true })
  userId!: string | null;

  /** The name of the user at the time of the action. */
  @Column('text', { nullable: true })
  username!: string | null;

  /** The id of the object; for an event type, its name; for a call to the platform, the method and the endpoint. Null when unknown. */
  @Column('text', { name: 'object_id', nullable: true })
  objectId!: string | null;

  /** The IP address of the client. Null for actions on the machine itself, and when the client is unknown. */
  @Column('text', { nullable: true })
  address!: string | null;

  /** The number of actions that the entry represents. More than 1 only for failed logins above the limit in `FailedLoginLimit`. */
  @Column('integer')
  count!: number;
}
