import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { faults, type Fault } from '../messages/faults.js';
import { callbackRules, secretPattern, secretRule } from '../messages/webhook-rules.js';

// The values become HTTP headers, so allow only visible ASCII.
const headerPattern = /^[\x21-\x7e]{1,255}$/;
const headerRule = { message: '$property must be 1 to 255 visible ASCII characters' };

/** Body of `POST /simulator/notifications`. */
export class SendNotificationDto {
  @IsString()
  @IsNotEmpty()
  @Matches(headerPattern, headerRule)
  type!: string;

  /** Fields to replace in the generated event. */
  @IsOptional()
  @IsObject()
  event?: Record<string, unknown>;

  /** Raw text to send as the event without checks. For big numbers, odd whitespace, or invalid JSON. */
  @IsOptional()
  @IsString()
  event_text?: string;

  /** Events of a batched type, instead of `event`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  events?: Record<string, unknown>[];

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  broadcaster_user_id?: string;

  /** Id of an earlier message to send again. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  message_id?: string;

  /** Need not be a valid timestamp, so that tests can send invalid ones. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  timestamp?: string;

  /** Number of identical messages to send at the same time. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  copies?: number;

  @IsOptional()
  @IsIn(faults)
  fault?: Fault;

  /** One URL or a list, instead of the subscription's callback. Copies are distributed over the list. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsUrl(callbackRules, { each: true })
  callback?: string[];

  /** Used instead of the subscription's secret. */
  @IsOptional()
  @Matches(secretPattern, secretRule)
  secret?: string;
}
