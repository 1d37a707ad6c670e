import type { WebSocket } from 'ws';
import { lingerMs } from '../../http/http-limits.js';
import { maxFramesPerMinute } from '../live-limits.js';

const minuteMs = 60_000;

/** The limit on what one WebSocket client sends. */
export interface FrameLimit {
  /** Closes the connection with 4400 when its client exceeds the limit. */
  close: (text: string) => void;
}

/**
 * Counts the messages, pings, and pongs of a client, except its first message. Above `maxFramesPerMinute`, calls `close` and reads nothing
 * more: a client that floods the gateway would not stop for a close frame.
 */
export function limitFrames(webSocket: WebSocket, close: FrameLimit['close']): FrameLimit {
  const limit = { close };
  let since = performance.now();
  let count = 0;
  const onFrame = (): void => {
    const now = performance.now();
    if (now - since >= minuteMs) [since, count] = [now, 0];
    count += 1;
    if (count <= maxFramesPerMinute) return;
    webSocket.off('message', onFrame).off('ping', onFrame).off('pong', onFrame);
    limit.close(`you sent more than ${maxFramesPerMinute} messages, pings, and pongs in a minute`);
    webSocket.pause();
    // Give the client time to read the close frame.
    setTimeout(() => webSocket.terminate(), lingerMs).unref();
  };
  webSocket.once('message', () => webSocket.on('message', onFrame));
  webSocket.on('ping', onFrame).on('pong', onFrame);
  return limit;
}
