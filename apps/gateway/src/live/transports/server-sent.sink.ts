import type { ServerResponse } from 'node:http';
import { ClientOutput } from './client-output.js';
import { type LiveSink } from '../connections/live-sink.js';
import { closeCodes, type CloseReason } from '../close-codes.js';
import { closeLimitMs } from '../live-limits.js';

/** Sends server-sent events in an HTTP response. */
export class ServerSentSink implements LiveSink {
  readonly format = 'server_sent';
  private readonly output: ClientOutput;

  constructor(private readonly response: ServerResponse) {
    const { socket } = response;
    if (!socket) throw new Error('the response has already ended');
    this.output = new ClientOutput(response, socket);
  }

  get bufferedBytes(): number {
    return this.output.bufferedBytes;
  }

  write(frames: Buffer): void {
    this.output.write(frames);
  }

  drained(): Promise<boolean> {
    return this.output.drained();
  }

  close(reason: CloseReason, text?: string): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    const { code, text: usualText } = closeCodes[reason];
    this.output.write(`event: closed\ndata: ${JSON.stringify({ code, reason: text ?? usualText })}\n\n`);
    response.end();
    const timer = setTimeout(() => response.destroy(), closeLimitMs);
    response.once('close', () => clearTimeout(timer));
  }
}
