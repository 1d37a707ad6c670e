import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { ClientOutput } from './client-output.js';
import type { FrameFormat } from '../connections/frames.js';
import { type LiveSink } from '../connections/live-sink.js';
import { closeCodes, type CloseReason } from '../close-codes.js';

/** Maximum size of a close reason: a control frame holds 125 bytes, two of which are the code (RFC 6455 §5.5). */
const maxReasonBytes = 123;

/** Sends to a WebSocket. Frames are already encoded, so they go to the socket directly, between those that `ws` writes. */
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
    // No frame may follow a close frame of either side.
    if (this.webSocket.readyState === WebSocket.OPEN) this.output.write(frames);
  }

  drained(): Promise<boolean> {
    return this.output.drained();
  }

  close(reason: CloseReason, text?: string): void {
    closeWebSocket(this.webSocket, reason, text);
  }
}

/** Sends a close frame after everything that was written. The server's `closeTimeout` limits how long the client may take. */
export function closeWebSocket(webSocket: WebSocket, reason: CloseReason, text?: string): void {
  const { code, text: usualText } = closeCodes[reason];
  webSocket.close(code, fitReason(text ?? usualText));
}

/** Cuts a text to the length that fits in a close frame, at a character boundary. */
function fitReason(text: string): Buffer {
  const room = Buffer.alloc(maxReasonBytes);
  const { written } = new TextEncoder().encodeInto(text, room);
  return room.subarray(0, written);
}
