import { ApiProperty } from '@nestjs/swagger';
import { receivedAt } from '@stream-events/contracts';
import { exampleTime, printTime } from '../http/time.js';
import { auditActions, type AuditAction } from './audit-actions.js';
import type { AuditEntry } from './audit-entry.entity.js';

const exampleId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

/** An entry of the audit log in the API. */
export class AuditEntryRecord {
  @ApiProperty({ format: 'uuid', description: 'The id of the entry', example: exampleId })
  id!: string;

  @ApiProperty({ description: 'Time of the action, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({
    enum: Object.keys(auditActions),
    description: 'What was done. The part before the dot is the kind of the object. New versions add actions',
    example: 'user.disabled',
  })
  action!: AuditAction;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The id of the user who acted. Null if nobody has the user name of a failed login',
    example: exampleId,
  })
  user_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The name of the user at that time. Null like `user_id`',
    example: 'overlay-bot',
  })
  username!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The id of the object, or the name of the event type. Null for an unknown user',
    example: exampleId,
  })
  object_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The IP address of the client. Null for actions on the machine itself',
    example: '192.0.2.1',
  })
  address!: string | null;

  @ApiProperty({
    description:
      'Number of actions that the entry stands for. More than 1 only for failed logins: after 60 in a minute, one entry counts the others',
    example: 1,
  })
  count!: number;
}

/** One page of the audit log. */
export class AuditLogPageReply {
  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with older entries. Null on the last page',
    example: 'http://127.0.0.1:8000/api/v1/audit-log?cursor=AQABmqPBf158wp1cOxpqHwwR3q2-7wAAAAA',
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with newer entries. Null if there are none yet',
    example: 'http://127.0.0.1:8000/api/v1/audit-log?cursor=AQEBmqPBf158wp1cOxpqHwwR3q2-7wAAAAA',
  })
  previous!: string | null;

  @ApiProperty({ type: [AuditEntryRecord], description: 'The entries of this page, newest first' })
  results!: AuditEntryRecord[];
}

/** Converts an entry to its form in the API. */
export function toAuditEntryRecord(entry: AuditEntry): AuditEntryRecord {
  return {
    id: entry.id,
    created: printTime(receivedAt(entry.id)),
    action: entry.action,
    user_id: entry.userId,
    username: entry.username,
    object_id: entry.objectId,
    address: entry.address,
    count: entry.count,
  };
}
