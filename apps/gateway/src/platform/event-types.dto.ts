import { ApiProperty } from '@nestjs/swagger';
import type { EventTypeMessage } from '@stream-events/contracts';
import { inbound } from '@stream-events/platforms';
import { IsBoolean } from 'class-validator';
import { eventTypeStatus, eventTypeStatuses, type EventTypeStatus } from './event-type-status.js';

/** Body of `PUT /api/v1/platform/event-types/<type>`. */
export class EventTypeStateBody {
  @ApiProperty({ description: 'Whether every streamer is subscribed to it', example: true })
  @IsBoolean({ message: 'must be true or false' })
  active!: boolean;
}

/** A type of event that the platform has, in one version. */
export class EventTypeRecord {
  @ApiProperty({ description: 'As the platform writes it', example: 'stream.online' })
  type!: string;

  @ApiProperty({ description: 'As events have it', example: 'stream-online' })
  event_type!: string;

  @ApiProperty({ description: 'Version', example: '1' })
  version!: string;

  @ApiProperty({
    type: [String],
    description: 'What a subscription must name',
    example: ['broadcaster_user_id'],
  })
  condition!: string[];

  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    description: 'Groups of scopes: of each group, the streamer must have granted one',
    example: [],
  })
  scopes!: string[][];

  @ApiProperty({ description: 'What it tells', example: 'A channel went live' })
  description!: string;

  @ApiProperty({ description: 'Whether every streamer is subscribed to it', example: true })
  active!: boolean;

  @ApiProperty({
    enum: Object.keys(eventTypeStatuses),
    description: `How its subscriptions stand; the first that applies: ${Object.entries(eventTypeStatuses)
      .map(([status, meaning]) => `\`${status}\`: ${meaning}`)
      .join('; ')}`,
    example: 'enabled',
  })
  status!: EventTypeStatus;

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'integer' },
    description: 'How many of its subscriptions are in each status',
    example: { enabled: 120, limit_reached: 3 },
  })
  subscriptions!: Record<string, number>;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it cannot be made active; null when it can',
    example: null,
  })
  unsupported!: string | null;
}

/** Shows an event type as the API does. */
export function toEventTypeRecord(eventType: EventTypeMessage): EventTypeRecord {
  return {
    type: eventType.type,
    event_type: inbound.toEventType(eventType.type),
    version: eventType.version,
    condition: eventType.condition,
    scopes: eventType.scopes,
    description: eventType.description,
    active: eventType.active,
    status: eventTypeStatus(eventType),
    subscriptions: eventType.subscriptions,
    unsupported: eventType.unsupported,
  };
}
