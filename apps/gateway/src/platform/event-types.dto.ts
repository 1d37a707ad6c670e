import { ApiProperty } from '@nestjs/swagger';
import type { EventTypeMessage } from '@stream-events/contracts';
import { exampleOf, inbound, schemaOf, type EventType } from '@stream-events/platforms';
import { IsBoolean } from 'class-validator';
import { describeScope } from './describe-scope.js';
import { eventTypeStatus, eventTypeStatuses, type EventTypeStatus } from './event-type-status.js';

/** Body of `PUT /api/v1/platform/event-types/<type>`. */
export class EventTypeStateBody {
  @ApiProperty({ description: 'Whether to activate the event type', example: true })
  @IsBoolean({ message: 'must be true or false' })
  active!: boolean;
}

/** One version of an event type of the platform. */
export class EventTypeRecord {
  @ApiProperty({ description: 'The type as the platform writes it', example: 'stream.online' })
  type!: string;

  @ApiProperty({ description: 'The type as it appears in events', example: 'stream-online' })
  event_type!: string;

  @ApiProperty({ description: 'Version', example: '1' })
  version!: string;

  @ApiProperty({
    type: [String],
    description: 'The fields that the condition of a subscription must have',
    example: ['broadcaster_user_id'],
  })
  condition!: string[];

  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    description: 'Groups of scopes. The streamer must have granted at least one scope of each group',
    example: [],
  })
  scopes!: string[][];

  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    description: 'Descriptions of the scopes, in the same groups and order as `scopes`',
    example: [],
  })
  permissions!: string[][];

  @ApiProperty({ description: 'What the event reports', example: 'A channel went live' })
  description!: string;

  @ApiProperty({ description: 'Whether the service subscribes streamers to the event type', example: true })
  active!: boolean;

  @ApiProperty({
    enum: Object.keys(eventTypeStatuses),
    description: `The state of the subscriptions, as the first of these states that applies: ${Object.entries(
      eventTypeStatuses,
    )
      .map(([status, meaning]) => `\`${status}\`: ${meaning}`)
      .join('; ')}`,
    example: 'enabled',
  })
  status!: EventTypeStatus;

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'integer' },
    description: 'Number of subscriptions by status',
    example: { enabled: 120, limit_reached: 3 },
  })
  subscriptions!: Record<string, number>;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the event type cannot be activated. Null if it can be activated',
    example: null,
  })
  unsupported!: string | null;

  @ApiProperty({
    description: 'Path of the event type’s details, with the JSON Schema of its events and an example',
    example: '/api/v1/platform/event-types/stream.online?version=1',
  })
  details!: string;
}

/** An event type with the JSON Schema of its events and an example. */
export class EventTypeDetails extends EventTypeRecord {
  @ApiProperty({
    type: 'integer',
    description:
      'How much a subscription counts toward the platform’s limit. The cost is 0 if the user in the subscription’s condition has given your application any consent',
    example: 1,
  })
  cost!: number;

  @ApiProperty({
    type: Object,
    additionalProperties: true,
    description:
      'The JSON Schema (draft 2020-12) of `event_data`. The schema permits other fields, because the platform adds fields without notice',
    example: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {},
      required: [],
    },
  })
  schema!: Record<string, unknown>;

  @ApiProperty({
    type: Object,
    additionalProperties: true,
    description: 'An example of `event_data`',
    example: { broadcaster_user_id: '1337' },
  })
  example!: Record<string, unknown>;
}

export function toEventTypeRecord(eventType: EventTypeMessage): EventTypeRecord {
  return {
    type: eventType.type,
    event_type: inbound.toEventType(eventType.type),
    version: eventType.version,
    condition: eventType.condition,
    scopes: eventType.scopes,
    permissions: eventType.scopes.map((group) => group.map(describeScope)),
    description: eventType.description,
    active: eventType.active,
    status: eventTypeStatus(eventType),
    subscriptions: eventType.subscriptions,
    unsupported: eventType.unsupported,
    details: `/api/v1/platform/event-types/${eventType.type}?version=${eventType.version}`,
  };
}

export function toEventTypeDetails(eventType: EventTypeMessage, row: EventType): EventTypeDetails {
  return {
    ...toEventTypeRecord(eventType),
    cost: eventType.scopes.length > 0 ? 0 : 1,
    schema: schemaOf(row),
    example: exampleOf(row),
  };
}
