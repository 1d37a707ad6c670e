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

/** Whether the service gets the events of a type about a channel, and if not, why. The first one that applies is used. */
export const consentStates = {
  revoked: 'the channel, or the bot account that reads its chat, has ended its consent; connect it again',
  missing: 'a user has not granted the scopes; connect the channel, or connect it again',
  refused: 'the platform rejected or ended the subscription; the service tries again',
  no_capacity:
    'the subscription exceeds the platform’s limit; subscriptions of a connected channel do not count',
  waiting: 'the platform has not created or verified the subscription yet',
  granted: 'the service is subscribed',
} as const;

export type ConsentState = keyof typeof consentStates;

/** How many channels a request may be about: their states fit into one message with room to spare. */
export const maxConsentChannels = 50;

export class ListChannelConsentRequest {
  /** The platform's ids. */
  @IsArray()
  @ArrayMaxSize(maxConsentChannels)
  @Matches(platformIdPattern, { each: true })
  channelIds!: string[];
}

/** What the service is subscribed to about a channel. */
export class ChannelConsentMessage {
  @IsString()
  channelId!: string;

  /** The types that were chosen for the channel, in the platform's spelling; null when none were: all active types. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  types!: string[] | null;

  /** The state of each type that the service wants to be subscribed to, by the platform's spelling. */
  @IsObject()
  states!: Record<string, ConsentState>;
}

export class ListChannelConsentReply {
  /** In the order of the request. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ChannelConsentMessage)
  channels!: ChannelConsentMessage[];
}

/** Returns which event types of these channels the service is subscribed to, and for each other type the reason why not. */
export const listChannelConsent = defineContract({
  subject: 'request.platform-connector.list-channel-consent',
  request: ListChannelConsentRequest,
  reply: ListChannelConsentReply,
  errors: [],
  timeoutMs: 5_000,
});
