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

/** How the messages of a subscription reach the service: `method`, with the callback, the conduit, or the session. */
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
 * A desired subscription to one event type, for one streamer or for the whole application. `status` is the platform's status (`enabled`,
 * `webhook_callback_verification_pending`, `authorization_revoked`, …). When the platform has no such subscription, `status` is one of the
 * service's own statuses: `waiting` (the service has yet to create the subscription), `limit_reached` (the platform's limit is reached; the
 * streamer is polled), `refused` (the platform rejected the subscription), or `not_granted` (a user has not given the required consent).
 */
export class SubscriptionMessage {
  /** UUIDv7. */
  @IsUUID('all')
  id!: string;

  /** The subscription's id on the platform; null before the platform has created it. */
  @IsOptional()
  @IsString()
  subscriptionId!: string | null;

  @IsString()
  type!: string;

  @IsString()
  version!: string;

  @IsObject()
  condition!: Record<string, string>;

  /** Null until the platform has reported the transport; undefined in replies from older connectors. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => SubscriptionTransportMessage)
  transport?: SubscriptionTransportMessage | null;

  @IsString()
  status!: string;

  /** The reason for the status, in readable text; null when there is none. */
  @IsOptional()
  @IsString()
  reason!: string | null;

  /** The cost that counts toward the platform's limit; null while the cost is unknown. */
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
  /** Lists only subscriptions with this status. */
  @IsOptional()
  @IsString()
  status?: string;

  /** Lists only subscriptions to this type, in the platform's spelling. */
  @IsOptional()
  @IsString()
  type?: string;

  /** Lists only subscriptions about this channel, by the platform's id. */
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

/** Lists one page of subscriptions. */
export const listSubscriptions = defineContract({
  subject: 'request.platform-connector.list-subscriptions',
  request: ListSubscriptionsRequest,
  reply: ListSubscriptionsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** An event type of the platform, in one version. */
export class EventTypeMessage {
  @IsString()
  type!: string;

  @IsString()
  version!: string;

  /** The keys of a subscription's condition. */
  @IsArray()
  @IsString({ each: true })
  condition!: string[];

  /** Groups of scopes. At least one scope of each group must be granted. */
  @IsArray()
  @IsArray({ each: true })
  scopes!: string[][];

  @IsString()
  description!: string;

  /** Whether the service subscribes to this type for every streamer. */
  @IsBoolean()
  active!: boolean;

  /** The number of subscriptions to this type in each status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** Why the type cannot be activated; null when it can. */
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
  /** In the platform's spelling (`stream.online`) or in that of events (`stream-online`). */
  @IsString()
  type!: string;

  @IsBoolean()
  active!: boolean;
}

/** Starts or stops subscribing to a type (its newest version) for every streamer. `conflict`: the type cannot be activated. */
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
  /** In the platform's spelling, sorted. Null when none were chosen: the service subscribes to all active types for the streamer. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;
}

/** Returns the event types that were chosen for a streamer. */
export const getStreamerEventTypes = defineContract({
  subject: 'request.platform-connector.get-streamer-event-types',
  request: StreamerEventTypesRequest,
  reply: StreamerEventTypesReply,
  errors: [],
  timeoutMs: 5_000,
});

export class SetStreamerEventTypesRequest extends StreamerEventTypesRequest {
  /** In the platform's spelling or in that of events. Null means all active types. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;
}

/** Limits a streamer's subscriptions to the active types in the list. `not_found`: a type in the list does not exist. */
export const setStreamerEventTypes = defineContract({
  subject: 'request.platform-connector.set-streamer-event-types',
  request: SetStreamerEventTypesRequest,
  reply: StreamerEventTypesReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

export class AcceptedReply {}

/**
 * Reports that streamers were added, disabled, or removed. The platform connector then updates the subscriptions immediately instead of at
 * the next pass.
 */
export const reconcileSubscriptions = defineContract({
  subject: 'request.platform-connector.reconcile-subscriptions',
  request: EmptyRequest,
  reply: AcceptedReply,
  errors: [],
  timeoutMs: 2_000,
});
