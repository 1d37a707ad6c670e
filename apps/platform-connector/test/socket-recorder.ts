import { inbound, type SocketMessage, type SocketSession } from '@stream-events/platforms';
import type { EventSocketListener } from '../src/sockets/event-socket.js';

type Loss = Parameters<EventSocketListener['lost']>[0];

/** Records the sessions, messages, and losses that an event socket reports. */
export class SocketRecorder implements EventSocketListener {
  readonly sessions: SocketSession[] = [];
  readonly messages: SocketMessage[] = [];
  readonly losses: Loss[] = [];
  /** Called for each new session. Tests can make it fail. */
  use: (session: SocketSession) => Promise<void>;

  constructor(use: (session: SocketSession) => Promise<void> = () => Promise.resolve()) {
    this.use = use;
  }

  /** The bits of the received cheers, in order of arrival. */
  get bits(): unknown[] {
    return this.messages.map(({ type, content }) => {
      const message = inbound.readContent(type, content);
      return message.kind === 'notification' ? message.data.bits : message.kind;
    });
  }

  welcomed(session: SocketSession): Promise<void> {
    this.sessions.push(session);
    return this.use(session);
  }

  received(message: SocketMessage): void {
    this.messages.push(message);
  }

  lost(loss: Loss): void {
    this.losses.push(loss);
  }
}
