import { ApiProperty } from '@nestjs/swagger';
import type { PlatformStatusReply } from '@stream-events/contracts';
import { platformNames } from '@stream-events/platforms';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

class CredentialsState {
  @ApiProperty({
    description: 'Whether client id and secret are configured; they are never shown',
    example: true,
  })
  present!: boolean;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the platform has accepted them; null while it was not asked',
    example: true,
  })
  valid!: boolean | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the access token ends, which is renewed before; null while there is none',
    example: exampleTime,
  })
  token_expires!: string | null;
}

class RateBudget {
  @ApiProperty({ type: 'integer', description: 'Calls a minute that the platform grants', example: 800 })
  limit!: number;

  @ApiProperty({ type: 'integer', description: 'How many are left', example: 641 })
  remaining!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Until when none is made, as the platform said that there were too many; null: they go on',
    example: null,
  })
  blocked_until!: string | null;
}

class SubscriptionCost {
  @ApiProperty({ type: 'integer', description: 'What the subscriptions cost together', example: 240 })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'What they may cost', example: 10000 })
  max!: number;
}

class StreamerCoverage {
  @ApiProperty({ type: 'integer', description: 'Streamers that are not disabled', example: 123 })
  monitored!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Of whom the platform tells by itself when they go on and off',
    example: 120,
  })
  subscribed!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Who are only polled: there is no room under the platform’s limit, it refuses, or it was not told where to send',
    example: 3,
  })
  polled_only!: number;
}

class PlatformFailure {
  @ApiProperty({ description: 'UTC, to the second', example: exampleTime })
  at!: string;

  @ApiProperty({ description: 'What failed, and how', example: 'The platform did not answer in time.' })
  message!: string;
}

/** How things stand with the platform. */
export class PlatformStatus {
  @ApiProperty({
    enum: platformNames,
    description: 'Which platform; with `simulator` all of its events are simulated',
    example: 'simulator',
  })
  platform!: PlatformStatusReply['platform'];

  @ApiProperty({ type: CredentialsState, description: 'Of your application on the platform' })
  credentials!: CredentialsState;

  @ApiProperty({
    type: RateBudget,
    nullable: true,
    description: 'The platform’s rate limit, by its own word; null until it has said it',
  })
  budget!: RateBudget | null;

  @ApiProperty({
    enum: ['closed', 'open'],
    description: '`open`: calls have failed so often that the connector that answers makes none for a while',
    example: 'closed',
  })
  circuit!: PlatformStatusReply['circuit'];

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'integer' },
    description: 'How many subscriptions are in each status',
    example: { enabled: 240, limit_reached: 6 },
  })
  subscriptions!: Record<string, number>;

  @ApiProperty({
    type: SubscriptionCost,
    nullable: true,
    description: 'The platform’s limit on subscriptions, by its own word; null until it has said it',
  })
  cost!: SubscriptionCost | null;

  @ApiProperty({ type: StreamerCoverage, description: 'How the service learns of streams' })
  streamers!: StreamerCoverage;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Where the platform sends its messages; null when it was not told, and all streamers are polled',
    example: 'https://events.example.org/api/v1/platform-events/webhook',
  })
  callback!: string | null;

  @ApiProperty({
    type: PlatformFailure,
    nullable: true,
    description: 'The latest failure, of whichever connector; null: none',
  })
  last_error!: PlatformFailure | null;
}

/** Shows the status as the API does. */
export function toPlatformStatus(status: PlatformStatusReply): PlatformStatus {
  const { credentials, budget, cost, streamers, lastError } = status;
  return {
    platform: status.platform,
    credentials: {
      present: credentials.present,
      valid: credentials.valid,
      token_expires: printTimeOrNull(credentials.tokenExpiresAt),
    },
    budget: budget && {
      limit: budget.limit,
      remaining: budget.remaining,
      blocked_until: printTimeOrNull(budget.blockedUntil),
    },
    circuit: status.circuit,
    subscriptions: status.subscriptions,
    cost: cost && { total: cost.total, max: cost.max },
    streamers: {
      monitored: streamers.monitored,
      subscribed: streamers.subscribed,
      polled_only: streamers.polledOnly,
    },
    callback: status.callback,
    last_error: lastError && { at: printTime(lastError.at), message: lastError.message },
  };
}
