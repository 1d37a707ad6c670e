import type { StreamTruth } from '../channels/streams.service.js';
import type { ScenariosView, SimulatorView } from '../simulator/simulator.controller.js';
import { readJson, readNumber, type Command, type CommandInput } from './command.js';
import { consentCommands } from './consent-commands.js';
import { CommandError, type ControlClient } from './control-client.js';

export type StatusView = SimulatorView;

export function describeStatus(view: StatusView): string[] {
  const { seed, rate, users, live_streams, faults, notifications, requests } = view;
  const { sent, accepted, given_up, dropped, missed, refused } = notifications;
  const refusals = Object.entries(refused).map(([result, count]) => `${count} × ${result}`);
  return [
    view.description,
    `seed ${seed}, ${rate} events per second, ${users} users, ${live_streams} live`,
    `faults: ${JSON.stringify(faults)}`,
    `notifications: ${sent} sent, ${accepted} accepted, ${given_up} given up, ${dropped} dropped by conduits, ${missed} skipped`,
    ...(refusals.length > 0 ? [`failed deliveries: ${refusals.join(', ')}`] : []),
    ...Object.entries(requests).map(([route, count]) => `${route}: ${count}`),
  ];
}

export function describeUser(user: {
  id: string;
  login: string;
  display_name: string;
  is_live: boolean;
}): string {
  return `${user.id}  ${user.login}  (${user.display_name})${user.is_live ? '  live' : ''}`;
}

export function describeStreams(streams: readonly StreamTruth[]): string[] {
  if (streams.length === 0) return ['This user has never had a stream.'];
  return streams.map(({ id, started_at, ended_at }) => `${id}  ${started_at}  ${ended_at ?? 'running'}`);
}

export function describeScenarios({ playing, scenarios }: ScenariosView): string[] {
  const rows = Object.entries(scenarios).map(
    ([name, { description }]) => `${name === playing ? '▶' : ' '} ${name}: ${description}`,
  );
  return [...rows, playing === null ? 'No scenario is running.' : `Running: ${playing}`];
}

/**
 * Converts the arguments of `fault` to the field `faults` of `PATCH /simulator`.
 *
 * @throws CommandError if an argument is missing or invalid
 */
export function readFaults([what, mode]: string[], options: CommandInput['options']): object {
  switch (what) {
    case 'none':
      return { api: { mode: 'ok' }, notifications: {}, oauth: {} };
    case 'api':
      if (mode === undefined) {
        throw new CommandError('fault api requires a mode: ok, down, slow, garbage, error, or rate_limited');
      }
      return { api: { mode, delay_ms: readNumber(options, 'delay'), for_ms: readNumber(options, 'for') } };
    case 'notifications':
      return {
        notifications: {
          lose: readNumber(options, 'lose'),
          duplicate: readNumber(options, 'duplicate'),
          reorder: readNumber(options, 'reorder'),
          delay_ms: readNumber(options, 'delay'),
          bad_signature: readNumber(options, 'bad-signature'),
        },
      };
    case 'oauth':
      return {
        oauth: {
          refresh_fails: readNumber(options, 'refresh-fails'),
          refresh_replies_lost: readNumber(options, 'refresh-replies-lost'),
          validate_fails: readNumber(options, 'validate-fails'),
          device_polls_invalid: readNumber(options, 'device-polls-invalid'),
          delay_ms: readNumber(options, 'delay'),
        },
      };
    default:
      throw new CommandError('fault requires one of: api, notifications, oauth, none');
  }
}

interface Socket {
  session_id: string;
  connected_at: string;
  is_silent: boolean;
  delay_ms: number;
  is_reconnecting: boolean;
}

export const socketCommands: Readonly<Record<string, Command>> = {
  sockets: {
    usage: '',
    words: [0, 0],
    help: 'Lists the sockets of clients',
    options: {},
    run: async ({ client }) =>
      describe((await client.call<{ sockets: Socket[] }>('GET', '/sockets')).sockets),
  },
  socket: {
    usage: '<close | reconnect | silence | slow | recover>',
    words: [1, 1],
    help: 'Closes, reconnects, silences, slows down, or recovers sockets',
    options: {
      session: { type: 'string', help: 'id of the session (default: every socket)' },
      code: { type: 'string', help: 'close: close code, 4000 to 4007' },
      delay: { type: 'string', help: 'slow: delay of every frame in milliseconds' },
    },
    run: async ({ client, words: [action = ''], options }) => {
      const values = { code: readNumber(options, 'code'), delay_ms: readNumber(options, 'delay') };
      const body = { action, session_id: options.session, ...values };
      return describe((await client.call<{ sockets: Socket[] }>('POST', '/sockets', body)).sockets);
    },
  },
};

function describe(sockets: readonly Socket[]): string[] {
  if (sockets.length === 0) return ['No client is connected.'];
  return sockets.map(({ session_id, connected_at, is_silent, delay_ms, is_reconnecting }) => {
    const states = [
      is_silent && 'silent',
      is_reconnecting && 'reconnecting',
      delay_ms > 0 && `${delay_ms} ms slow`,
    ];
    return [session_id, connected_at, ...states.filter((state) => state !== false)].join('  ');
  });
}

