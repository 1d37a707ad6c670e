import { ApiProperty } from '@nestjs/swagger';
import type { SubscriptionMessage } from '@stream-events/contracts';
import { exampleTime, printTime } from '../http/time.js';

/** A subscription on the platform that is wanted, as the API shows one. */
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
    description: 'The platform’s id of it; null while it has none',
    example: '26b1c993-bfcf-44d9-b876-379dacafe75a',
  })
  subscription_id!: string | null;

  @ApiProperty({ description: 'Event type, as the platform writes it', example: 'stream.online' })
  type!: string;

  @ApiProperty({ description: 'Version of the event type', example: '1' })
  version!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'string' },
    description: 'What it is about',
    example: { broadcaster_user_id: '47019283' },
  })
  condition!: Record<string, string>;

  @ApiProperty({
    description:
      'The platform’s word (`enabled`, `webhook_callback_verification_pending`, `authorization_revoked`, …), or the service’s: ' +
      '`waiting` (to be created), `limit_reached` (no room under the platform’s limit: the streamer is polled), `refused` (the ' +
      'platform said no; it is asked again)',
    example: 'enabled',
  })
  status!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the status is what it is; null when there is nothing to say',
    example: null,
  })
  reason!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What it counts of the platform’s limit; null while that is not known',
    example: 1,
  })
  cost!: number | null;

  @ApiProperty({ description: 'UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({ description: 'UTC, to the second', example: exampleTime })
  updated!: string;
}

/** One page of the subscriptions. */
export class SubscriptionPage {
  @ApiProperty({ type: 'integer', description: 'How many match in all', example: 1 })
  count!: number;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'The page of older ones; null means the end',
    example: null,
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'The page of newer ones; null when there are none',
    example: null,
  })
  previous!: string | null;

  @ApiProperty({ type: [SubscriptionRecord], description: 'Newest first' })
  results!: SubscriptionRecord[];
}

/** Shows a subscription as the API does. */
export function toSubscriptionRecord(subscription: SubscriptionMessage): SubscriptionRecord {
  return {
    id: subscription.id,
    subscription_id: subscription.subscriptionId,
    type: subscription.type,
    version: subscription.version,
    condition: subscription.condition,
    status: subscription.status,
    reason: subscription.reason,
    cost: subscription.cost,
    created: printTime(subscription.createdAt),
    updated: printTime(subscription.updatedAt),
  };
}
