import type { InboundPlatform } from '../inbound-platform.js';
import { readDisabledShard } from './conduits.external.js';
import { closeReasons, readFrame } from './socket-frame.external.js';
import {
  headerNames,
  readContent,
  readHeaders,
  readMessage,
  toEventType,
} from './webhook-message.external.js';
import { isSignatureValid, isTimestampFresh, toSigningKeys } from './webhook-signature.js';

/** Verifies and parses Twitch's EventSub messages (FACTS.md §1, §2). */
export const twitchInbound: InboundPlatform = {
  headerNames,
  readHeaders,
  toSigningKeys,
  isSignatureValid,
  isTimestampFresh,
  readMessage,
  readFrame,
  readContent,
  closeReasons,
  readDisabledShard,
  toEventType,
};