interface User {
  id: string;
  login: string;
  display_name: string;
  is_live: boolean;
}

/** Help lists the commands in this order. */
export const commands: Readonly<Record<string, Command>> = {
  status: {
    usage: '',
    words: [0, 0],
    help: 'Shows rate, faults, and counts of notifications and API calls',
    options: {},
    run: async ({ client }) => describeStatus(await client.call<StatusView>('GET', '')),
  },
  users: {
    usage: '[login]',
    words: [0, 1],
    help: 'Lists the users',
    options: { first: { type: 'string', help: 'maximum number of users (default 100)' } },
    run: listUsers,
  },
  add: {
    usage: '<login | number>',
    words: [1, 1],
    help: 'Adds a user with the given login, or the given number of users with generated names',
    options: { id: { type: 'string', help: 'user id (default: generated)' } },
    run: addUsers,
  },
  rename: {
    usage: '<login> <new login>',
    words: [2, 2],
    help: 'Changes the login of a user',
    options: {},
    run: async ({ client, words: [login = '', renamed = ''] }) => {
      const { id } = await findUser(client, login);
      return [describeUser(await client.call<User>('PATCH', `/users/${id}`, { login: renamed }))];
    },
  },
  remove: {
    usage: '<login>',
    words: [1, 1],
    help: 'Removes a user and ends the subscriptions for that user',
    options: {},
    run: async ({ client, words: [login = ''] }) => {
      const { id } = await findUser(client, login);
      await client.call('DELETE', `/users/${id}`);
      return [`Removed ${login} and ended the subscriptions for ${login}.`];
    },
  },
  live: {
    usage: '<login>',
    words: [1, 1],
    help: 'Starts a stream of a user',
    options: {
      title: { type: 'string', help: 'stream title' },
      game: { type: 'string', help: 'category name' },
      viewers: { type: 'string', help: 'viewer count (default: changes over time)' },
      'listed-after': { type: 'string', help: 'milliseconds until the streams API lists the stream' },
      silent: { type: 'boolean', help: 'sends no notifications' },
    },
    run: goLive,
  },
  offline: {
    usage: '<login>',
    words: [1, 1],
    help: 'Ends the stream of a user',
    options: {
      'listed-for': { type: 'string', help: 'milliseconds for which the streams API still lists the stream' },
      silent: { type: 'boolean', help: 'sends no notifications' },
    },
    run: async ({ client, words: [login = ''], options }) => {
      const { id } = await findUser(client, login);
      const request = { notify: !options.silent, listed_for_ms: readNumber(options, 'listed-for') };
      const stream = await client.call<{ id: string }>('DELETE', `/streams/${id}`, request);
      return [`${login} is offline: stream ${stream.id} ended.`];
    },
  },
  streams: {
    usage: '<login>',
    words: [1, 1],
    help: 'Lists the current and past streams of a user, including those that the streams API does not list',
    options: {},
    run: async ({ client, words: [login = ''] }) => {
      const { id } = await findUser(client, login);
      return describeStreams(await client.call('GET', `/streams?user_id=${id}`));
    },
  },
  send: {
    usage: '<type>',
    words: [1, 1],
    help: 'Sends one notification of any type to one matching subscription, or to a callback',
    options: {
      broadcaster: { type: 'string', help: 'id of the broadcaster' },
      event: { type: 'string', help: 'JSON object whose fields replace generated fields of the event' },
      copies: { type: 'string', help: 'how many times to send the same message (default 1)' },
      fault: { type: 'string', help: 'fault of the message: bad_signature, old_timestamp, …' },
      callback: {
        type: 'string',
        help: 'URL of a gateway to send to, instead of the callback of a subscription; requires --secret without a webhook subscription',
      },
      secret: { type: 'string', help: 'webhook secret that signs the message' },
    },
    run: send,
  },
  rate: {
    usage: '<number>',
    words: [1, 1],
    help: 'Sets the number of generated events per second; 0 generates none',
    options: {},
    run: async ({ client, words: [rate = ''] }) => {
      const { rate: now } = await client.call<StatusView>('PATCH', '', { rate: Number(rate) });
      return [`Rate: ${now} events per second`];
    },
  },
  fault: {
    usage: '<api <mode> | notifications | oauth | none>',
    words: [1, 2],
    help: 'Injects faults into the API, the notifications, or OAuth; none removes all faults',
    options: {
      for: { type: 'string', help: 'api: milliseconds after which the fault ends' },
      delay: {
        type: 'string',
        help: 'delay in milliseconds of API responses (api slow), notifications, or OAuth responses',
      },
      lose: { type: 'string', help: 'probability (0 to 1) that a notification is lost' },
      duplicate: { type: 'string', help: 'probability (0 to 1) that a notification is sent twice' },
      reorder: {
        type: 'string',
        help: 'probability (0 to 1) that a notification is sent after the next notification for its channel',
      },
      'bad-signature': {
        type: 'string',
        help: 'probability (0 to 1) that a notification has an invalid signature',
      },
      'refresh-fails': { type: 'string', help: 'oauth: number of refreshes that fail' },
      'refresh-replies-lost': { type: 'string', help: 'oauth: number of refreshes whose response is lost' },
      'validate-fails': { type: 'string', help: 'oauth: number of validations that return 401' },
      'device-polls-invalid': { type: 'string', help: 'oauth: number of polls that get invalid device code' },
    },
    run: async ({ client, words, options }) => {
      const { faults } = await client.call<StatusView>('PATCH', '', { faults: readFaults(words, options) });
      return [`Faults: ${JSON.stringify(faults)}`];
    },
  },
  scenario: {
    usage: '[name | none]',
    words: [0, 1],
    help: 'Starts a scenario; none stops the running scenario; without a name, lists the scenarios',
    options: {
      users: { type: 'string', help: 'number of generated users in the scenario' },
      rate: { type: 'string', help: 'generated events per second' },
      every: { type: 'string', help: 'milliseconds between the steps of the scenario' },
    },
    run: async ({ client, words: [name], options }) => {
      const [users, rate, every_ms] = ['users', 'rate', 'every'].map((option) => readNumber(options, option));
      const body = { name, users, rate, every_ms };
      return describeScenarios(
        await (name === undefined
          ? client.call('GET', '/scenarios')
          : client.call('POST', '/scenarios', body)),
      );
    },
  },
  ...consentCommands,
  ...socketCommands,
  'revoke-tokens': {
    usage: '',
    words: [0, 0],
    help: 'Revokes all access tokens',
    options: {},
    run: async ({ client }) => {
      const { revoked } = await client.call<{ revoked: number }>('POST', '/tokens/revoke');
      return [`Revoked ${revoked} access tokens.`];
    },
  },
  limits: {
    usage: '',
    words: [0, 0],
    help: 'Shows or changes the limits of the platform',
    options: {
      'max-total-cost': { type: 'string', help: 'maximum total cost of the subscriptions of an application' },
      'rate-limit': { type: 'string', help: 'API calls per minute' },
      'page-size': { type: 'string', help: 'subscriptions or conduit shards per page' },
      grants: { type: 'string', help: 'who has granted scopes: everyone or explicit' },
    },
    run: async ({ client, options }) => {
      const changes = {
        max_total_cost: readNumber(options, 'max-total-cost'),
        rate_limit: readNumber(options, 'rate-limit'),
        page_size: readNumber(options, 'page-size'),
        grants: options.grants,
      };
      const limits = await client.call<object>('POST', '/limits', changes);
      return Object.entries(limits).map(([name, value]) => `${name}: ${String(value)}`);
    },
  },
};

