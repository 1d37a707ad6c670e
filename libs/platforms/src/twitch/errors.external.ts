import { isJsonObject } from '@stream-events/contracts';
import { readOptionalText } from '../reply-fields.js';

// Twitch's messages are one sentence; this bounds what other servers send.
const maxMessageLength = 300;

/** The explanation of a rejection (`{error, status, message}`), for people. */
export function readErrorMessage(body: unknown): string {
  if (!isJsonObject(body)) return 'no reason given';
  const message = readOptionalText(body, 'message') || readOptionalText(body, 'error');
  return message.slice(0, maxMessageLength).toWellFormed() || 'no reason given';
}
