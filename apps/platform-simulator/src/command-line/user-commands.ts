import type { SimulatedStream, StreamTruth } from '../channels/streams.service.js';
import type { SimulatedUser } from '../users/users.service.js';
import { readNumber, type Command } from './command.js';
import { CommandError, type ControlClient } from './control-client.js';

/** Commands for users and their streams. */
export const userCommands: Readonly<Record<string, Command>> = {
  users: {
    usage: '[login]',
    words: [0, 1],
    help: 'Lists the users',
    options: { first: 'maximum number of users (default 100)' },
    run: async ({ client, words: [login], options }) => {
      if (login !== undefined) return [describeUser(await findUser(client, login))];
      const path = `/users?first=${readNumber(options, 'first') ?? 100}`;
      const { users, total } = await client.call<{ users: SimulatedUser[]; total: number }>('GET', path);
      return [...users.map(describeUser), `${users.length} of ${total} users`];
    },
  },
  add: {
    usage: '<login | number>',
    words: [1, 1],
    help: 'Adds a user with the given login, or the given number of users with generated names',
    options: { id: 'user id (default: generated)' },
    run: async ({ client, words: [who = ''], options }) => {
      const request = /^\d+$/.test(who) ? { count: Number(who) } : { login: who, id: options.id };
      const { users } = await client.call<{ users: SimulatedUser[] }>('POST', '/users', request);
      return users.map(describeUser);
    },
  },
  rename: {
    usage: '<login> <new login>',
    words: [2, 2],
    help: 'Changes the login of a user',
    run: async ({ client, words: [login = '', renamed = ''] }) => {
      const { id } = await findUser(client, login);
      return [describeUser(await client.call<SimulatedUser>('PATCH', `/users/${id}`, { login: renamed }))];
    },
  },
  remove: {
    usage: '<login>',
    words: [1, 1],
    help: 'Removes a user and ends the subscriptions for that user',
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
      title: 'stream title',
      game: 'category name',
      viewers: 'viewer count (default: changes over time)',
      'listed-after': 'milliseconds until the streams API lists the stream',
    },
    flags: { silent: 'sends no notifications' },
    run: async ({ client, words: [login = ''], options }) => {
      const stream = await client.call<SimulatedStream>('POST', '/streams', {
        login,
        title: options.title,
        game_name: options.game,
        viewer_count: readNumber(options, 'viewers'),
        listed_after_ms: readNumber(options, 'listed-after'),
        notify: !options.silent,
      });
      return [`${login} is live: stream ${stream.id} started at ${stream.started_at}.`];
    },
  },
  offline: {
    usage: '<login>',
    words: [1, 1],
    help: 'Ends the stream of a user',
    options: { 'listed-for': 'milliseconds for which the streams API still lists the stream' },
    flags: { silent: 'sends no notifications' },
    run: async ({ client, words: [login = ''], options }) => {
      const { id } = await findUser(client, login);
      const request = { notify: !options.silent, listed_for_ms: readNumber(options, 'listed-for') };
      const stream = await client.call<SimulatedStream>('DELETE', `/streams/${id}`, request);
      return [`${login} is offline: stream ${stream.id} ended.`];
    },
  },
  streams: {
    usage: '<login>',
    words: [1, 1],
    help: 'Lists the current and past streams of a user, including those that the streams API does not list',
    run: async ({ client, words: [login = ''] }) => {
      const { id } = await findUser(client, login);
      const streams = await client.call<StreamTruth[]>('GET', `/streams?user_id=${id}`);
      if (streams.length === 0) return ['This user has never had a stream.'];
      return streams.map((stream) => `${stream.id}  ${stream.started_at}  ${stream.ended_at ?? 'running'}`);
    },
  },
};

async function findUser(client: ControlClient, login: string): Promise<SimulatedUser> {
  const path = `/users?login=${encodeURIComponent(login)}`;
  const [user] = (await client.call<{ users: SimulatedUser[] }>('GET', path)).users;
  if (!user)
    throw new CommandError(`There is no user ${login}. Run "users" to list the users or "add" to add one.`);
  return user;
}

function describeUser({ id, login, display_name, is_live }: SimulatedUser): string {
  return `${id}  ${login}  (${display_name})${is_live ? '  live' : ''}`;
}
