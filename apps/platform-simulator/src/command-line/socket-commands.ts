import type { Command } from './command.js';
import { readNumber } from './option-values.js';

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
