import { identityKeys } from './identity-keys.js';

/** A platform user's id in event data. */
export interface NamedUser {
  /** Path of keys to the id, with dots and without array indexes: `event.moderator_user_id`. */
  field: string;
  id: string;
}

/** An open JSON object or array. */
interface Frame {
  isArray: boolean;
  /** Path of the object or array itself. */
  path: string;
  /** In an object, the key of the next value. In an array, the array's own key. */
  key: string | undefined;
}

// Let an unterminated string match up to the end. Otherwise a search would start at each quote in the string, which takes quadratic time.
const tokenPattern =
  /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]|true|false|null/gs;
const otherKeys = new Set(
  Object.values(identityKeys)
    .flat()
    .map(({ id }) => id)
    .filter((id) => !isUserId(id)),
);

/** The keys whose values are user ids, for descriptions. */
export const namedUserKeys: readonly string[] = ['user_id', '*_user_id', ...otherKeys];

/** A text names a user only if it contains this end of a key, or a `\u` escape that may spell it. */
export const userKeyEnd = '_id"';

// Maximum length of a path; longer ones are cut. Clients choose the keys of the events that they post.
const maxFieldLength = 200;

/**
 * Finds every user id in event data: the values of `namedUserKeys` at any depth. Scans the text instead of parsing it, to also find ids
 * under repeated keys and in invalid JSON.
 */
export function findNamedUsers(eventData: string): NamedUser[] {
  // Do not scan a text that cannot name a user.
  if (!eventData.includes(userKeyEnd) && !eventData.includes('\\u')) return [];
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
        // An array's path already ends with its key.
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
  return key.endsWith('_id') && (isUserId(key) || otherKeys.has(key));
}

// Keys that the platform adds to events usually keep this form.
function isUserId(key: string): boolean {
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
    // The string has an unknown escape or a line break, so it is not valid JSON.
    return raw;
  }
}
