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
import { callbackRules, secretPattern, secretRule } from '../subscriptions/create-subscription.dto.js';

// Both become headers: visible ASCII and nothing that could end the line.
const headerPattern = /^[\x21-\x7e]{1,255}$/;
const headerRule = { message: '$property must be 1 to 255 visible ASCII characters' };

/** Body of `POST /simulator/notifications`. */
export class SendNotificationDto {
  @IsString()
  @IsNotEmpty()
  @Matches(headerPattern, headerRule)
  type!: string;

  /** Fields that replace those of the generated event. */
  @IsOptional()
  @IsObject()
  event?: Record<string, unknown>;

  /** Raw text put in place of the event, untouched and unchecked: big numbers, odd spacing, no JSON at all. */
  @IsOptional()
  @IsString()
  event_text?: string;

  /** The events of a batched type, instead of `event`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  events?: Record<string, unknown>[];

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  broadcaster_user_id?: string;

  /** To send the same message again. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  message_id?: string;

  /** Any text, so that receivers can be tested with nonsense. */
  @IsOptional()
  @Matches(headerPattern, headerRule)
  timestamp?: string;

  /** How many equal messages are sent at the same time. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  copies?: number;

  @IsOptional()
  @IsIn(faults)
  fault?: Fault;

  /** Where to send it instead of to the subscription's callback; copies take turns. One address or a list. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsUrl(callbackRules, { each: true })
  callback?: string[];

  /** Signs instead of the subscription's secret. */
  @IsOptional()
  @Matches(secretPattern, secretRule)
  secret?: string;
}
