import type { FrameFormat } from './frames.js';

/** Why a connection ends: the WebSocket close code, and what it says. Codes of 4000 and above are ours. */
export const closeReasons = {
  shutting_down: { code: 1012, text: 'the service restarts: connect again' },
  overloaded: { code: 1013, text: 'too many connections, or a part of the service is down: try again later' },
  invalid: { code: 4400, text: 'the request is wrong' },
  unauthenticated: { code: 4401, text: 'no valid token' },
  too_slow: { code: 4408, text: 'you read too slowly: connect again with your last position' },
  too_many: { code: 4429, text: 'this token has too many connections' },
} as const;
export type CloseReason = keyof typeof closeReasons;

/** The close codes and what they say, as a list in Markdown. */
export function printCloseCodes(): string {
  return Object.values(closeReasons)
    .map(({ code, text }) => `- \`${code}\`: ${text}`)
    .join('\n');
}

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
