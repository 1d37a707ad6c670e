import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { platformIdPattern } from './pictures.contract.js';

/**
 * States of an event type for a channel: `granted`, or why the service is not subscribed. If several states apply, the first one counts.
 */
export const consentStates = {
  revoked:
    'the channel, or the bot account that reads its chat, has withdrawn consent; connect that account again',
  missing: 'a user has not granted the required scopes; connect the channel, or connect it again',
  refused: 'the platform rejected or ended the subscription; the service tries again',
  no_capacity:
    'the subscription exceeds the platform’s limit; subscriptions of a connected channel do not count toward the limit',
  waiting: 'the platform has not created or verified the subscription yet',
  granted: 'the service is subscribed',
} as const;

export type ConsentState = keyof typeof consentStates;

/** Maximum number of channels per request. The states of this many channels easily fit into one message. */
export const maxConsentChannels = 50;

export class ListChannelConsentRequest {
  /** Ids on the platform. */
  @IsArray()
  @ArrayMaxSize(maxConsentChannels)
  @Matches(platformIdPattern, { each: true })
  channelIds!: string[];
}

/** The service's subscriptions to a channel's events. */
export class ChannelConsentMessage {
  @IsString()
  channelId!: string;

  /** Event types chosen for the channel, in the platform's spelling. Null: none were chosen, so all active types apply. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;

  /** State of each event type that the service needs for this channel. The keys are in the platform's spelling. */
  @IsObject()
  states!: Record<string, ConsentState>;
}

export class ListChannelConsentReply {
  /** In request order. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ChannelConsentMessage)
  channels!: ChannelConsentMessage[];
}

/** Returns, for each of these channels, the state of every event type that the service needs. */
export const listChannelConsent = defineContract({
  subject: 'request.platform-connector.list-channel-consent',
  request: ListChannelConsentRequest,
  reply: ListChannelConsentReply,
  errors: [],
  timeoutMs: 5_000,
});
