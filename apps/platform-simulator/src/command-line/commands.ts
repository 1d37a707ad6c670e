import { readFaults } from './fault-options.js';
import type { Command, CommandInput } from './command.js';
import { CommandError, type ControlClient } from './control-client.js';
import { readJson, readNumber } from './option-values.js';
import {
  describeScenarios,
  describeStatus,
  describeStreams,
  describeUser,
  type StatusView,
} from './descriptions.js';

interface User {
  id: string;
  login: string;
  display_name: string;
  is_live: boolean;
}

/** Everything that can be said to the simulator. */
export const commands: Readonly<Record<string, Command>> = {
  status: {
    usage: '',
    words: [0, 0],
    help: 'what the simulation is doing',
    options: {},
    run: async ({ client }) => describeStatus(await client.call<StatusView>('GET', '')),
  },
  users: {
    usage: '[login]',
    words: [0, 1],
    help: 'who has an account',
    options: { first: { type: 'string', help: 'how many to show (100)' } },
    run: listUsers,
  },
  add: {
    usage: '<login | number>',
    words: [1, 1],
    help: 'makes a user, or that many with made-up names',
    options: { id: { type: 'string', help: 'the id of the user; made up unless given' } },
    run: addUsers,
  },
  rename: {
    usage: '<login> <new login>',
    words: [2, 2],
    help: 'gives a user another login',
    options: {},
    run: async ({ client, words: [login = '', renamed = ''] }) => {
      const { id } = await findUser(client, login);
      return [describeUser(await client.call<User>('PATCH', `/users/${id}`, { login: renamed }))];
    },
  },
  remove: {
    usage: '<login>',
    words: [1, 1],
    help: 'removes a user from the platform',
    options: {},
    run: async ({ client, words: [login = ''] }) => {
      const { id } = await findUser(client, login);
      await client.call('DELETE', `/users/${id}`);
      return [`${login} is gone, and so are the subscriptions about ${login}.`];
    },
  },
  live: {
    usage: '<login>',
    words: [1, 1],
    help: 'a user goes live',
    options: {
      title: { type: 'string', help: 'title of the stream' },
      game: { type: 'string', help: 'name of the category' },
      viewers: { type: 'string', help: 'how many watch; it wanders unless given' },
      'listed-after': { type: 'string', help: 'ms until the platform’s list shows it' },
      silent: { type: 'boolean', help: 'tells no subscriber' },
    },
    run: goLive,
  },
  offline: {
    usage: '<login>',
    words: [1, 1],
    help: 'the stream of a user ends',
    options: {
      'listed-for': { type: 'string', help: 'ms for which the platform’s list still shows it' },
      silent: { type: 'boolean', help: 'tells no subscriber' },
    },
    run: async ({ client, words: [login = ''], options }) => {
      const { id } = await findUser(client, login);
      const request = { notify: !options.silent, listed_for_ms: readNumber(options, 'listed-for') };
      const stream = await client.call<{ id: string }>('DELETE', `/streams/${id}`, request);
      return [`${login} is offline: stream ${stream.id} has ended.`];
    },
  },
  streams: {
    usage: '<login>',
    words: [1, 1],
    help: 'the streams that a user really had',
    options: {},
    run: async ({ client, words: [login = ''] }) => {
      const { id } = await findUser(client, login);
      return describeStreams(await client.call('GET', `/streams?user_id=${id}`));
    },
  },
  send: {
    usage: '<type>',
    words: [1, 1],
    help: 'sends one notification, of any type, to who has subscribed',
    options: {
      broadcaster: { type: 'string', help: 'id of the broadcaster it is about' },
      event: { type: 'string', help: 'JSON: fields that replace those that are made up' },
      copies: { type: 'string', help: 'how many times the same message' },
      fault: { type: 'string', help: 'what is wrong with it: bad_signature, old_timestamp, …' },
      callback: { type: 'string', help: 'where to, without a subscription; needs --secret' },
      secret: { type: 'string', help: 'what it is signed with' },
    },
    run: send,
  },
  rate: {
    usage: '<number>',
    words: [1, 1],
    help: 'how many events happen by themselves a second; 0 is silence',
    options: {},
    run: async ({ client, words: [rate = ''] }) => {
      const { rate: now } = await client.call<StatusView>('PATCH', '', { rate: Number(rate) });
      return [`${now} events a second.`];
    },
  },
  fault: {
    usage: '<api <mode> | notifications | none>',
    words: [1, 2],
    help: 'lets the platform’s interface or its notifications fail',
    options: {
      for: { type: 'string', help: 'api: ms after which it ends by itself' },
      delay: { type: 'string', help: 'ms: of answers with `api slow`, of every notification' },
      lose: { type: 'string', help: 'notifications: chance from 0 to 1' },
      duplicate: { type: 'string', help: 'notifications: chance from 0 to 1' },
      reorder: { type: 'string', help: 'notifications: chance from 0 to 1' },
      'bad-signature': { type: 'string', help: 'notifications: chance from 0 to 1' },
    },
    run: async ({ client, words, options }) => {
      const { faults } = await client.call<StatusView>('PATCH', '', { faults: readFaults(words, options) });
      return [`Faults: ${JSON.stringify(faults)}`];
    },
  },
  scenario: {
    usage: '[name | none]',
    words: [0, 1],
    help: 'plays a scenario, or lists them',
    options: {
      users: { type: 'string', help: 'how many made-up users play it' },
      rate: { type: 'string', help: 'events a second that happen by themselves' },
      every: { type: 'string', help: 'ms between its turns or raids' },
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
  'revoke-tokens': {
    usage: '',
    words: [0, 0],
    help: 'ends all access tokens',
    options: {},
    run: async ({ client }) => {
      const { revoked } = await client.call<{ revoked: number }>('POST', '/tokens/revoke');
      return [`${revoked} access tokens are no longer good.`];
    },
  },
  limits: {
    usage: '',
    words: [0, 0],
    help: 'shows or changes what the platform allows',
    options: {
      'max-total-cost': { type: 'string', help: 'of all subscriptions of an application' },
      'rate-limit': { type: 'string', help: 'calls a minute' },
      'page-size': { type: 'string', help: 'subscriptions on a page' },
    },
    run: async ({ client, options }) => {
      const changes = {
        max_total_cost: readNumber(options, 'max-total-cost'),
        rate_limit: readNumber(options, 'rate-limit'),
        page_size: readNumber(options, 'page-size'),
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
  if (!user) throw new CommandError(`There is no user ${login}: add makes one, users lists them.`);
  return user;
}

async function listUsers({ client, words: [login], options }: CommandInput): Promise<string[]> {
  if (login !== undefined) return [describeUser(await findUser(client, login))];
  const first = readNumber(options, 'first') ?? 100;
  const { users, total } = await client.call<{ users: User[]; total: number }>(
    'GET',
    `/users?first=${first}`,
  );
  return [...users.map(describeUser), `${users.length} of ${total} users.`];
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
  return [`${login} is live: stream ${stream.id} since ${stream.started_at}.`];
}

async function send({ client, words: [type = ''], options }: CommandInput): Promise<string[]> {
  const { message_id, responses } = await client.call<{
    message_id: string;
    responses: { status: number; body: string; error?: string }[];
  }>('POST', '/notifications', {
    type,
    broadcaster_user_id: options.broadcaster,
    event: readJson(options, 'event'),
    copies: readNumber(options, 'copies'),
    fault: options.fault,
    callback: options.callback,
    secret: options.secret,
  });
  const answers = responses.map(({ status, body, error }) =>
    `  answered ${error ?? status} ${body}`.trimEnd(),
  );
  return [`Message ${message_id}:`, ...answers];
}
