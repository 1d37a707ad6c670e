import { createHmac } from 'node:crypto';
import { inbound } from '@stream-events/platforms';

/** A platform message built from an input. */
export interface MessageInput {
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** Whether the test has signed this message. */
  isSigned: boolean;
  /** Event type in the path, if any. */
  pathType: string | undefined;
}

const names = inbound.headerNames;
const subscription = {
  id: '3b7a1f0c-11aa-4f1d-9d6f-0c8d1f3c2b10',
  status: 'enabled',
  type: 'channel.follow',
  version: '2',
  condition: { broadcaster_user_id: '4711', moderator_user_id: '4711' },
  transport: { method: 'webhook', callback: 'https://events.example.org/api/v1/platform-events/webhook' },
  created_at: '2026-11-21T07:00:00.123456789Z',
};
const event = {
  user_id: '12826',
  user_login: 'some_viewer',
  user_name: 'Some_Viewer',
  broadcaster_user_id: '4711',
  broadcaster_user_name: 'Mira_Plays',
  followed_at: '2026-11-21T07:30:00.123456789Z',
};
const raid = {
  from_broadcaster_user_id: '1234',
  from_broadcaster_user_name: 'Raider',
  to_broadcaster_user_id: '4711',
  to_broadcaster_user_name: 'Mira_Plays',
  viewers: 42,
};

/**
 * An input consists of header lines, an empty line, and the body. Placeholders: `now` is the current time, `sign` the valid signature, and
 * `unique` an unused id. The pseudo-header `path` contains the event type of the path.
 */
export const webhookSeeds: readonly string[] = [
  message('notification', { subscription, event }),
  message('notification', { subscription: { ...subscription, type: 'channel.raid' }, event: raid }),
  message('notification', {
    subscription: { ...subscription, type: 'drop.entitlement.grant' },
    events: [{ id: '1', data: {} }],
  }),
  message('notification', { subscription, event }, ['path: channel-follow']),
  message('webhook_callback_verification', { challenge: 'pogchamp-kappa-360noscope-vohiyo', subscription }),
  message('revocation', { subscription: { ...subscription, status: 'authorization_revoked' } }),
  message('notification', { subscription, event }).replace('sign', `sha256=${'0'.repeat(64)}`),
  message('notification', { subscription, event }).replace('now', '2020-01-01T00:00:00Z'),
];

export const webhookWords: readonly string[] = [
  ...[
    'now',
    'sign',
    'unique',
    'path: ',
    'notification',
    'revocation',
    'webhook_callback_verification',
    'sha256=',
  ],
  ...[
    'subscription',
    'event',
    'events',
    'challenge',
    'type',
    'user_id',
    'chatter_user_id',
    'message',
    'data',
  ],
  ...['user_name', 'reward', 'from_broadcaster_user_id', 'broadcaster_user_id', 'from_user_id', 'condition'],
];

function message(type: string, body: object, more: readonly string[] = []): string {
  const lines = [
    `${names.messageId}: unique`,
    `${names.timestamp}: now`,
    `${names.signature}: sign`,
    `${names.type}: ${type}`,
    ...more,
  ];
  return `${lines.join('\n')}\n\n${JSON.stringify(body)}`;
}

let count = 0;

/** Builds a message from an input. Joins repeated headers with commas, as Node does. */
export function readMessageInput(input: Buffer, secret: string): MessageInput {
  const headEnd = input.indexOf('\n\n');
  const head = input.toString('latin1', 0, headEnd === -1 ? input.length : headEnd);
  const body = headEnd === -1 ? Buffer.alloc(0) : input.subarray(headEnd + 2);
  const headers = Object.create(null) as Record<string, string>; // Safe cast: the object is empty
  for (const line of head.split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const { path: pathType, ...rest } = headers;
  return { ...fillIn(rest, body, secret), body, pathType };
}

function fillIn(
  headers: Record<string, string>,
  body: Buffer,
  secret: string,
): Pick<MessageInput, 'headers' | 'isSigned'> {
  const [id, timestamp, signature] = [names.messageId, names.timestamp, names.signature].map((name) =>
    name.toLowerCase(),
  ) as [string, string, string]; // Safe cast: a tuple of the same length
  if (headers[id] === 'unique') headers[id] = `fuzzing-${process.pid}-${(count += 1)}`;
  if (headers[timestamp] === 'now') headers[timestamp] = new Date().toISOString();
  const isSigned = headers[signature] === 'sign';
  if (isSigned) {
    const text = (headers[id] ?? '') + (headers[timestamp] ?? '');
    headers[signature] = `sha256=${createHmac('sha256', secret).update(text).update(body).digest('hex')}`;
  }
  return { headers, isSigned };
}
