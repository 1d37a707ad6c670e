import type { RawData, WebSocket } from 'ws';

/** The text of the first message; undefined when none comes in time, it is no text, or the client leaves before. */
export function untilFirstMessage(webSocket: WebSocket, limitMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (text?: string): void => {
      clearTimeout(timer);
      webSocket.off('message', onMessage).off('close', onClose);
      resolve(text);
    };
    const onMessage = (data: RawData, isBinary: boolean): void => {
      // holds: of the kinds of data only this one comes unless ws is told otherwise
      settle(isBinary ? undefined : (data as Buffer).toString());
    };
    const onClose = (): void => settle();
    const timer = setTimeout(settle, limitMs);
    webSocket.on('message', onMessage).on('close', onClose);
  });
}
