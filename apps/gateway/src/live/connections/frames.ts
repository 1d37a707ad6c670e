import type { LiveEvent } from '../stream/live-event.js';
import { positionOf, printPosition, type Position } from '../stream/position.js';
import type { GapReason } from '../gap-reasons.js';

/**
 * What a client gets:
 *
 * ```
 *              plain WebSocket │ WebSocket with positions          │ server-sent events
 * event        the record      │ the record and its `position`     │ id: <position>, data: <the record>
 * replay       the record      │ the record                        │ data: <the record>
 * ready        -               │ {"event":"ready","position":…}    │ id: <position>, no data
 * gap          -               │ {"event":"gap","reason":…}        │ event: gap, data: {"reason":…}
 * keep-alive   keep_alive      │ keep_alive with `position`        │ id: <position>, no data
 * ```
 *
 * `keep_alive` is `{"event":"keep_alive"}`, and only for a client that asked for it; on server-sent events always.
 */
export type FrameFormat = 'plain' | 'positioned' | 'server_sent';

/** An event in a format; made once, for all who get it. */
export function frameOf(event: LiveEvent, format: FrameFormat): Buffer {
  const made = event.frames.get(format);
  if (made) return made;
  const frame = makeFrame(event, format);
  event.frames.set(format, frame);
  return frame;
}

/** Says where the client stands, so that it can resume before the first event has come; undefined where formats have none. */
export function readyFrame(position: Position, format: FrameFormat): Buffer | undefined {
  if (format === 'plain') return undefined;
  if (format === 'server_sent') return Buffer.from(`id: ${printPosition(position)}\n\n`);
  return textFrame(JSON.stringify({ event: 'ready', position: printPosition(position) }));
}

/** Says that events were missed. */
export function gapFrame(reason: GapReason, format: FrameFormat): Buffer | undefined {
  if (format === 'plain') return undefined;
  if (format === 'server_sent') return Buffer.from(`event: gap\ndata: ${JSON.stringify({ reason })}\n\n`);
  return textFrame(JSON.stringify({ event: 'gap', reason }));
}

/** Says that the connection is alive, and how far the client is, although perhaps nothing passed its filter. */
export function keepAliveFrame(position: Position, format: FrameFormat): Buffer {
  if (format === 'server_sent') return Buffer.from(`id: ${printPosition(position)}\n\n`);
  const withPosition = format === 'positioned' && { position: printPosition(position) };
  return textFrame(JSON.stringify({ event: 'keep_alive', ...withPosition }));
}

function makeFrame(event: LiveEvent, format: FrameFormat): Buffer {
  const position = event.sequence === 0 ? undefined : printPosition(positionOf(event));
  if (format === 'server_sent') return serverSentFrame(event.record, position);
  if (format === 'plain' || position === undefined) return textFrame(event.record);
  // The record is an object: its last byte is the brace that closes it.
  const body = event.record.subarray(0, -1);
  return textFrame(Buffer.concat([body, Buffer.from(`,"position":"${position}"}`)]));
}

/** A line of `data:` for each line of the record: event data is kept as sent, and may have line breaks between its parts. */
function serverSentFrame(record: Buffer, position: string | undefined): Buffer {
  const lines = record.toString().split(/\r\n|\r|\n/);
  const data = lines.map((line) => `data: ${line}\n`).join('');
  return Buffer.from(`${position === undefined ? '' : `id: ${position}\n`}${data}\n`);
}

/** A whole WebSocket text frame of a server, which is not masked (RFC 6455 §5.2): the same bytes for every client. */
export function textFrame(payload: Buffer | string): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const head = Buffer.alloc(headLength(bytes.length));
  head[0] = 0x81; // the only frame of its message, text
  if (head.length === 2) head[1] = bytes.length;
  else if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(bytes.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  return Buffer.concat([head, bytes]);
}

function headLength(payloadLength: number): number {
  if (payloadLength < 126) return 2;
  return payloadLength < 65_536 ? 4 : 10;
}
