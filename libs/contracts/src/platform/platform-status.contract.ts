import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';
import { AlarmMessage } from '../system/alarms.contract.js';

export class CredentialsMessage {
  /** Whether client id and secret are configured. Replies never contain the values. */
  @IsBoolean()
  present!: boolean;

  /** Whether the platform has accepted the credentials; null before the first request for an access token. */
  @IsOptional()
  @IsBoolean()
  valid!: boolean | null;

  /** When the application's access token expires, in milliseconds since 1970; null without a token. */
  @IsOptional()
  @IsInt()
  tokenExpiresAt!: number | null;
}

/** The platform's rate limit for the application, with the service's estimate of the remaining calls. */
export class BudgetMessage {
  /** Calls per minute. */
  @IsInt()
  limit!: number;

  @IsInt()
  remaining!: number;

  /** After the platform reported too many calls, the service pauses until this time (milliseconds since 1970). */
  @IsOptional()
  @IsInt()
  blockedUntil!: number | null;
}

export class CostMessage {
  @IsInt()
  total!: number;

  @IsInt()
  max!: number;
}

export class PlatformErrorMessage {
  /** Milliseconds since 1970. */
  @IsInt()
  at!: number;

  @IsString()
  message!: string;
}

export class StreamerCoverageMessage {
  @IsInt()
  monitored!: number;

  /** Streamers with subscriptions. The platform reports when they go live or offline. */
  @IsInt()
  subscribed!: number;

  /** All other streamers. The service only polls them, for example because a limit is reached or the platform rejected the subscription. */
  @IsInt()
  polledOnly!: number;
}

/** `foreign`: the shard is connected to another installation. */
export const shardStates = ['enabled', 'connecting', 'lost', 'foreign'] as const;

/** A shard of the conduit. */
export class ShardMessage {
  @IsInt()
  id!: number;

  @IsIn(shardStates)
  state!: (typeof shardStates)[number];

  /** `enabled`, or why the shard is not enabled: the platform's reason or the service's own. */
  @IsString()
  status!: string;

  /** Connector that holds the shard, or null. */
  @IsOptional()
  @IsString()
  holder!: string | null;

  /** Milliseconds since 1970. */
  @IsInt()
  since!: number;
}

/** The conduit of this installation. */
export class ConduitMessage {
  /** Null until the platform has created the conduit. */
  @IsOptional()
  @IsString()
  id!: string | null;

  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ShardMessage)
  shards!: ShardMessage[];

  /** What is wrong with the conduit and what to do; null if nothing is. */
  @IsOptional()
  @IsString()
  problem!: string | null;
}

/** The configured transport for platform events, and the progress of moving the subscriptions to this transport. */
export class TransportMessage {
  /** Null with `PLATFORM=none`. */
  @IsOptional()
  @IsString()
  method!: string | null;

  /**
   * Working subscriptions with the configured transport. A webhook subscription counts only if the first configured secret signs its
   * messages.
   */
  @IsInt()
  moved!: number;

  /** All working subscriptions. */
  @IsInt()
  total!: number;

  /** Why events may be missing or subscriptions have not moved; null if nothing is wrong. */
  @IsOptional()
  @IsString()
  problem!: string | null;

  /** Null without a conduit. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ConduitMessage)
  conduit!: ConduitMessage | null;
}

/** Progress of moving the subscriptions to the first secret in `PLATFORM_WEBHOOK_SECRET`. */
export class WebhookSecretMessage {
  /** Working subscriptions whose messages the first secret signs. */
  @IsInt()
  moved!: number;

  /** All working subscriptions. */
  @IsInt()
  total!: number;

  /** True if other secrets are also configured and no subscription needs them anymore. */
  @IsBoolean()
  canRemoveOthers!: boolean;

  /** Why subscriptions have not moved; null if nothing is in the way. */
  @IsOptional()
  @IsString()
  problem!: string | null;
}

/** Transports over sockets. They can lose messages, because the service cannot reject a message on a socket to get it again. */
export const socketTransports = ['conduit', 'websocket'] as const;

/** A period in which platform messages may be missing. Times are milliseconds since 1970. */
export class DeliveryGapMessage {
  @IsIn(socketTransports)
  transport!: (typeof socketTransports)[number];

  /** Name of the socket, such as `shard 0`. */
  @IsString()
  source!: string;

  @IsInt()
  from!: number;

  /** Null while the gap is open. */
  @IsOptional()
  @IsInt()
  until!: number | null;

  /** Number of messages that arrived but could not be stored; null if the messages did not arrive. */
  @IsOptional()
  @IsInt()
  lost!: number | null;

  @IsString()
  reason!: string;
}

/** `open`: after too many failed calls, the service makes no calls for a while. */
export const circuitStates = ['closed', 'open'] as const;

export class PlatformStatusReply {
  /** The value of `PLATFORM`. */
  @IsString()
  platform!: string;

  @IsObject()
  @ValidateNested()
  @Type(() => CredentialsMessage)
  credentials!: CredentialsMessage;

  /** Null until the platform has reported its rate limit. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => BudgetMessage)
  budget!: BudgetMessage | null;

  @IsIn(circuitStates)
  circuit!: (typeof circuitStates)[number];

  /** Number of subscriptions by status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** The total cost of the subscriptions and the platform's limit for it; null until the platform has reported the limit. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CostMessage)
  cost!: CostMessage | null;

  @IsObject()
  @ValidateNested()
  @Type(() => StreamerCoverageMessage)
  streamers!: StreamerCoverageMessage;

  @IsObject()
  @ValidateNested()
  @Type(() => TransportMessage)
  transport!: TransportMessage;

  /** Callback URL for the platform's messages; null unless they arrive by webhook. */
  @IsOptional()
  @IsString()
  callback!: string | null;

  /** Null unless messages arrive by webhook. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => WebhookSecretMessage)
  webhookSecret!: WebhookSecretMessage | null;

  /** Latest gaps in delivery, newest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => DeliveryGapMessage)
  deliveryGaps!: DeliveryGapMessage[];

  /** Open alarms, newest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AlarmMessage)
  alarms!: AlarmMessage[];

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PlatformErrorMessage)
  lastError!: PlatformErrorMessage | null;
}

/** Returns the state of the platform connection from the service's own records. Makes no call to the platform. */
export const getPlatformStatus = defineContract({
  subject: 'request.platform-connector.get-status',
  request: EmptyRequest,
  reply: PlatformStatusReply,
  errors: [],
  timeoutMs: 5_000,
});
