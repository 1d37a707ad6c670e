import { ApiProperty } from '@nestjs/swagger';
import { exampleTime } from '../http/time.js';
import { LiveConnectionRecord } from './system.dto.js';

/** When an event happened, and where it has got to. */
export class EventDeliveryRecord {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'When the platform says that the event happened, UTC, to the second. Null for events of clients, and when the platform did not say it',
    example: exampleTime,
  })
  occurred!: string | null;

  @ApiProperty({
    description:
      'Whether the EVENTS stream has the event, from which live connections and other services receive it. True within a second ' +
      'after the event was stored, unless NATS is unavailable',
    example: true,
  })
  is_published!: boolean;

  @ApiProperty({
    type: [LiveConnectionRecord],
    description:
      'Your open live connections that would receive the event now, because it passes their filters and the limits of their tokens. ' +
      'Gateways report their connections every 5 s. A connection whose filters are too long for a report is missing',
  })
  matching_connections!: LiveConnectionRecord[];
}
