/** The settings in the address of a source: `/overlay/#token=…&name=alerts&types=channel-raid,channel-cheer&channel=4711&seconds=8`. */
export interface Settings {
  /** The token of the source. It is in the fragment, because a browser sends the fragment to no server. */
  token: string;
  /** The name of the live connection, and a part of the key of the saved position. */
  name: string;
  /** The event types that are shown as alerts. Empty: all types that the token may see. */
  types: string[];
  /** The id of the channel. Undefined: all channels that the token may see. */
  channel: string | undefined;
  /** How long an alert is shown. */
  showMs: number;
  /** Whether to show a mark with the state of the connection. */
  isDebug: boolean;
  /** Whether to show events from the embedding page instead of events from the service. */
  isPreview: boolean;
}

const defaultName = 'overlay';
const defaultSeconds = 8;
const limits = { minSeconds: 0.05, maxSeconds: 600 };

/**
 * Reads the settings from the fragment of the address. Missing and invalid settings get their defaults, because nobody could read an error
 * on air.
 */
export function readSettings(hash: string): Settings {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const seconds = Number(fields.get('seconds'));
  return {
    token: fields.get('token') ?? '',
    name: fields.get('name')?.trim() || defaultName,
    types: (fields.get('types') ?? '').split(',').filter(Boolean),
    channel: fields.get('channel') || undefined,
    showMs: 1_000 * (seconds >= limits.minSeconds && seconds <= limits.maxSeconds ? seconds : defaultSeconds),
    isDebug: fields.has('debug'),
    isPreview: fields.has('preview'),
  };
}
