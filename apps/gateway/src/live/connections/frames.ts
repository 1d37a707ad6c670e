import type { LiveControl } from '@stream-events/contracts';
import { translateRecord } from '../../http/tau-compatibility.js';
import type { LiveEvent } from '../stream/live-event.js';
import { positionOf, printPosition, type Position } from '../stream/position.js';
import type { GapReason } from '../gap-reasons.js';

/**
 * The messages that a client receives, by format:
 *
 * ```
 *              plain WebSocket │ WebSocket with positions          │ server-sent events
 * event        the record      │ the record and its `position`     │ id: <position>, data: <the record>
 * replay       the record      │ the record                        │ data: <the record>
 * ready        -               │ {"event":"ready","position":…}    │ id: <position>, no data
 * gap          -               │ {"event":"gap","reason":…}        │ event: gap, data: {"reason":…}
 * keep-alive   keep_alive      │ keep_alive with `position`        │ id: <position>, no data
 * control      {"event":"control","control":…}, also with positions │ event: control, data: {"control":…}
 * ```
 *
 * `keep_alive` is `{"event":"keep_alive"}`. WebSockets get keep-alives only on request, server-sent events always. Controls are sent only
 * on request. With TAU_COMPATIBILITY, plain WebSockets use the format `tau`, whose records have the names that TAU clients expect.
 */
export type FrameFormat = 'plain' | 'tau' | 'positioned' | 'server_sent';

/** Encodes an event. All clients with the same format share the frame. */
export function frameOf(event: LiveEvent, format: FrameFormat): Buffer {
  event.frames ??= new Map();
  const made = event.frames.get(format);
  if (made) return made;
  const frame = makeFrame(event, format);
  event.frames.set(format, frame);
  return frame;
}

/** Reports the current position, so that a client can resume even before its first event. Undefined for formats without positions. */
export function readyFrame(position: Position, format: FrameFormat): Buffer | undefined {
  if (hasRecordsOnly(format)) return undefined;
  if (format === 'server_sent') return Buffer.from(`id: ${printPosition(position)}\n\n`);
  return textFrame(JSON.stringify({ event: 'ready', position: printPosition(position) }));
}

/** Reports that the client missed events. Undefined for formats without positions. */
export function gapFrame(reason: GapReason, format: FrameFormat): Buffer | undefined {
  if (hasRecordsOnly(format)) return undefined;
  if (format === 'server_sent') return Buffer.from(`event: gap\ndata: ${JSON.stringify({ reason })}\n\n`);
  return textFrame(JSON.stringify({ event: 'gap', reason }));
}

/** Shows that the connection is alive, and reports the position. The position advances even while no event passes the filter. */
export function keepAliveFrame(position: Position, format: FrameFormat): Buffer {
  if (format === 'server_sent') return Buffer.from(`id: ${printPosition(position)}\n\n`);
  const withPosition = format === 'positioned' && { position: printPosition(position) };
  return textFrame(JSON.stringify({ event: 'keep_alive', ...withPosition }));
}

export function controlFrame(control: LiveControl, format: FrameFormat): Buffer {
  if (format === 'server_sent')
    return Buffer.from(`event: control\ndata: ${JSON.stringify({ control })}\n\n`);
  return textFrame(JSON.stringify({ event: 'control', control }));
}

/** Whether the format has neither positions nor the messages `ready` and `gap`. */
function hasRecordsOnly(format: FrameFormat): boolean {
  return format === 'plain' || format === 'tau';
}

function makeFrame(event: LiveEvent, format: FrameFormat): Buffer {
  const position = event.sequence === 0 ? undefined : printPosition(positionOf(event));
  if (format === 'server_sent') return serverSentFrame(event.record, position);
  if (format === 'tau') return textFrame(translateRecord(event.record));
  if (format === 'plain' || position === undefined) return textFrame(event.record);
  // The record is a JSON object, so its last byte is the closing brace.
  const body = event.record.subarray(0, -1);
  return textFrame(Buffer.concat([body, Buffer.from(`,"position":"${position}"}`)]));
}

/** Writes one `data:` line for each line of the record, because event data is stored as sent and may contain line breaks. */
function serverSentFrame(record: Buffer, position: string | undefined): Buffer {
  const lines = record.toString().split(/\r\n|\r|\n/);
  const data = lines.map((line) => `data: ${line}\n`).join('');
  return Buffer.from(`${position === undefined ? '' : `id: ${position}\n`}${data}\n`);
}

/** Encodes a WebSocket text frame. Server frames are not masked (RFC 6455 §5.1), so all clients get the same bytes. */
export function textFrame(payload: Buffer | string): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const head = Buffer.alloc(headLength(bytes.length));
  head[0] = 0x81; // FIN and opcode 1: a text message of one frame
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
