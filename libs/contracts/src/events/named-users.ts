/** A user id in the data of an event. */
export interface NamedUser {
  /** The path of keys to the id, separated by dots, without array indexes: `event.moderator_user_id`. */
  field: string;
  id: string;
}

/** A JSON object or array that is open at the current position in the text. */
interface Frame {
  isArray: boolean;
  /** The path of the object or array itself. */
  path: string;
  /** In an object, the key whose value follows. In an array, the key of the array. */
  key: string | undefined;
}

// An unterminated string matches up to the end of the input. Otherwise, a new search would start at each quote, which takes quadratic time.
const tokenPattern =
  /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]|true|false|null/gs;
// Longer paths are cut. Clients choose the keys of the events that they post, so paths can be long.
const maxFieldLength = 200;

/**
 * Finds every user id in the text of an event's data: the value of every key `user_id` or `*_user_id`, at any depth. Scans the text instead
 * of parsing it, so that it also finds ids under repeated keys and in text that is not valid JSON.
 */
export function findNamedUsers(eventData: string): NamedUser[] {
  // A text without `user_id` can name a user only if a key contains a `\u` escape. Most texts contain neither, so they are not scanned.
  if (!eventData.includes('user_id') && !eventData.includes('\\u')) return [];
  const users: NamedUser[] = [];
  const frames: Frame[] = [];
  let lastText: string | undefined;
  for (const [token, raw] of eventData.matchAll(tokenPattern)) {
    const frame = frames.at(-1);
    if (token === '{' || token === '[') {
      frames.push(openFrame(token === '[', frame));
    } else if (token === '}' || token === ']') {
      frames.pop();
      const parent = frames.at(-1);
      if (parent && !parent.isArray) parent.key = undefined;
    } else if (token === ':') {
      if (frame && !frame.isArray) frame.key = lastText;
    } else if (token === ',') {
      if (frame && !frame.isArray) frame.key = undefined;
    } else {
      const text = raw === undefined ? token : unescape(raw);
      lastText = text;
      if (frame?.key !== undefined && isUserKey(frame.key) && token !== 'null') {
        // The path of an array already ends with its key.
        const field = frame.isArray ? frame.path : join(frame.path, frame.key);
        users.push({ field: field.slice(0, maxFieldLength), id: text });
      }
    }
  }
  return users;
}

function openFrame(isArray: boolean, parent: Frame | undefined): Frame {
  const path = parent?.isArray ? parent.path : join(parent?.path ?? '', parent?.key ?? '');
  return { isArray, path, key: isArray ? parent?.key : undefined };
}

function isUserKey(key: string): boolean {
  return key === 'user_id' || key.endsWith('_user_id');
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function unescape(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    // Not a valid JSON string: it contains an unknown escape or a line break.
    return raw;
  }
}
