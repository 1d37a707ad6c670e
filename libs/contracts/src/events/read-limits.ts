import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsOptional, ValidateNested } from 'class-validator';
import type { Contract, MessageClass } from '../contract.js';
import { IsText } from '../text.js';
import { toCondition, type FilterCondition, type TextFilterName } from './event-filters.js';

/** Maximum number of event types, and of channels, in a reader's limits. */
export const maxLimitValues = 100;

/**
 * Limits the events that a reader can see. An event must have one of the types and concern one of the channels. For the reader, all other
 * events do not exist. A missing list means no limit, and an empty list means no events. Services ignore fields that they do not know, so a
 * new field needs new subjects (see `ReadContract`).
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

/** Returns the conditions for a reader's limits. An event must also meet the conditions of the filters. */
export function toLimitConditions(limits: ReadLimits | undefined): FilterCondition[] {
  return limitFields.flatMap((field) => {
    const values = limits?.[field];
    return values ? [toCondition(readLimits[field], values)] : [];
  });
}

/** A request that can have a reader's limits. */
export type ReadRequest<Request extends object> = Request & { limits?: ReadLimits | undefined };

/** A request from a reader with limits. */
export type LimitedRequest<Request extends object> = Request & { limits: ReadLimits };

/** A contract that reads events. The contract itself is for readers without limits. */
export interface ReadContract<Request extends object, Reply extends object> extends Contract<Request, Reply> {
  /**
   * The variant for readers with limits. It has its own subject: a service of version 0.1.0 would ignore the field `limits` and reply with
   * all events. Such a service does not serve this subject, so the request fails as `unavailable`.
   */
  readonly withinLimits: Contract<LimitedRequest<Request>, Reply>;
}

/** Declares a contract that reads events, with a variant for readers with limits. The request class validates every request. */
export function defineReadContract<Request extends object, Reply extends object>(
  contract: Omit<Contract<Request, Reply>, 'rawRequest'>,
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
