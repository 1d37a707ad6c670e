import type { Writable } from 'node:stream';
import * as ws from 'ws';

// The library's type definitions omit its receiver.
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

/** Reads WebSocket text messages from bytes of a server, as the receiver of a client does. */
export class MessageReader {
  readonly messages: string[] = [];
  private readonly receiver = new Receiver({ isServer: false });

  constructor() {
    this.receiver.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) throw new Error('received a binary message');
      this.messages.push(data.toString());
    });
  }

  /** Returns the messages that these bytes complete. */
  read(bytes: Buffer): string[] {
    this.receiver.write(bytes);
    return this.messages.splice(0);
  }
}
