/** What the address of a source says: `/overlay/#token=…&name=alerts&types=channel-raid,channel-cheer&channel=4711&seconds=8`. */
export interface Settings {
  /** The token of the source. In the fragment, which a browser sends to no server. */
  token: string;
  /** The name of the live connection, and of the position that the source keeps. */
  name: string;
  /** The event types that are alerts. Without any: all that the token may see. */
  types: string[];
  /** The id of the channel. Without one: all that the token may see. */
  channel: string | undefined;
  /** How long an alert is shown. */
  showMs: number;
  /** Shows a mark with the state of the connection. */
  isDebug: boolean;
  /** Shows the events that the page around it sends, and none of the service. */
  isPreview: boolean;
}

const defaultName = 'overlay';
const defaultSeconds = 8;
const limits = { minSeconds: 0.05, maxSeconds: 600 };

/** Reads the fragment of the address. What is missing or not valid gets its default: nobody could read an error on air. */
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
