import { ApiProperty } from '@nestjs/swagger';
import { consentStates, type ChannelConsentMessage, type ConsentState } from '@stream-events/contracts';
import { inbound } from '@stream-events/platforms';

const meanings = Object.entries(consentStates)
  .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
  .join('; ');

/** The event types that the service wants for a channel, and whether users' consent permits each subscription. */
export class ChannelConsentRecord {
  @ApiProperty({ description: 'The channel’s id on the platform', example: '47019283' })
  channel_id!: string;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'The event types that an owner chose for the channel. Null: all active event types',
    example: null,
  })
  event_types!: string[] | null;

  @ApiProperty({
    type: Object,
    additionalProperties: { type: 'string', enum: Object.keys(consentStates) },
    description:
      'The state of each event type that the service wants to subscribe to, as the first of these states that applies: ' +
      `${meanings}. Omits inactive event types and event types that were not chosen. Empty for a channel that is not monitored`,
    example: { 'stream-online': 'granted', 'channel-cheer': 'missing' },
  })
  states!: Record<string, ConsentState>;
}

export function toChannelConsentRecord({
  channelId,
  types,
  states,
}: ChannelConsentMessage): ChannelConsentRecord {
  return {
    channel_id: channelId,
    event_types: types?.map((type) => inbound.toEventType(type)) ?? null,
    states: Object.fromEntries(
      Object.entries(states).map(([type, state]) => [inbound.toEventType(type), state]),
    ),
  };
}
