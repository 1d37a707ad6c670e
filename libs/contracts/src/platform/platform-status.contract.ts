import { Type } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';

export class CredentialsMessage {
  /** Whether client id and secret are configured. They are never shown. */
  @IsBoolean()
  present!: boolean;

  /** Whether the platform has accepted them; null while it was not asked. */
  @IsOptional()
  @IsBoolean()
  valid!: boolean | null;

  /** When the access token that they were exchanged for ends, in milliseconds since 1970. */
  @IsOptional()
  @IsInt()
  tokenExpiresAt!: number | null;
}

/** What is left of the platform's rate limit, by its own word. */
export class BudgetMessage {
  /** Calls a minute. */
  @IsInt()
  limit!: number;

  @IsInt()
  remaining!: number;

  /** Until when no call is made, as the platform said that there were too many; in milliseconds since 1970. */
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

  /** Of whom the platform tells by itself when they go on and off. */
  @IsInt()
  subscribed!: number;

  /** Who are only polled: for want of room under the platform's limit, or as the platform refuses. */
  @IsInt()
  polledOnly!: number;
}

export class PlatformStatusReply {
  /** The value of `PLATFORM`. */
  @IsString()
  platform!: string;

  @IsObject()
  @ValidateNested()
  @Type(() => CredentialsMessage)
  credentials!: CredentialsMessage;

  /** Null until the platform has said it. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => BudgetMessage)
  budget!: BudgetMessage | null;

  /** `open`: calls have failed so often that none is made for a while. */
  @IsIn(['closed', 'open'])
  circuit!: 'closed' | 'open';

  /** How many subscriptions are in each status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** Of the platform's limit on subscriptions; null until the platform has said it. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CostMessage)
  cost!: CostMessage | null;

  @IsObject()
  @ValidateNested()
  @Type(() => StreamerCoverageMessage)
  streamers!: StreamerCoverageMessage;

  /** Where the platform sends its messages; null when it was not told, and all streamers are polled. */
  @IsOptional()
  @IsString()
  callback!: string | null;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PlatformErrorMessage)
  lastError!: PlatformErrorMessage | null;
}

/** How things stand with the platform; answered from what is known, without asking it. */
export const getPlatformStatus = defineContract({
  subject: 'request.platform-connector.get-status',
  request: EmptyRequest,
  reply: PlatformStatusReply,
  errors: [],
  timeoutMs: 5_000,
});
