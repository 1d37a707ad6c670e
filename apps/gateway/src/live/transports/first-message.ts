import type { RawData, WebSocket } from 'ws';

/**
 * Waits for the first message and returns its text. Returns undefined if the message is binary, if it does not arrive in time, or if the
 * client disconnects.
 */
export function untilFirstMessage(webSocket: WebSocket, limitMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (text?: string): void => {
      clearTimeout(timer);
      webSocket.off('message', onMessage).off('close', onClose);
      resolve(text);
    };
    const onMessage = (data: RawData, isBinary: boolean): void => {
      // Safe cast: with its default `binaryType`, ws passes each message as a Buffer.
      settle(isBinary ? undefined : (data as Buffer).toString());
    };
    const onClose = (): void => settle();
    const timer = setTimeout(settle, limitMs);
    webSocket.on('message', onMessage).on('close', onClose);
  });
}
