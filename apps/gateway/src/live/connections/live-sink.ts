import type { FrameFormat } from './frames.js';
import type { CloseReason } from '../close-codes.js';

/** The sending side of a live connection: a WebSocket or a response of server-sent events. */
export interface LiveSink {
  readonly format: FrameFormat;
  /** Bytes that wait for the client. */
  readonly bufferedBytes: number;
  /** Sends whole frames. Does nothing after the connection is closed. */
  write(frames: Buffer): void;
  /** Waits until the client has taken nearly everything. False if it takes nothing for ten seconds or has left. */
  drained(): Promise<boolean>;
  /** Closes the connection. Drops what the client does not take within 5 s. `text` replaces the reason's own text. */
  close(reason: CloseReason, text?: string): void;
}
