import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { SubscriptionMessage, SubscriptionTransportMessage } from '@stream-events/contracts';
import { exampleTime, printTime } from '../http/time.js';

class SubscriptionTransportRecord {
  @ApiProperty({
    description: 'How the messages arrive: `webhook`, `conduit`, or `websocket`',
    example: 'conduit',
  })
  method!: string;

  @ApiPropertyOptional({
    description: 'The URL to which the platform sends the messages. Only for `webhook`',
  })
  callback?: string;

  @ApiPropertyOptional({
    description: 'The conduit’s id on the platform. Only for `conduit`',
    example: '26b1c993-bfcf-44d9-b876-379dacafe75a',
  })
  conduit_id?: string;

  @ApiPropertyOptional({ description: 'The WebSocket session’s id on the platform. Only for `websocket`' })
  session_id?: string;
}

/** A subscription that the service wants on the platform, whether or not it exists there. */
export class SubscriptionRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The subscription’s id on the platform. Null until the platform assigns one',
    example: '26b1c993-bfcf-44d9-b876-379dacafe75a',
  })
  subscription_id!: string | null;

  @ApiProperty({ description: 'The event type as the platform writes it', example: 'stream.online' })
  type!: string;

  @ApiProperty({ description: 'The version of the event type', example: '1' })
  version!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'string' },
    description: 'The condition of the subscription',
    example: { broadcaster_user_id: '47019283' },
  })
  condition!: Record<string, string>;

  @ApiProperty({
    type: SubscriptionTransportRecord,
    nullable: true,
    description: 'How the messages of the subscription arrive. Null until the platform reports the transport',
  })
  transport!: SubscriptionTransportRecord | null;

  @ApiProperty({
    description:
      'A status of the platform (`enabled`, `webhook_callback_verification_pending`, `authorization_revoked`, …) or of the ' +
      'service: `waiting` (not created yet), `limit_reached` (exceeds the platform’s limit; the streamer is polled), `refused` ' +
      '(the platform rejected the subscription; the service tries again), `not_granted` (a user has not given the consent that the ' +
      'subscription needs; `reason` says what to do)',
    example: 'enabled',
  })
  status!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The reason for the status, or why a working subscription could not move to another transport or webhook secret. ' +
      'Null if there is nothing to explain',
    example: null,
  })
  reason!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The cost that counts toward the platform’s limit. Null until the platform reports the cost',
    example: 1,
  })
  cost!: number | null;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({ description: 'Time of the last change, UTC, to the second', example: exampleTime })
  updated!: string;
}

export class SubscriptionPage {
  @ApiProperty({ type: 'integer', description: 'Number of subscriptions on all pages', example: 1 })
  count!: number;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with older subscriptions. Null on the last page',
    example: null,
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with newer subscriptions. Null on the first page',
    example: null,
  })
  previous!: string | null;

  @ApiProperty({ type: [SubscriptionRecord], description: 'The subscriptions of this page, newest first' })
  results!: SubscriptionRecord[];
}

export function toSubscriptionRecord(subscription: SubscriptionMessage): SubscriptionRecord {
  return {
    id: subscription.id,
    subscription_id: subscription.subscriptionId,
    type: subscription.type,
    version: subscription.version,
    condition: subscription.condition,
    transport: subscription.transport && toTransportRecord(subscription.transport),
    status: subscription.status,
    reason: subscription.reason,
    cost: subscription.cost,
    created: printTime(subscription.createdAt),
    updated: printTime(subscription.updatedAt),
  };
}

function toTransportRecord({
  method,
  callback,
  conduitId,
  sessionId,
}: SubscriptionTransportMessage): SubscriptionTransportRecord {
  return {
    method,
    ...(callback !== undefined && { callback }),
    ...(conduitId !== undefined && { conduit_id: conduitId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
  };
}
