import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** An alarm. At most one alarm per key is open. */
@Entity({ name: 'alarms' })
@Index('alarms_open_key_unique', ['key'], { unique: true, where: 'cleared_at IS NULL' })
@Index('alarms_cleared_at_index', ['clearedAt'])
export class Alarm {
  @PrimaryColumn('uuid')
  id!: string;

  /** See `AlarmKey`. */
  @Column('text')
  key!: string;

  @Column('text')
  message!: string;

  @Column('timestamptz', { name: 'raised_at', default: () => 'now()' })
  raisedAt!: Date;

  /** When a process last reported that the cause still exists. */
  @Column('timestamptz', { name: 'repeated_at', default: () => 'now()' })
  repeatedAt!: Date;

  /** Null while the alarm is open. */
  @Column('timestamptz', { name: 'cleared_at', nullable: true })
  clearedAt!: Date | null;
}

/** A message that has not been posted to the alert webhook yet. */
@Entity({ name: 'alarm_posts' })
export class AlarmPost {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  sequence!: string;

  /** The `webhook-id`. All attempts have the same id. */
  @Column('uuid')
  id!: string;

  @Column('uuid', { name: 'alarm_id' })
  alarmId!: string;

  @Column('text')
  body!: string;

  @Column('integer', { default: 0 })
  attempts!: number;

  /**
   * When the next attempt is due. While an instance posts the message, this is the time from which another instance may claim the message.
   */
  @Column('timestamptz', { name: 'due_at', default: () => 'now()' })
  dueAt!: Date;
}

/** The lease for the checks that concern all instances. The holder runs the checks. The table has only this row. */
@Entity({ name: 'alarm_checks' })
export class AlarmCheckLease {
  @PrimaryColumn('boolean', { default: true })
  id!: boolean;

  @Column('uuid', { nullable: true })
  holder!: string | null;

  @Column('timestamptz', { name: 'held_until', default: () => 'now()' })
  heldUntil!: Date;
}
