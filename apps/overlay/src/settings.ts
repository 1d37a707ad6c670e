/** The settings in a source's address: `/overlay/#token=…&name=alerts&types=channel-raid,channel-cheer&channel=4711&seconds=8`. */
export interface Settings {
  /** The token is in the fragment, which browsers never send to a server. */
  token: string;
  /** Name of the live connection. Also part of the key of the saved position. */
  name: string;
  /** Event types to show as alerts. Empty: all types that the token can see. */
  types: string[];
  /** Channel id. Undefined: all channels that the token can see. */
  channel: string | undefined;
  /** Display time of an alert. */
  showMs: number;
  /** Whether to show a mark with the connection's state. */
  isDebug: boolean;
  /** Whether events come from the embedding page instead of the service. */
  isPreview: boolean;
}

const defaultName = 'overlay';
const defaultSeconds = 8;
const limits = { minSeconds: 0.05, maxSeconds: 600 };

/** Reads the settings from the fragment. Missing and invalid settings get defaults, because nobody could read an error on air. */
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
