import { ApiProperty } from '@nestjs/swagger';
import { exampleTime } from '../http/time.js';
import { LiveConnectionRecord } from './system.dto.js';

/** What became of an event: when it happened, whether it was published, and which live connections would receive it now. */
export class EventDeliveryRecord {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Time of the event on the platform’s clock, UTC, to the second. Null for events of clients, for platform events without a time, and for tokens without `events:read`',
    example: exampleTime,
  })
  occurred!: string | null;

  @ApiProperty({
    description:
      'Whether the service has published the event to the EVENTS stream, from which live connections and other services receive ' +
      'events. True within a second after the event was stored, unless NATS is unavailable',
    example: true,
  })
  is_published!: boolean;

  @ApiProperty({
    type: [LiveConnectionRecord],
    description:
      'Your open live connections that would receive the event now, because the event passes their filters and the limits of their ' +
      'tokens. Gateways report their connections every 5 s. Omits connections whose filters are too long for a report',
  })
  matching_connections!: LiveConnectionRecord[];
}
