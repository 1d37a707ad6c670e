import type { Writable } from 'node:stream';
import * as ws from 'ws';

// The type definitions of ws omit `Receiver`.
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

/** Decodes WebSocket text messages from a server's bytes. */
export class MessageReader {
  readonly messages: string[] = [];
  private readonly receiver = new Receiver({ isServer: false });

  constructor() {
    this.receiver.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) throw new Error('received a binary message');
      this.messages.push(data.toString());
    });
  }

  /** Returns the messages that are complete after these bytes. */
  read(bytes: Buffer): string[] {
    this.receiver.write(bytes);
    return this.messages.splice(0);
  }
}
