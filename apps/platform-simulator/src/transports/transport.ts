import { IsIn, IsUrl, Matches, ValidateIf } from 'class-validator';
import { IsFilledText } from '../http/validation.js';
import type { Reply } from './delivery.service.js';
import type { Envelope } from './message.js';
import type { SocketView } from './socket-session.js';

/** The transport in the platform's responses and messages (FACTS.md §4.5). Never contains the secret. */
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

/**
 * Rules for callback URLs. The real platform requires https on port 443. The simulator also accepts http and other ports, because services
 * on the same machine use them.
 */
export const callbackRules = {
  protocols: ['http', 'https'],
  require_protocol: true,
  require_tld: false,
  allow_underscores: true, // container names can contain underscores
};

/** ASCII, 10 to 100 characters (FACTS.md §1.2). */
export const secretPattern = /^[\x20-\x7e]{10,100}$/;
export const secretRule = { message: 'secret must be 10 to 100 ASCII characters' };

const isWebhook = ({ method }: TransportDto): boolean => method === 'webhook';
const isSocket = ({ method }: TransportDto): boolean => method === 'websocket';
const isConduit = ({ method }: TransportDto): boolean => method === 'conduit';

/** The `transport` field of a request. The method decides which other fields are required. */
export class TransportDto {
  @IsIn(['webhook', 'websocket', 'conduit'])
  method!: 'webhook' | 'websocket' | 'conduit';

  @ValidateIf(isWebhook)
  @IsUrl(callbackRules)
  callback!: string;

  @ValidateIf(isWebhook)
  @Matches(secretPattern, secretRule)
  secret!: string;

  @ValidateIf(isSocket)
  @IsFilledText()
  session_id!: string;

  @ValidateIf(isConduit)
  @IsFilledText()
  conduit_id!: string;
}
