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
  /** Whether client id and secret are configured. Their values are never shown. */
  @IsBoolean()
  present!: boolean;

  /** Whether the platform has accepted the credentials; null before the first request for an access token. */
  @IsOptional()
  @IsBoolean()
  valid!: boolean | null;

  /** When the application's access token expires, in milliseconds since 1970; null when the service has no token. */
  @IsOptional()
  @IsInt()
  tokenExpiresAt!: number | null;
}

/** The platform's rate limit for the application, and the service's estimate of the remaining calls. */
export class BudgetMessage {
  /** Calls per minute. */
  @IsInt()
  limit!: number;

  @IsInt()
  remaining!: number;

  /** The service makes no calls until this time (milliseconds since 1970), because the platform reported too many calls. */
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

  /** The number of streamers with subscriptions. The platform reports when these streamers go live or offline. */
  @IsInt()
  subscribed!: number;

  /**
   * The number of all other streamers. The service only polls them, for example because the platform's limit is reached or the platform
   * refused the subscription.
   */
  @IsInt()
  polledOnly!: number;
}

/** The states of shards. `foreign`: connected to another installation. */
export const shardStates = ['enabled', 'connecting', 'lost', 'foreign'] as const;

/** A shard of the conduit. */
export class ShardMessage {
  @IsInt()
  id!: number;

  @IsIn(shardStates)
  state!: (typeof shardStates)[number];

  /** `enabled`, or the platform's or the service's reason why the shard is not enabled. */
  @IsString()
  status!: string;

  /** The connector that holds the shard; null when none does. */
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

  /** What is wrong with the conduit, and what to do; null when nothing is wrong. */
  @IsOptional()
  @IsString()
  problem!: string | null;
}

/** The configured transport for the platform's events, and the progress of moving subscriptions to this transport. */
export class TransportMessage {
  /** Null with `PLATFORM=none`. */
  @IsOptional()
  @IsString()
  method!: string | null;

  /** The number of working subscriptions with the configured transport. A webhook counts only if the first secret signs its messages. */
  @IsInt()
  moved!: number;

  /** The number of working subscriptions. */
  @IsInt()
  total!: number;

  /** Why events may not arrive, or why some subscriptions are not moved; null when nothing is wrong. */
  @IsOptional()
  @IsString()
  problem!: string | null;

  /** Null without a conduit; undefined in replies from older connectors. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ConduitMessage)
  conduit?: ConduitMessage | null;
}

/** The progress of moving subscriptions to the first webhook secret. */
export class WebhookSecretMessage {
  /** The number of working subscriptions whose messages the first secret signs. */
  @IsInt()
  moved!: number;

  /** The number of working subscriptions. */
  @IsInt()
  total!: number;

  /** True when the configuration contains other secrets and no subscription needs them anymore. */
  @IsBoolean()
  canRemoveOthers!: boolean;

  /** Why some subscriptions are not moved; null when nothing prevents the move. */
  @IsOptional()
  @IsString()
  problem!: string | null;
}

/** The transports over sockets. The service cannot refuse a message that arrives over a socket, so messages can be lost. */
export const socketTransports = ['conduit', 'websocket'] as const;

/** A period for which platform messages may be missing. Times are milliseconds since 1970. */
export class DeliveryGapMessage {
  @IsIn(socketTransports)
  transport!: (typeof socketTransports)[number];

  /** The name of the socket, such as `shard 0`. */
  @IsString()
  source!: string;

  @IsInt()
  from!: number;

  /** Null while the gap is open. */
  @IsOptional()
  @IsInt()
  until!: number | null;

  /** The number of messages that arrived but could not be stored; null when the messages did not arrive. */
  @IsOptional()
  @IsInt()
  lost!: number | null;

  @IsString()
  reason!: string;
}

/** `open`: the service makes no calls for a while, because too many calls have failed. */
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

  /** The number of subscriptions in each status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** The platform's limit on subscriptions; null until the platform has reported it. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CostMessage)
  cost!: CostMessage | null;

  @IsObject()
  @ValidateNested()
  @Type(() => StreamerCoverageMessage)
  streamers!: StreamerCoverageMessage;

  /** Undefined in replies of older connectors. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => TransportMessage)
  transport?: TransportMessage;

  /** Where the platform sends its messages; null unless the messages arrive by webhook. */
  @IsOptional()
  @IsString()
  callback!: string | null;

  /** Null unless messages arrive by webhook; undefined in replies from older connectors. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => WebhookSecretMessage)
  webhookSecret?: WebhookSecretMessage | null;

  /** The latest gaps in delivery, newest first; undefined in replies from older connectors. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => DeliveryGapMessage)
  deliveryGaps?: DeliveryGapMessage[];

  /** The open alarms, newest first; undefined in replies from older connectors. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AlarmMessage)
  alarms?: AlarmMessage[];

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PlatformErrorMessage)
  lastError!: PlatformErrorMessage | null;
}

/** Returns the state of the connection to the platform, from the service's own records. Makes no call to the platform. */
export const getPlatformStatus = defineContract({
  subject: 'request.platform-connector.get-status',
  request: EmptyRequest,
  reply: PlatformStatusReply,
  errors: [],
  timeoutMs: 5_000,
});
