import { findChannelKeys } from '@stream-events/sentences';

export interface SourceOptions {
  name: string;
  channelId: string;
  /** Display time of an alert, in seconds. */
  seconds: number;
}

/** How long a new or renewed address is valid, in days. */
export const sourceDays = '365';

/** The default selection: most streams show alerts for these event types. */
export const usualTypes = [
  'channel-follow',
  'channel-subscribe',
  'channel-subscription-gift',
  'channel-subscription-message',
  'channel-cheer',
  'channel-raid',
];

/**
 * Formats a source's address. All settings are in the fragment, which browsers never send to a server. The event types are not in the
 * address: the token's limits decide, so that a change of the alerts needs no new address.
 */
export function printSourceAddress(origin: string, token: string, options: SourceOptions): string {
  const { name, channelId, seconds } = options;
  const fields = { token, name, channel: channelId, seconds: String(seconds) };
  return `${origin}/overlay/#${new URLSearchParams(fields).toString()}`;
}

type Data = Readonly<Record<string, unknown>>;

/** The channel that an alert belongs to. */
export interface Channel {
  id: string;
  name: string;
}

/** Moves an event's example data to another channel. Data without a channel stays unchanged. */
export function placeOnChannel(example: Data, channel: Channel): Data {
  const keys = findChannelKeys(example);
  if (!keys) return example;
  const { path, id, login, name } = keys;
  return setAt(example, path, {
    [id]: channel.id,
    ...(login !== undefined && { [login]: channel.name.toLowerCase() }),
    ...(name !== undefined && { [name]: channel.name }),
  });
}

/** Returns the data with the values in the object at the path. */
function setAt(data: Data, [key, ...path]: readonly string[], values: Data): Data {
  if (key === undefined) return { ...data, ...values };
  // Safe cast: `findChannelKeys` has found its keys in this object.
  return { ...data, [key]: setAt(data[key] as Data, path, values) };
}