async function findUser(client: ControlClient, login: string): Promise<User> {
  const path = `/users?login=${encodeURIComponent(login)}`;
  const { users } = await client.call<{ users: User[] }>('GET', path);
  const [user] = users;
  if (!user)
    throw new CommandError(`There is no user ${login}. Run "users" to list the users or "add" to add one.`);
  return user;
}

async function listUsers({ client, words: [login], options }: CommandInput): Promise<string[]> {
  if (login !== undefined) return [describeUser(await findUser(client, login))];
  const first = readNumber(options, 'first') ?? 100;
  const { users, total } = await client.call<{ users: User[]; total: number }>(
    'GET',
    `/users?first=${first}`,
  );
  return [...users.map(describeUser), `${users.length} of ${total} users`];
}

async function addUsers({ client, words: [who = ''], options }: CommandInput): Promise<string[]> {
  const isCount = /^\d+$/.test(who);
  const request = isCount ? { count: Number(who) } : { login: who, id: options.id };
  const { users } = await client.call<{ users: User[] }>('POST', '/users', request);
  return users.map(describeUser);
}

async function goLive({ client, words: [login = ''], options }: CommandInput): Promise<string[]> {
  const stream = await client.call<{ id: string; started_at: string }>('POST', '/streams', {
    login,
    title: options.title,
    game_name: options.game,
    viewer_count: readNumber(options, 'viewers'),
    listed_after_ms: readNumber(options, 'listed-after'),
    notify: !options.silent,
  });
  return [`${login} is live: stream ${stream.id} started at ${stream.started_at}.`];
}

async function send({ client, words: [type = ''], options }: CommandInput): Promise<string[]> {
  const { message_id, responses } = await client.call<{
    message_id: string;
    responses: { status: number; error?: string }[];
  }>('POST', '/notifications', {
    type,
    broadcaster_user_id: options.broadcaster,
    event: readJson(options, 'event'),
    copies: readNumber(options, 'copies'),
    fault: options.fault,
    callback: options.callback,
    secret: options.secret,
  });
  const answers = responses.map(({ status, error }) => `  response: ${error ?? status}`);
  return [`Message ${message_id}:`, ...answers];
}
