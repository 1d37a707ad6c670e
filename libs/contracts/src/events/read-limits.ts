import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import { isJsonObject } from '../json-object.js';
import { IsText } from '../text.js';
import { toCondition, type FilterCondition, type TextFilterName } from './event-filters.js';

/** Maximum number of event types, and of channels, in a reader's limits. */
export const maxLimitValues = 100;

/**
 * Limits the events that a reader can see. An event must have one of the types and concern one of the channels. For the reader, all other
 * events do not exist. A missing list means no limit, and an empty list means no events. `{}` permits all events.
 */
export class ReadLimits {
  /** Visible event types, matched like the filter `event_type`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(maxLimitValues)
  @IsText(1, 255, { each: true })
  eventTypes?: string[];

  /** Channels with visible events, matched like the filter `channel_id`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(maxLimitValues)
  @IsText(1, 255, { each: true })
  channelIds?: string[];
}

/** For each limit, the name of the filter with the same matching rule. */
export const readLimits = {
  eventTypes: 'event_type',
  channelIds: 'channel_id',
} as const satisfies Record<keyof ReadLimits, TextFilterName>;

/** Fields of `ReadLimits`, in the order of `readLimits`. */
export const limitFields = Object.keys(readLimits) as readonly (keyof ReadLimits)[]; // Safe cast: the table has exactly these fields.

/**
 * Validates the limits of a request that reads events. Services ignore other fields that they do not know. But a service that ignored a
 * limit would reply with events that the reader must not see, so a limit that only a newer version knows is an error.
 */
export function IsReadLimits(): PropertyDecorator {
  const hasOnlyKnownLimits = ValidateBy({
    name: 'isReadLimits',
    validator: {
      validate: (value: unknown) =>
        isJsonObject(value) && Object.keys(value).every((field) => Object.hasOwn(readLimits, field)),
      defaultMessage: () => `must be an object with no other members than ${limitFields.join(' and ')}`,
    },
  });
  return (target, field) => {
    for (const rule of [hasOnlyKnownLimits, ValidateNested(), Type(() => ReadLimits)]) rule(target, field);
  };
}

/** Returns the conditions for a reader's limits. An event must also meet the conditions of the filters. */
export function toLimitConditions(limits: ReadLimits): FilterCondition[] {
  return limitFields.flatMap((field) => {
    const values = limits[field];
    return values ? [toCondition(readLimits[field], values)] : [];
  });
}
