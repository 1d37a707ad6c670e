import { ApiProperty } from '@nestjs/swagger';
import {
  circuitStates,
  shardStates,
  socketTransports,
  type DeliveryGapMessage,
  type PlatformStatusReply,
  type ShardMessage,
  type TransportMessage,
} from '@stream-events/contracts';
import { platformNames } from '@stream-events/platforms';
import { AlarmRecord, toAlarmRecord } from './alarm.dto.js';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

class CredentialsState {
  @ApiProperty({
    description: 'Whether the client id and the client secret are configured. The API never shows them',
    example: true,
  })
  present!: boolean;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the platform accepts the credentials. Null until the service has used them',
    example: true,
  })
  valid!: boolean | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'When the access token expires. The service renews the token before it expires. Null if there is no token',
    example: exampleTime,
  })
  token_expires!: string | null;
}

class RateBudget {
  @ApiProperty({
    type: 'integer',
    description: 'Number of calls per minute that the platform allows',
    example: 800,
  })
  limit!: number;

  @ApiProperty({ type: 'integer', description: 'Number of calls left', example: 641 })
  remaining!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The service makes no calls until this time, because the platform reported too many calls. Null if calls are not blocked',
    example: null,
  })
  blocked_until!: string | null;
}

class SubscriptionCost {
  @ApiProperty({ type: 'integer', description: 'Total cost of all subscriptions', example: 240 })
  total!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Maximum total cost that the platform allows',
    example: 10000,
  })
  max!: number;
}

class StreamerCoverage {
  @ApiProperty({ type: 'integer', description: 'Number of streamers that are not disabled', example: 123 })
  monitored!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Number of streamers with subscriptions, so that the platform reports when their streams start and end',
    example: 120,
  })
  subscribed!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Number of streamers whose streams the service detects only by polling, because their subscriptions exceed the platform’s ' +
      'limit or were rejected, or because no events arrive from the platform',
    example: 3,
  })
  polled_only!: number;
}

class ShardState {
  @ApiProperty({ type: 'integer', description: 'Number of the shard', example: 0 })
  id!: number;

  @ApiProperty({
    enum: shardStates,
    description:
      '`lost` shards get no events until a connector reconnects them. `foreign` shards are connected to another installation',
    example: 'enabled',
  })
  state!: ShardMessage['state'];

  @ApiProperty({
    description: '`enabled`, or why the shard is not enabled: a status of the platform or of this service',
    example: 'enabled',
  })
  status!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The host and process id of the connector that holds the shard. Null if no connector holds it',
    example: 'connector-1:42',
  })
  holder!: string | null;

  @ApiProperty({
    description: 'Time of the last change of the state, UTC, to the second',
    example: exampleTime,
  })
  since!: string;
}

class ConduitState {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The conduit’s id on the platform. Null until the platform has created it',
    example: '26b1c993-bfcf-44d9-b876-379dacafe75a',
  })
  id!: string | null;

  @ApiProperty({ type: [ShardState], description: 'The shards, each with a WebSocket of one connector' })
  shards!: ShardState[];
}

class TransportState {
  @ApiProperty({
    enum: ['webhook', 'conduit', 'websocket'],
    nullable: true,
    description: 'The transport of new subscriptions, see PLATFORM_TRANSPORT. Null with PLATFORM=none',
    example: 'conduit',
  })
  method!: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'Number of working subscriptions with this transport. The other subscriptions move to this transport one by one',
    example: 400,
  })
  moved!: number;

  @ApiProperty({ type: 'integer', description: 'Number of working subscriptions', example: 400 })
  total!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why events may be missing or some subscriptions do not move to this transport, and what to do. Null if there is no problem',
    example: null,
  })
  problem!: string | null;

  @ApiProperty({
    type: ConduitState,
    nullable: true,
    description: 'The conduit of this installation. Null if there is no conduit',
  })
  conduit!: ConduitState | null;
}

class WebhookSecretState {
  @ApiProperty({
    type: 'integer',
    description:
      'Number of working subscriptions whose messages are signed with the first secret of PLATFORM_WEBHOOK_SECRET',
    example: 120,
  })
  moved!: number;

  @ApiProperty({ type: 'integer', description: 'Number of working subscriptions', example: 400 })
  total!: number;

  @ApiProperty({
    description:
      'Whether you can remove all secrets but the first from PLATFORM_WEBHOOK_SECRET, because no subscription needs them',
    example: false,
  })
  can_remove_others!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why some subscriptions do not move to the first secret. Null if there is no problem',
    example: null,
  })
  problem!: string | null;
}

class DeliveryGap {
  @ApiProperty({ enum: socketTransports, description: 'How the messages arrive', example: 'websocket' })
  transport!: DeliveryGapMessage['transport'];

