import type { FrameFormat } from './frames.js';
import type { CloseReason } from '../close-codes.js';

/** The sending side of a live connection: a WebSocket or a response with server-sent events. */
export interface LiveSink {
  readonly format: FrameFormat;
  /** Bytes that wait for the client. */
  readonly bufferedBytes: number;
  /** Sends whole frames. Does nothing after the connection is closed. */
  write(frames: Buffer): void;
  /** Waits until the client has read nearly everything. Returns false if the client reads nothing for ten seconds or has disconnected. */
  drained(): Promise<boolean>;
  /** Closes the connection. Drops data that the client does not read within 5 s. `text` replaces the reason's default text. */
  close(reason: CloseReason, text?: string): void;
}
