import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { stallLimitMs } from '../live-limits.js';

/** Writes to a client and tracks how much the client has not read yet. All sinks use this class. */
export class ClientOutput {
  private writtenBytes = 0;

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
    if (this.isGone) return;
    this.writtenBytes += Buffer.byteLength(bytes);
    this.stream.write(bytes);
  }

  /** Waits until the stream's write buffer has drained. Returns false if the client reads nothing for `stallMs` or has disconnected. */
  async drained(): Promise<boolean> {
    if (!this.isGone && this.stream.writableNeedDrain) await this.untilDrainedOrStalled();
    return !this.isGone && !this.stream.writableNeedDrain;
  }

  private get isGone(): boolean {
    return this.stream.destroyed || this.stream.writableEnded;
  }

  private untilDrainedOrStalled(): Promise<void> {
    return new Promise((resolve) => {
      let takenBytes = this.takenBytes();
      let idleTicks = 0;
      const ticks = 10;
      const settle = (): void => {
        clearInterval(timer);
        this.stream.off('drain', settle).off('close', settle);
        resolve();
      };
      const timer = setInterval(() => {
        const now = this.takenBytes();
        idleTicks = now !== takenBytes ? 0 : idleTicks + 1;
        takenBytes = now;
        if (idleTicks >= ticks) settle();
      }, this.stallMs / ticks);
      this.stream.on('drain', settle).on('close', settle);
    });
  }

  /**
   * Returns a number that changes whenever the operating system accepts bytes for sending. Node counts a large write as pending until all
   * of it is sent, which takes minutes on a slow line. To see progress earlier, this method also reads how many bytes the socket's handle
   * has left to write, as `Socket.setTimeout` does.
   */
  private takenBytes(): number {
    const handle: unknown = '_handle' in this.socket ? this.socket._handle : undefined;
    const isKnown = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle;
    return (
      this.writtenBytes - (isKnown ? this.bufferedBytes + Number(handle.writeQueueSize) : this.bufferedBytes)
    );
  }
}