  @ApiProperty({ description: 'The socket over which the messages arrive', example: 'shard 0' })
  source!: string;

  @ApiProperty({
    description: 'Time of the last message before the gap, or of the first lost message, UTC, to the second',
    example: exampleTime,
  })
  from!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'When messages arrived again, or the time of the last lost message, UTC, to the second. Null while the gap lasts',
    example: exampleTime,
  })
  until!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Number of messages that arrived but could not be stored. Null if the socket was not connected, because the number of missed messages is unknown',
    example: null,
  })
  lost!: number | null;

  @ApiProperty({ description: 'What happened', example: 'internal server error' })
  reason!: string;
}

class PlatformFailure {
  @ApiProperty({ description: 'Time of the failure, UTC, to the second', example: exampleTime })
  at!: string;

  @ApiProperty({ description: 'What failed, and why', example: 'The platform did not reply in time.' })
  message!: string;
}

export class PlatformStatus {
  @ApiProperty({
    enum: platformNames,
    description: 'The connected platform. With `simulator`, all platform events are simulated',
    example: 'simulator',
  })
  platform!: PlatformStatusReply['platform'];

  @ApiProperty({ type: CredentialsState, description: 'The credentials of your application on the platform' })
  credentials!: CredentialsState;

  @ApiProperty({
    type: RateBudget,
    nullable: true,
    description: 'The rate limit that the platform reported. Null until the first report',
  })
  budget!: RateBudget | null;

  @ApiProperty({
    enum: circuitStates,
    description:
      'The circuit breaker of the connector that responded. `open`: after repeated failures, the connector makes no calls for a while',
    example: 'closed',
  })
  circuit!: PlatformStatusReply['circuit'];

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'integer' },
    description: 'Number of subscriptions by status',
    example: { enabled: 240, limit_reached: 6 },
  })
  subscriptions!: Record<string, number>;

  @ApiProperty({
    type: SubscriptionCost,
    nullable: true,
    description: 'The limit on subscriptions that the platform reported. Null until the first report',
  })
  cost!: SubscriptionCost | null;

  @ApiProperty({ type: StreamerCoverage, description: 'How the service detects when streams start and end' })
  streamers!: StreamerCoverage;

  @ApiProperty({
    type: TransportState,
    description: 'How events arrive from the platform',
  })
  transport!: TransportState;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The URL to which the platform sends its messages. Null unless messages arrive by webhook',
    example: 'https://events.example.org/api/v1/platform-events/webhook/keys/f0c1d2e3',
  })
  callback!: string | null;

  @ApiProperty({
    type: WebhookSecretState,
    nullable: true,
    description:
      'The webhook secret of the subscriptions. After you put a new secret first in PLATFORM_WEBHOOK_SECRET, the subscriptions ' +
      'move to the new secret one by one. Null unless messages arrive by webhook',
  })
  webhook_secret!: WebhookSecretState | null;

  @ApiProperty({
    type: [DeliveryGap],
    description:
      'The last 20 periods in which platform events may be missing, newest first. Webhook messages have no gaps, because the platform redelivers messages that the service did not accept',
  })
  delivery_gaps!: DeliveryGap[];

  @ApiProperty({ type: [AlarmRecord], description: 'The open alarms, newest first' })
  alarms!: AlarmRecord[];

  @ApiProperty({
    type: PlatformFailure,
    nullable: true,
    description: 'The latest failure of any connector. Null if there was no failure',
  })
  last_error!: PlatformFailure | null;
}

export function toPlatformStatus(status: PlatformStatusReply): PlatformStatus {
  const { credentials, budget, cost, streamers, transport, webhookSecret, deliveryGaps, alarms, lastError } =
    status;
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
    transport: toTransportState(transport),
    callback: status.callback,
    webhook_secret: webhookSecret && {
      moved: webhookSecret.moved,
      total: webhookSecret.total,
      can_remove_others: webhookSecret.canRemoveOthers,
      problem: webhookSecret.problem,
    },
    delivery_gaps: deliveryGaps.map((gap) => ({
      transport: gap.transport,
      source: gap.source,
      from: printTime(gap.from),
      until: printTimeOrNull(gap.until),
      lost: gap.lost,
      reason: gap.reason,
    })),
    alarms: alarms.map(toAlarmRecord),
    last_error: lastError && { at: printTime(lastError.at), message: lastError.message },
  };
}

function toTransportState({ method, moved, total, problem, conduit }: TransportMessage): TransportState {
  return {
    method,
    moved,
    total,
    problem,
    conduit: conduit && { id: conduit.id, shards: conduit.shards.map(toShardState) },
  };
}

function toShardState({ id, state, status, holder, since }: ShardMessage): ShardState {
  return { id, state, status, holder, since: printTime(since) };
}
