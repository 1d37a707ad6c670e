import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { ClientOutput } from './client-output.js';
import type { FrameFormat } from '../connections/frames.js';
import { type LiveSink } from '../connections/live-sink.js';
import { closeCodes, type CloseReason } from '../close-codes.js';

/** The most bytes of a close reason: a control frame holds 125, two of which are the code (RFC 6455 §5.5). */
const maxReasonBytes = 123;

/** A WebSocket, for which frames come ready made: they go to its socket directly, between those that `ws` writes itself. */
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
    // After a close frame of either side nothing may follow.
    if (this.webSocket.readyState === WebSocket.OPEN) this.output.write(frames);
  }

  drained(): Promise<boolean> {
    return this.output.drained();
  }

  close(reason: CloseReason, text?: string): void {
    closeWebSocket(this.webSocket, reason, text);
  }
}

/** Sends a close frame behind what was written; the server's `closeTimeout` limits how long the client may take. */
export function closeWebSocket(webSocket: WebSocket, reason: CloseReason, text?: string): void {
  const { code, text: usualText } = closeCodes[reason];
  webSocket.close(code, fitReason(text ?? usualText));
}

/** As much of a text as a close frame holds, in whole characters. */
function fitReason(text: string): Buffer {
  const room = Buffer.alloc(maxReasonBytes);
  const { written } = new TextEncoder().encodeInto(text, room);
  return room.subarray(0, written);
}
