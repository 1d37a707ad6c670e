import type { Limits } from '../behavior/platform-limits.js';
import type { SentMessage } from '../notifications/notifications.service.js';
import type { ScenariosView, SimulatorView } from '../simulator/simulator.controller.js';
import type { SimulatedSocket } from '../transports/simulated-sockets.controller.js';
import { readJson, readNumber, readNumbers, type Command, type CommandInput } from './command.js';
import { consentCommands } from './consent-commands.js';
import { CommandError } from './control-client.js';
import { userCommands } from './user-commands.js';

/** Help lists the commands in this order. */
export const commands: Readonly<Record<string, Command>> = {
  status: {
    help: 'Shows rate, faults, and counts of notifications and API calls',
    run: async ({ client }) => describeStatus(await client.call<SimulatorView>('GET', '')),
  },
  ...userCommands,
  send: {
    usage: '<type>',
    words: [1, 1],
    help: 'Sends one notification of any type to one matching subscription, or to a callback',
    options: {
      broadcaster: 'id of the broadcaster',
      event: 'JSON object whose fields replace generated fields of the event',
      copies: 'how many times to send the same message (default 1)',
      fault: 'fault of the message: bad_signature, old_timestamp, …',
      callback:
        'URL of a gateway to send to, instead of the callback of a subscription; requires --secret without a webhook subscription',
      secret: 'webhook secret that signs the message',
    },
    run: send,
  },
  rate: {
    usage: '<number>',
    words: [1, 1],
    help: 'Sets the number of generated events per second; 0 generates none',
    run: async ({ client, words: [rate = ''] }) => {
      const { rate: now } = await client.call<SimulatorView>('PATCH', '', { rate: Number(rate) });
      return [`Rate: ${now} events per second`];
    },
  },
  fault: {
    usage: '<api <mode> | notifications | oauth | none>',
    words: [1, 2],
    help: 'Injects faults into the API, the notifications, or OAuth; none removes all faults',
    options: {
      for: 'api: milliseconds after which the fault ends',
      delay: 'delay in milliseconds of API responses (api slow), notifications, or OAuth responses',
      lose: 'probability (0 to 1) that a notification is lost',
      duplicate: 'probability (0 to 1) that a notification is sent twice',
      reorder: 'probability (0 to 1) that a notification is sent after the next notification for its channel',
      'bad-signature': 'probability (0 to 1) that a notification has an invalid signature',
      'refresh-fails': 'oauth: number of refreshes that fail',
      'refresh-replies-lost': 'oauth: number of refreshes whose response is lost',
      'validate-fails': 'oauth: number of validations that return 401',
      'device-polls-invalid': 'oauth: number of polls that get invalid device code',
    },
    run: async ({ client, words, options }) => {
      const body = { faults: readFaults(words, options) };
      const { faults } = await client.call<SimulatorView>('PATCH', '', body);
      return [`Faults: ${JSON.stringify(faults)}`];
    },
  },
  scenario: {
    usage: '[name | none]',
    words: [0, 1],
    help: 'Starts a scenario; none stops the running scenario; without a name, lists the scenarios',
    options: {
      users: 'number of generated users in the scenario',
      rate: 'generated events per second',
      every: 'milliseconds between the steps of the scenario',
    },
    run: async ({ client, words: [name], options }) => {
      const body = {
        name,
        ...readNumbers(options, ['users', 'rate']),
        every_ms: readNumber(options, 'every'),
      };
      return describeScenarios(
        await (name === undefined
          ? client.call('GET', '/scenarios')
          : client.call('POST', '/scenarios', body)),
      );
    },
  },
  ...consentCommands,
  sockets: {
    help: 'Lists the sockets of clients',
    run: async ({ client }) => describeSockets(await client.call('GET', '/sockets')),
  },
  socket: {
    usage: '<close | reconnect | silence | slow | recover>',
    words: [1, 1],
    help: 'Closes, reconnects, silences, slows down, or recovers sockets',
    options: {
      session: 'id of the session (default: every socket)',
      code: 'close: close code, 4000 to 4007',
      delay: 'slow: delay of every frame in milliseconds',
    },
    run: async ({ client, words: [action = ''], options }) => {
      const values = { code: readNumber(options, 'code'), delay_ms: readNumber(options, 'delay') };
      const body = { action, session_id: options.session, ...values };
      return describeSockets(await client.call('POST', '/sockets', body));
    },
  },
  'revoke-tokens': {
    help: 'Revokes all access tokens',
    run: async ({ client }) => {
      const { revoked } = await client.call<{ revoked: number }>('POST', '/tokens/revoke');
      return [`Revoked ${revoked} access tokens.`];
    },
  },
  limits: {
    help: 'Shows or changes the limits of the platform',
    options: {
      'max-total-cost': 'maximum total cost of the subscriptions of an application',
      'rate-limit': 'API calls per minute',
      'page-size': 'subscriptions or conduit shards per page',
      grants: 'who has granted scopes: everyone or explicit',
    },
    run: async ({ client, options }) => {
      const numbers = readNumbers(options, ['max-total-cost', 'rate-limit', 'page-size']);
      const limits = await client.call<Limits>('POST', '/limits', { ...numbers, grants: options.grants });
      return Object.entries(limits).map(([name, value]) => `${name}: ${String(value)}`);
    },
  },
};

async function send({ client, words: [type = ''], options }: CommandInput): Promise<string[]> {
  const { message_id, responses } = await client.call<SentMessage>('POST', '/notifications', {
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

/**
 * Converts the arguments of `fault` to the field `faults` of `PATCH /simulator`.
 *
 * @throws CommandError if an argument is missing or invalid
 */
function readFaults([what, mode]: string[], options: CommandInput['options']): object {
  const delay_ms = readNumber(options, 'delay');
  switch (what) {
    case 'none':
      return { api: { mode: 'ok' }, notifications: {}, oauth: {} };
    case 'api':
      if (mode === undefined) {
        throw new CommandError('fault api requires a mode: ok, down, slow, garbage, error, or rate_limited');
      }
      return { api: { mode, delay_ms, for_ms: readNumber(options, 'for') } };
    case 'notifications': {
      const probabilities = readNumbers(options, ['lose', 'duplicate', 'reorder', 'bad-signature']);
      return { notifications: { ...probabilities, delay_ms } };
    }
    case 'oauth': {
      const names = ['refresh-fails', 'refresh-replies-lost', 'validate-fails', 'device-polls-invalid'];
      return { oauth: { ...readNumbers(options, names), delay_ms } };
    }
    default:
      throw new CommandError('fault requires one of: api, notifications, oauth, none');
  }
}

function describeStatus(view: SimulatorView): string[] {
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

function describeScenarios({ playing, scenarios }: ScenariosView): string[] {
  const rows = Object.entries(scenarios).map(
    ([name, { description }]) => `${name === playing ? '▶' : ' '} ${name}: ${description}`,
  );
  return [...rows, playing === null ? 'No scenario is running.' : `Running: ${playing}`];
}

function describeSockets({ sockets }: { sockets: readonly SimulatedSocket[] }): string[] {
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
