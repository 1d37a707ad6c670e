import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsOptional, ValidateNested } from 'class-validator';
import type { Contract, MessageClass } from '../contract.js';
import { IsText } from '../text.js';
import { toCondition, type FilterCondition, type TextFilterName } from './event-filters.js';

/** The maximum number of event types, and of channels, in a reader's limits. */
export const maxLimitValues = 100;

/**
 * The events that a reader may see: an event must have one of the types and concern one of the channels. For the reader, other events do
 * not exist. A missing list does not limit the reader. With an empty list, the reader sees no events. A new field needs new subjects,
 * because a service ignores fields that it does not know (see `ReadContract`).
 */
export class ReadLimits {
  /** The event types that the reader may see, matched like the filter `event_type`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(maxLimitValues)
  @IsText(1, 255, { each: true })
  eventTypes?: string[];

  /** The channels whose events the reader may see, matched like the filter `channel_id`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(maxLimitValues)
  @IsText(1, 255, { each: true })
  channelIds?: string[];
}

/** The fields of a reader's limits, each with the filter that works in the same way. */
export const readLimits = {
  eventTypes: 'event_type',
  channelIds: 'channel_id',
} as const satisfies Record<keyof ReadLimits, TextFilterName>;

/** The fields of `ReadLimits`, in the order of `readLimits`. */
export const limitFields = Object.keys(readLimits) as readonly (keyof ReadLimits)[]; // Safe cast: the table has exactly these fields.

/** Returns the conditions of a reader's limits. An event must meet these conditions and the conditions of the filters. */
export function toLimitConditions(limits: ReadLimits | undefined): FilterCondition[] {
  return limitFields.flatMap((field) => {
    const values = limits?.[field];
    return values ? [toCondition(readLimits[field], values)] : [];
  });
}

/** A request that can be limited to the events that the reader may see. */
export type ReadRequest<Request extends object> = Request & { limits?: ReadLimits | undefined };

/** A request from a reader with limits. */
export type LimitedRequest<Request extends object> = Request & { limits: ReadLimits };

/** A contract that reads events, for readers who may see all events. */
export interface ReadContract<Request extends object, Reply extends object> extends Contract<Request, Reply> {
  /**
   * The same contract for readers with limits. The variant has its own subject because a service of version 0.1.0 would ignore the unknown
   * field `limits` and reply with all events. Such a service does not serve this subject, so the request fails as `unavailable`.
   */
  readonly withinLimits: Contract<LimitedRequest<Request>, Reply>;
}

/** Declares a contract that reads events, with its variant for readers with limits. The request class validates every request. */
export function defineReadContract<Request extends object, Reply extends object>(
  contract: Omit<Contract<Request, Reply>, 'parseRequest' | 'rawRequest'>,
): ReadContract<Request, Reply> {
  const RequestClass: MessageClass<object> = contract.request;
  class RequestWithinLimits extends RequestClass {
    @IsObject()
    @ValidateNested()
    @Type(() => ReadLimits)
    limits!: ReadLimits;
  }
  const withinLimits = {
    ...contract,
    subject: `${contract.subject}-within-limits`,
    request: RequestWithinLimits as MessageClass<LimitedRequest<Request>>, // Safe cast: the class extends that of the request.
  };
  return { ...contract, withinLimits };
}
