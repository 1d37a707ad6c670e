import { ApiProperty } from '@nestjs/swagger';
import {
  eventOrigins,
  retryOutcomes,
  type EventOrigin,
  type DeadLetterDetail,
  type DeadLetterSummary,
} from '@stream-events/contracts';
import { printTime } from '../http/time.js';

const exampleId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

/** A dead letter as the list shows it, without its payload. */
export class DeadLetterItem {
  @ApiProperty({
    format: 'uuid',
    description: 'The id of the dead letter. Also the id of the event, unless the message could not be read',
    example: exampleId,
  })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The platform’s message id, or the id of a test event. Null for events that a client added, and for messages that could not be read',
    example: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
  })
  event_id!: string | null;

  @ApiProperty({ description: 'The type of the event', example: 'channel-raid' })
  event_type!: string;

  @ApiProperty({ description: 'The source of the event', example: 'PlatformSub' })
  event_source!: string;

  @ApiProperty({ enum: eventOrigins, description: 'The origin of the event', example: 'platform' })
  origin!: EventOrigin;

  @ApiProperty({
    description: 'The SQLSTATE code of the last rejection. Empty when PostgreSQL did not reject the event',
    example: '23514',
  })
  sql_state!: string;

  @ApiProperty({
    description:
      'Why the event is not stored: PostgreSQL’s error message for the last rejection, or the service’s own reason',
    example: 'new row for relation "events_2026_11" violates check constraint "events_event_data_check"',
  })
  reason!: string;

  @ApiProperty({
    description: 'Time of the first rejection, UTC, to the second',
    example: '2026-11-21T07:30:00+0000',
  })
  failed_at!: string;
}

/** A dead letter with its payload. */
export class DeadLetterRecord extends DeadLetterItem {
  @ApiProperty({
    description: 'The payload as text, exactly as received. May be invalid JSON',
    example: '[{"broadcaster_user_id":"47019283"}]',
  })
  event_data!: string;
}

export class DeadLetterPage {
  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with older dead letters. Null on the last page',
    example: 'http://127.0.0.1:8000/api/v1/dead-letters?cursor=AQABmqPBf158wp1cOxpqHwwR3q2-7wAAAAA',
  })
  next!: string | null;

  @ApiProperty({ type: [DeadLetterItem], description: 'The dead letters of this page, newest first' })
  results!: DeadLetterItem[];
}

export class RetryReply {
  @ApiProperty({
    enum: retryOutcomes,
    description:
      '`stored`: the event is stored. `known`: the platform redelivered the message, so the event was already stored',
    example: 'stored',
  })
  outcome!: (typeof retryOutcomes)[number];

  @ApiProperty({ format: 'uuid', description: 'The id of the event', example: exampleId })
  id!: string;
}

export function toDeadLetterItem(message: DeadLetterSummary): DeadLetterItem {
  return {
    id: message.id,
    event_id: message.eventId,
    event_type: message.eventType,
    event_source: message.eventSource,
    origin: message.origin,
    sql_state: message.sqlState,
    reason: message.reason,
    failed_at: printTime(message.failedAt),
  };
}

export function toDeadLetterRecord(message: DeadLetterDetail): DeadLetterRecord {
  return { ...toDeadLetterItem(message), event_data: message.eventData };
}
