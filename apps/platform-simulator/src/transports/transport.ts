import type { Reply } from '../messages/delivery.service.js';
import type { Envelope } from '../messages/message.js';
import type { SocketView } from '../sockets/socket-session.js';

/** The transport in the platform's responses and messages (docs/platform-facts.md §4.5). Never contains the secret. */
export type TransportView =
  | { readonly method: 'webhook'; readonly callback: string }
  | { readonly method: 'conduit'; readonly conduit_id: string }
  | SocketView;

/** Carries messages to an application, for a subscription or a conduit's shard. */
export interface Transport {
  readonly view: TransportView;
  /** Sends the message once. */
  send(message: Envelope): Promise<Reply>;
  /** Sends the message, over webhooks with the platform's retries. Counts failed notifications and never throws. */
  deliver(message: Envelope): Promise<void>;
}

/** Transports with the same callback, conduit, or session have the same address. */
export function addressOf(view: TransportView): string {
  switch (view.method) {
    case 'webhook':
      return view.callback;
    case 'websocket':
      return view.session_id;
    case 'conduit':
      return view.conduit_id;
  }
}
