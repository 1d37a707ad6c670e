import type { DeliveryCounts } from '../messages/delivery-counts.js';
import type { Reply } from '../messages/delivery.service.js';
import type { Envelope } from '../messages/message.js';
import type { SocketSession } from '../sockets/socket-session.js';
import type { Transport } from './transport.js';

/**
 * Sends frames over a client's socket. Never retries: like the platform, it cannot know whether a frame arrives (docs/platform-facts.md
 * §2).
 */
export class SocketTransport implements Transport {
  constructor(
    readonly session: SocketSession,
    private readonly counts: DeliveryCounts,
  ) {}

  get view(): SocketSession['view'] {
    return this.session.view;
  }

  send(message: Envelope): Promise<Reply> {
    const isSent = this.session.send(message);
    if (message.type === 'notification') {
      if (isSent) this.counts.countAccepted();
      else this.counts.countRefused('unreachable');
    }
    return Promise.resolve(
      isSent ? { status: 200, body: '' } : { status: 0, body: '', error: 'unreachable' },
    );
  }

  async deliver(message: Envelope): Promise<void> {
    await this.send(message);
  }
}
