import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { stallLimitMs } from '../live-limits.js';

/** What a client has still to take of what was written to it: the common half of all sinks. */
export class ClientOutput {
  private writtenBytes = 0;

  constructor(
    private readonly stream: Writable,
    /** What the stream writes to, or is. */
    private readonly socket: Socket,
    private readonly stallMs = stallLimitMs,
  ) {}

  get bufferedBytes(): number {
    return this.stream.writableLength;
  }

  /** Nothing happens when the stream has ended. */
  write(bytes: Buffer | string): void {
    if (this.isGone) return;
    this.writtenBytes += Buffer.byteLength(bytes);
    this.stream.write(bytes);
  }

  /** Waits until everything is taken; false when the client takes nothing for the time of the limit, or is gone. */
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
   * What the client's system has taken. Node counts a write as one thing, however large, until all of it is; a client on
   * a slow line may need a minute for that. The handle knows how much of it is left: `Socket.setTimeout` looks there, too.
   */
  private takenBytes(): number {
    const handle: unknown = '_handle' in this.socket ? this.socket._handle : undefined;
    const isKnown = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle;
    return (
      this.writtenBytes - (isKnown ? this.bufferedBytes + Number(handle.writeQueueSize) : this.bufferedBytes)
    );
  }
}
