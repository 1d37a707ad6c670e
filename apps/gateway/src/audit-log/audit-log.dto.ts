import { ApiProperty } from '@nestjs/swagger';
import { receivedAt } from '@stream-events/contracts';
import { exampleTime, printTime } from '../http/time.js';
import { auditActions, type AuditAction } from './audit-actions.js';
import type { AuditEntry } from './audit-entry.entity.js';

const exampleId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

/** An audit log entry, as the API returns it. */
export class AuditEntryRecord {
  @ApiProperty({ format: 'uuid', description: 'The id of the entry', example: exampleId })
  id!: string;

  @ApiProperty({ description: 'Time of the action, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({
    enum: Object.keys(auditActions),
    description:
      'The action. The part before the dot is the kind of the object. New versions of the service can add actions',
    example: 'user.disabled',
  })
  action!: AuditAction;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description:
      'The id of the user who acted. Null when the user is unknown: for failed logins that have no known user or share an entry, open registrations, completed connections, and owner resets',
    example: exampleId,
  })
  user_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The name of the user at the time of the action. Null when `user_id` is null',
    example: 'overlay-bot',
  })
  username!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The id of the object; for an event type, its name; for a call to the platform, the method and the endpoint. Null for failed logins that have no known user or share an entry, and for a new object if the request to create it failed without showing whether the object exists',
    example: exampleId,
  })
  object_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The IP address of the client. Null for completed connections, for owner resets, and for failed logins that share an entry',
    example: '192.0.2.1',
  })
  address!: string | null;

  @ApiProperty({
    description:
      'Number of actions that the entry represents. When a user repeats an action on the same object from the same address within a minute, one more entry represents the repetitions. After 60 different failed logins in a minute at one gateway, further failed logins share an entry',
    example: 1,
  })
  count!: number;
}

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
    description: 'URL of the page with newer entries. Null if there are no newer entries yet',
    example: 'http://127.0.0.1:8000/api/v1/audit-log?cursor=AQEBmqPBf158wp1cOxpqHwwR3q2-7wAAAAA',
  })
  previous!: string | null;

  @ApiProperty({ type: [AuditEntryRecord], description: 'The entries of this page, newest first' })
  results!: AuditEntryRecord[];
}

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
