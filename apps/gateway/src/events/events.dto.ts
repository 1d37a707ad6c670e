import { ApiProperty } from '@nestjs/swagger';
import { eventOrigins, IsText, type EventOrigin } from '@stream-events/contracts';
import { IsJsonObject, type JsonText } from '../http/json-text.dto.js';
import { Trimmed } from '../http/json-body.decorator.js';

/** The data of a `stream-offline` event, for examples. */
export const exampleData = {
  broadcaster_user_id: '47019283',
  broadcaster_user_login: 'mira_plays',
  broadcaster_user_name: 'Mira_Plays',
};

/** Body of `POST /api/v1/platform-events`. */
export class CreateEventBody {
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    description: 'Event type. Surrounding white space is removed.',
    example: 'stream-offline',
  })
  @Trimmed()
  @IsText(1, 255)
  event_type!: string;

  @ApiProperty({
    minLength: 1,
    maxLength: 32,
    description: 'Your name for the source of the event; stored as sent',
    example: 'PlatformSub',
  })
  @IsText(1, 32)
  event_source!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: true,
    description: 'The payload; stored and returned exactly as sent',
    example: exampleData,
  })
  @IsJsonObject()
  event_data!: JsonText;
}

/** An event as the API returns it. */
export class EventRecord {
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Id of the event; null for test events',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The platform’s message id, or the id of a test event; null for events that a client added',
    example: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
  })
  event_id!: string | null;

  @ApiProperty({ description: 'Event type', example: 'stream-offline' })
  event_type!: string;

  @ApiProperty({
    description:
      '`PlatformSub` for events from the platform’s subscriptions, `TestCall` for test events, otherwise the value that the client sent',
    example: 'PlatformSub',
  })
  event_source!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: true,
    description: 'The payload, exactly as received',
    example: exampleData,
  })
  event_data!: Record<string, unknown>;

  @ApiProperty({
    description:
      'Time when the service received the event, UTC: to the second, with the offset `+0000`; for test events, to the microsecond, with the offset `+00:00`',
    example: '2026-11-21T07:30:00+0000',
  })
  created!: string;

  @ApiProperty({
    enum: eventOrigins,
    description:
      '`test` for test events; `platform` for all other events, including events that clients added',
    example: 'platform',
  })
  origin!: EventOrigin;
}

const exampleRecord = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  event_id: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
  event_type: 'stream-offline',
  event_source: 'PlatformSub',
  event_data: exampleData,
  created: '2026-11-21T07:30:00+0000',
  origin: 'platform',
};

const exampleLink = 'http://127.0.0.1:8000/api/v1/platform-events?cursor=AQABmqPBf158wp1cOxpqHwwR3q2-7wAAAAA';

export class EventPage {
  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with older events; null on the last page',
    example: exampleLink,
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with newer events; null if there are no newer events yet',
    example: null,
  })
  previous!: string | null;

  @ApiProperty({
    type: [EventRecord],
    description:
      'The events of this page, newest first. A page can have fewer events than `page_size`, or no events, even if there is a `next` page.',
    example: [exampleRecord],
  })
  results!: EventRecord[];
}
