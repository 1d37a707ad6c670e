import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { stallLimitMs } from '../live-limits.js';

/** Writes to a client and tracks how much the client has not read yet. All sinks use this class. */
export class ClientOutput {
  private drain: Promise<void> | undefined;

  constructor(
    private readonly stream: Writable,
    /** The socket that `stream` writes to. For a WebSocket, `stream` is the socket. */
    private readonly socket: Socket,
    private readonly stallMs = stallLimitMs,
  ) {}

  get bufferedBytes(): number {
    return this.stream.writableLength;
  }

  /** Does nothing if the stream has ended. */
  write(bytes: Buffer | string): void {
    if (!this.isGone) this.stream.write(bytes);
  }

  /**
   * Waits until the stream's write buffer has drained. Returns false if the client neither reads nor sends anything for `stallMs`, or has
   * disconnected.
   */
  async drained(): Promise<boolean> {
    // All callers share one wait: each would start the timeout again.
    if (!this.isGone && this.stream.writableNeedDrain) await (this.drain ??= this.untilDrainedOrStalled());
    return !this.isGone && !this.stream.writableNeedDrain;
  }

  private get isGone(): boolean {
    return this.stream.destroyed || this.stream.writableEnded;
  }

  private untilDrainedOrStalled(): Promise<void> {
    const { stream, socket } = this;
    return new Promise((resolve) => {
      const timeoutBefore = socket.timeout ?? 0;
      const settle = (): void => {
        socket.setTimeout(timeoutBefore).off('timeout', settle);
        stream.off('drain', settle).off('close', settle);
        this.drain = undefined;
        resolve();
      };
      // Node starts this timeout again whenever the operating system takes part of a write, and whenever the client sends something.
      socket.setTimeout(this.stallMs).on('timeout', settle);
      stream.on('drain', settle).on('close', settle);
    });
  }
}
