export interface SourceOptions {
  name: string;
  channelId: string;
  eventTypes: readonly string[];
  /** Display time of an alert, in seconds. */
  seconds: number;
}

/** The default selection: most streams show alerts for these event types. */
export const usualTypes = [
  'channel-follow',
  'channel-subscribe',
  'channel-subscription-gift',
  'channel-subscription-message',
  'channel-cheer',
  'channel-raid',
];

/** Formats a source's address. All settings are in the fragment, which browsers never send to a server. */
export function printSourceAddress(origin: string, token: string, options: SourceOptions): string {
  const { name, channelId, eventTypes, seconds } = options;
  const fields = { token, name, channel: channelId, types: eventTypes.join(','), seconds: String(seconds) };
  return `${origin}/overlay/#${new URLSearchParams(fields).toString().replaceAll('%2C', ',')}`;
}

type Data = Readonly<Record<string, unknown>>;

/** The channel that an alert belongs to. */
export interface Channel {
  id: string;
  name: string;
}

/** Moves an event's example data to another channel. Data without a channel stays unchanged. */
export function placeOnChannel(example: Data, { id, name }: Channel): Data {
  const prefix = ['to_broadcaster_user', 'broadcaster_user'].find((each) => `${each}_id` in example);
  if (prefix === undefined) return example;
  const place = { [`${prefix}_id`]: id, [`${prefix}_login`]: name.toLowerCase(), [`${prefix}_name`]: name };
  return { ...example, ...place };
}
