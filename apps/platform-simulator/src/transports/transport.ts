import type { Reply } from '../messages/delivery.service.js';
import type { Envelope } from '../messages/message.js';
import type { SocketView } from '../sockets/socket-session.js';

/** The transport in responses and messages of the platform (docs/platform-facts.md §4.5). Never contains a secret. */
export type TransportView =
  | { readonly method: 'webhook'; readonly callback: string }
  | { readonly method: 'conduit'; readonly conduit_id: string }
  | SocketView;

/** How the messages of a subscription, or of a conduit's shard, reach the application. */
export interface Transport {
  readonly view: TransportView;
  /** Sends a message once. */
  send(message: Envelope): Promise<Reply>;
  /** Sends a message as the platform does, with its retries. Counts a failure instead of throwing an error. */
  deliver(message: Envelope): Promise<void>;
}

/** Returns a text that is the same for transports to the same callback, conduit, or session. */
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
