import type { FrameFormat } from './frames.js';
import type { CloseReason } from '../close-codes.js';

/** The client's end of a live connection: a WebSocket or a response of server-sent events. */
export interface LiveSink {
  readonly format: FrameFormat;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Sends whole frames. Nothing happens when it is closed. */
  write(frames: Buffer): void;
  /** Waits until the client has taken nearly everything; false when it takes nothing for ten seconds, or is gone. */
  drained(): Promise<boolean>;
  /** Ends it. What the client does not take within seconds is dropped. `text` says more than the reason does. */
  close(reason: CloseReason, text?: string): void;
}
