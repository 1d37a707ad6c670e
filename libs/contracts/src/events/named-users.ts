/** A user id in the data of an event. */
export interface NamedUser {
  /** The path of keys to the id, separated by dots, without array indexes: `event.moderator_user_id`. */
  field: string;
  id: string;
}

/** A container that is open at the current place of the text. */
interface Frame {
  isArray: boolean;
  /** The path of the container itself. */
  path: string;
  /** The key whose value comes next. In an array, the key of the array. */
  key: string | undefined;
}

// An unterminated text matches up to the end of the input. Otherwise, a new search would start at each quote: quadratic time.
const tokenPattern =
  /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]|true|false|null/gs;
// Clients choose the keys of the events that they add.
const maxFieldLength = 200;

/**
 * Finds every user id in the text of an event's data: the value of every key `user_id` or `*_user_id`, at any depth. Reads the text
 * itself, so that it also finds the first one of two equal keys, and the ids in text that is not valid JSON.
 */
export function findNamedUsers(eventData: string): NamedUser[] {
  // Without `user_id`, only a key with a `\u` escape can still name a user. Most texts have neither.
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
        // The path of an array ends with its key already.
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
    // Not JSON: an unknown escape, or a line break.
    return raw;
  }
}
