import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';
import { CountedPageReply, PageRequest } from '../list-page.js';

/** How a subscription's messages arrive: `method`, with its callback, conduit, or session. */
export class SubscriptionTransportMessage {
  @IsString()
  method!: string;

  @IsOptional()
  @IsString()
  callback?: string;

  @IsOptional()
  @IsString()
  conduitId?: string;

  @IsOptional()
  @IsString()
  sessionId?: string;
}

/**
 * A subscription that the service wants: to one event type, for one streamer or the whole application. `status` is the platform's status
 * (`enabled`, `webhook_callback_verification_pending`, `authorization_revoked`, …). If the subscription does not exist on the platform,
 * `status` can also be one of the service's own:
 *
 * - `waiting`: the service has not created it yet
 * - `limit_reached`: the platform's limit is reached, and the service polls the streamer
 * - `refused`: the platform rejected it
 * - `not_granted`: a required consent is missing
 */
export class SubscriptionMessage {
  /** UUIDv7. */
  @IsUUID('all')
  id!: string;

  /** Id on the platform; null while the subscription is not known to exist there. */
  @IsOptional()
  @IsString()
  subscriptionId!: string | null;

  @IsString()
  type!: string;

  @IsString()
  version!: string;

  @IsObject()
  condition!: Record<string, string>;

  /** Null until the platform has reported the transport. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => SubscriptionTransportMessage)
  transport!: SubscriptionTransportMessage | null;

  @IsString()
  status!: string;

  /** Readable reason for the status, or why a working subscription could not move to another transport or secret; or null. */
  @IsOptional()
  @IsString()
  reason!: string | null;

  /** Cost that counts toward the platform's limit; null while unknown. */
  @IsOptional()
  @IsInt()
  cost!: number | null;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  @IsInt()
  updatedAt!: number;
}

export class ListSubscriptionsRequest extends PageRequest {
  /** Only subscriptions with this status. */
  @IsOptional()
  @IsString()
  status?: string;

  /** Only subscriptions to this type, in the platform's spelling. */
  @IsOptional()
  @IsString()
  type?: string;

  /** Only subscriptions about the channel with this id on the platform. */
  @IsOptional()
  @IsString()
  channelId?: string;
}

export class ListSubscriptionsReply extends CountedPageReply {
  /** Newest first, by id. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SubscriptionMessage)
  subscriptions!: SubscriptionMessage[];
}

/** Lists a page of subscriptions. */
export const listSubscriptions = defineContract({
  subject: 'request.platform-connector.list-subscriptions',
  request: ListSubscriptionsRequest,
  reply: ListSubscriptionsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** A version of a platform event type. */
export class EventTypeMessage {
  @IsString()
  type!: string;

  @IsString()
  version!: string;

  /** Keys of a subscription's condition. */
  @IsArray()
  @IsString({ each: true })
  condition!: string[];

  /** Groups of scopes. Each group needs at least one granted scope. */
  @IsArray()
  @IsArray({ each: true })
  scopes!: string[][];

  @IsString()
  description!: string;

  /** Whether the service subscribes to this type for every streamer, except those whose chosen types do not include it. */
  @IsBoolean()
  active!: boolean;

  /** Number of subscriptions to this type, by status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** Why the type cannot be activated, or null. */
  @IsOptional()
  @IsString()
  unsupported!: string | null;
}

export class ListEventTypesReply {
  /** Sorted by type and version. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => EventTypeMessage)
  eventTypes!: EventTypeMessage[];
}

/** Lists all event types of the platform. */
export const listEventTypes = defineContract({
  subject: 'request.platform-connector.list-event-types',
  request: EmptyRequest,
  reply: ListEventTypesReply,
  errors: [],
  timeoutMs: 5_000,
});

export class SetEventTypeRequest {
  /** In the platform's spelling (`stream.online`) or that of events (`stream-online`). */
  @IsString()
  type!: string;

  @IsBoolean()
  active!: boolean;
}

/**
 * Starts or stops subscribing to the newest version of a type for every streamer (see `EventTypeMessage.active`). `conflict`: the type
 * cannot be activated.
 */
export const setEventType = defineContract({
  subject: 'request.platform-connector.set-event-type',
  request: SetEventTypeRequest,
  reply: EventTypeMessage,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class StreamerEventTypesRequest {
  /** The streamer's id on the platform. */
  @IsString()
  userId!: string;
}

export class StreamerEventTypesReply {
  /** Sorted, in the platform's spelling. Null: none were chosen, so the service subscribes to all active types. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;
}

/** Returns the event types chosen for a streamer. */
export const getStreamerEventTypes = defineContract({
  subject: 'request.platform-connector.get-streamer-event-types',
  request: StreamerEventTypesRequest,
  reply: StreamerEventTypesReply,
  errors: [],
  timeoutMs: 5_000,
});

export class SetStreamerEventTypesRequest extends StreamerEventTypesRequest {
  /** In the platform's spelling or that of events. Null: all active types. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;
}

/** Limits a streamer's subscriptions to the active types in the list. `not_found`: a type does not exist. */
export const setStreamerEventTypes = defineContract({
  subject: 'request.platform-connector.set-streamer-event-types',
  request: SetStreamerEventTypesRequest,
  reply: StreamerEventTypesReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

export class AcceptedReply {}

/**
 * Reports that streamers were added, disabled, or removed. The platform connector then updates the subscriptions immediately instead of in
 * its next pass.
 */
export const reconcileSubscriptions = defineContract({
  subject: 'request.platform-connector.reconcile-subscriptions',
  request: EmptyRequest,
  reply: AcceptedReply,
  errors: [],
  timeoutMs: 2_000,
});
