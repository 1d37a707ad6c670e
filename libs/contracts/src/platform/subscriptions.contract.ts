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

/**
 * A subscription that is wanted: of one event type for one streamer. `status` is the platform's (`enabled`,
 * `webhook_callback_verification_pending`, `authorization_revoked`, …), or ours where the platform has none of it: `waiting` (to be
 * created), `limit_reached` (no room under the platform's limit; the streamer is polled) or `refused` (the platform said no).
 */
export class SubscriptionMessage {
  /** UUIDv7. */
  @IsUUID('all')
  id!: string;

  /** The platform's id of it; null while it has none. */
  @IsOptional()
  @IsString()
  subscriptionId!: string | null;

  @IsString()
  type!: string;

  @IsString()
  version!: string;

  @IsObject()
  condition!: Record<string, string>;

  @IsString()
  status!: string;

  /** Why the status is what it is, for people; null when there is nothing to say. */
  @IsOptional()
  @IsString()
  reason!: string | null;

  /** What it counts of the platform's limit; null while it is not known. */
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
  /** Only those of this status. */
  @IsOptional()
  @IsString()
  status?: string;
}

export class ListSubscriptionsReply extends CountedPageReply {
  /** Newest first, by id. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SubscriptionMessage)
  subscriptions!: SubscriptionMessage[];
}

/** One page of the subscriptions. */
export const listSubscriptions = defineContract({
  subject: 'request.platform-connector.list-subscriptions',
  request: ListSubscriptionsRequest,
  reply: ListSubscriptionsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** A type of event that the platform has, in one version. */
export class EventTypeMessage {
  @IsString()
  type!: string;

  @IsString()
  version!: string;

  /** The keys that a subscription's condition has. */
  @IsArray()
  @IsString({ each: true })
  condition!: string[];

  /** Groups of scopes: of each group, one must be granted. */
  @IsArray()
  @IsArray({ each: true })
  scopes!: string[][];

  @IsString()
  description!: string;

  /** Whether every streamer is subscribed to it. */
  @IsBoolean()
  active!: boolean;

  /** How many of its subscriptions are in each status. */
  @IsObject()
  subscriptions!: Record<string, number>;

  /** Why it cannot be made active; null when it can. */
  @IsOptional()
  @IsString()
  unsupported!: string | null;
}

export class ListEventTypesReply {
  /** By type and version. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => EventTypeMessage)
  eventTypes!: EventTypeMessage[];
}

/** All event types of the platform. */
export const listEventTypes = defineContract({
  subject: 'request.platform-connector.list-event-types',
  request: EmptyRequest,
  reply: ListEventTypesReply,
  errors: [],
  timeoutMs: 5_000,
});

export class SetEventTypeRequest {
  /** As the platform writes it (`stream.online`) or as events have it (`stream-online`). */
  @IsString()
  type!: string;

  @IsBoolean()
  active!: boolean;
}

/** Subscribes every streamer to a type, in its newest version, or no more. `conflict`: it is one that cannot be made active. */
export const setEventType = defineContract({
  subject: 'request.platform-connector.set-event-type',
  request: SetEventTypeRequest,
  reply: EventTypeMessage,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class AcceptedReply {}

/** Says that streamers were added, disabled or removed: subscriptions follow now, not at the next round. Only a hint. */
export const reconcileSubscriptions = defineContract({
  subject: 'request.platform-connector.reconcile-subscriptions',
  request: EmptyRequest,
  reply: AcceptedReply,
  errors: [],
  timeoutMs: 2_000,
});
