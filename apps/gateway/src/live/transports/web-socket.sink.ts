import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { ClientOutput } from './client-output.js';
import type { FrameFormat } from '../connections/frames.js';
import { type LiveSink } from '../connections/live-sink.js';
import { closeCodes, type CloseReason } from '../close-codes.js';

/** Maximum bytes of a close reason. A close frame holds 125 bytes, two of which are the close code (RFC 6455 §5.5). */
const maxReasonBytes = 123;

/**
 * Sends live messages over a WebSocket. Writes encoded frames directly to the socket, so that all clients share them. `ws` writes only
 * control frames.
 */
export class WebSocketSink implements LiveSink {
  private readonly output: ClientOutput;

  constructor(
    private readonly webSocket: WebSocket,
    socket: Socket,
    readonly format: Exclude<FrameFormat, 'server_sent'>,
  ) {
    this.output = new ClientOutput(socket, socket);
  }

  get bufferedBytes(): number {
    return this.output.bufferedBytes;
  }

  write(frames: Buffer): void {
    // The protocol forbids frames after the close frame.
    if (this.webSocket.readyState === WebSocket.OPEN) this.output.write(frames);
  }

  drained(): Promise<boolean> {
    return this.output.drained();
  }

  close(reason: CloseReason, text?: string): void {
    closeWebSocket(this.webSocket, reason, text);
  }
}

/** Sends a close frame after all written data. `ws` ends the connection if the client does not answer within `closeTimeout`. */
export function closeWebSocket(webSocket: WebSocket, reason: CloseReason, text?: string): void {
  const { code, text: usualText } = closeCodes[reason];
  webSocket.close(code, fitReason(text ?? usualText));
}

/** Truncates a text to fit in a close frame, without splitting a character. */
function fitReason(text: string): Buffer {
  const room = Buffer.alloc(maxReasonBytes);
  const { written } = new TextEncoder().encodeInto(text, room);
  return room.subarray(0, written);
}
