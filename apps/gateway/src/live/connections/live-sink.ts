import type { FrameFormat } from './frames.js';
import type { CloseReason } from '../close-codes.js';

/** The sending side of a live connection: a WebSocket or a response with server-sent events. */
export interface LiveSink {
  readonly format: FrameFormat;
  /** Bytes that the client has not read yet. */
  readonly bufferedBytes: number;
  /** Sends whole frames. Does nothing after the connection is closed. */
  write(frames: Buffer): void;
  /** Waits until the write buffer has drained. Returns false if the client reads nothing for 10 s or has disconnected. */
  drained(): Promise<boolean>;
  /** Closes the connection. Drops data that the client does not read within 5 s. `text` replaces the reason's default text. */
  close(reason: CloseReason, text?: string): void;
}
