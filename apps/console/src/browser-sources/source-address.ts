/** The settings in the address of a source. */
export interface SourceOptions {
  name: string;
  channelId: string;
  eventTypes: readonly string[];
  /** Seconds per alert. */
  seconds: number;
}

/** The event types that most streams show alerts for. */
export const usualTypes = [
  'channel-follow',
  'channel-subscribe',
  'channel-subscription-gift',
  'channel-subscription-message',
  'channel-cheer',
  'channel-raid',
];

/** Prints the address of a source. All settings are in the fragment, because a browser sends the fragment to no server. */
export function printSourceAddress(origin: string, token: string, options: SourceOptions): string {
  const { name, channelId, eventTypes, seconds } = options;
  const fields = { token, name, channel: channelId, types: eventTypes.join(','), seconds: String(seconds) };
  return `${origin}/overlay/#${new URLSearchParams(fields).toString().replaceAll('%2C', ',')}`;
}

type Data = Readonly<Record<string, unknown>>;

/** The channel that an alert is about. */
export interface Channel {
  id: string;
  name: string;
}

/** Returns an event's example data with another channel. Returns the data unchanged if it names no channel. */
export function placeOnChannel(example: Data, { id, name }: Channel): Data {
  const prefix = ['to_broadcaster_user', 'broadcaster_user'].find((each) => `${each}_id` in example);
  if (prefix === undefined) return example;
  const place = { [`${prefix}_id`]: id, [`${prefix}_login`]: name.toLowerCase(), [`${prefix}_name`]: name };
  return { ...example, ...place };
}
