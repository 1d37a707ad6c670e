import { connect, type Socket } from 'node:net';
import { FrameReader, opcodes } from '../../fleet/frame-reader.js';
import type { FuzzBed } from '../fuzz-bed.js';
import { firstMessageSeeds, positionSeeds } from '../parsers/live.js';
import type { Random } from '../random.js';
import { localAddress, overloaded, type WireTarget } from './wire-target.js';

const path = '/ws/platform-events';
// Close codes that the API promises, and those of `ws` for protocol errors.
const knownCodes = new Set([1000, 1002, 1003, 1005, 1007, 1008, 1009, 1012, 4400, 4401, 4403, 4429]);
const overloadedCode = 1013;
// Use another address for each connection. The limits per address would refuse most connections from a single one.
let connections = 0;

/** First messages of WebSockets, most with a valid token. */
export function firstMessageWireTarget({ port, system }: FuzzBed): WireTarget {
  return {
    name: 'first messages',
    description: 'first messages of WebSockets, as text, as other frames, and with broken frames',
    concurrency: 32,
    seeds: firstMessageSeeds(system.token),
    words: ['event_type', 'after', 'name', 'positions', 'keep_alive', 'since', 'until', 'token', 'user_name'],
    send: (input, random) => exchange(port, makeFrame(input, random), 'any reply'),
  };
}

/** Connects with positions to resume from. */
export async function positionWireTarget({ port, system: { token } }: FuzzBed): Promise<WireTarget> {
  const ready = await exchange(
    port,
    frame(0x81, Buffer.from(JSON.stringify({ token, positions: true }))),
    'text',
  );
  const current = /"position":"([^"]+)"/.exec(ready)?.[1] ?? '';
  return {
    name: 'positions',
    description:
      'positions to resume from, near to and far from the current position; each gets `ready`, a gap, or an error',
    concurrency: 32,
    seeds: [current, ...positionSeeds, current.replace(/-\d+-/, '-1-'), current.replace(/-\d+-/, '-0-')],
    words: [current.slice(0, 9), current.slice(-9), '-1-', '9007199254740991'],
    send: async (input) => {
      const message = JSON.stringify({ token, positions: true, after: input.toString() });
      const outcome = await exchange(port, frame(0x81, Buffer.from(message)), 'text');
      return outcome.startsWith('{') ? (/"event":"(\w+)"/.exec(outcome)?.[1] ?? 'event') : outcome;
    },
  };
}

/** Returns a text frame in 95 % of the calls. The rest have another opcode or flipped bits. */
function makeFrame(input: Buffer, random: Random): Buffer {
  if (random.chance(0.95)) return frame(0x81, input);
  const bytes = frame(random.below(256), input);
  if (random.chance(0.5)) bytes[1] = random.below(256);
  return bytes;
}

/** A mask of zeros leaves the payload unchanged. */
function frame(head: number, payload: Buffer): Buffer {
  const { length } = payload;
  const start = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14);
  start[0] = head;
  start[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (start.length === 8) start.writeUInt16BE(length, 2);
  if (start.length === 14) start.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([start, payload]);
}

/**
 * Connects, sends a frame, and waits. `text` waits for a text message. `any reply` waits for the pong to a second ping, which shows that
 * the connection survived the frame. The end of the connection also ends the wait.
 */
function exchange(port: number, first: Buffer, until: 'text' | 'any reply'): Promise<string> {
  connections += 1;
  const socket = connect({ host: '127.0.0.1', port, localAddress: localAddress(connections), noDelay: true });
  return new Promise((resolve, reject) => {
    let pongs = 0;
    let outcome: string | undefined;
    const settle = (result: string): void => {
      outcome ??= result;
      socket.destroy();
    };
    const ping = (): void => void socket.write(frame(0x80 | opcodes.ping, Buffer.alloc(0)));
    const onOpen = (): void => {
      socket.write(first);
      ping();
    };
    const frames = new FrameReader({
      onText: (bytes, start, end) => {
        if (until === 'text') settle(bytes.toString('utf8', start, end));
      },
      onControl: (opcode, payload) => {
        if (opcode === opcodes.close) settle(printCode(payload));
        if (opcode === opcodes.ping) return;
        pongs += 1;
        if (pongs === 1) ping();
        else if (until === 'any reply') settle('accepted');
      },
    });
    readFrames(socket, { frames, onRefused: settle, onOpen });
    socket.on('error', () => undefined); // the `close` event follows
    socket.once('close', () => {
      if (outcome?.startsWith('defect') === true) reject(new Error(outcome));
      else resolve(outcome ?? 'closed');
    });
    socket.write(handshake);
  });
}

const handshake =
  `GET ${path} HTTP/1.1\r\nHost: fuzzing\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

function readFrames(
  socket: Socket,
  {
    frames,
    onOpen,
    onRefused,
  }: { frames: FrameReader; onOpen: () => void; onRefused: (outcome: string) => void },
): void {
  let head: string | undefined = '';
  socket.on('data', (chunk) => {
    if (head === undefined) return frames.push(chunk);
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const status = head.slice(9, 12);
    if (status !== '101')
      return onRefused(status === '503' ? overloaded : status.startsWith('5') ? `defect: ${head}` : status);
    const rest = Buffer.from(head.slice(end + 4), 'latin1');
    head = undefined;
    onOpen();
    if (rest.length > 0) frames.push(rest);
  });
}

function printCode(payload: Buffer): string {
  const code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
  if (code === overloadedCode) return overloaded;
  return knownCodes.has(code) ? String(code) : `defect: closed with ${code} ${payload.toString('utf8', 2)}`;
}
