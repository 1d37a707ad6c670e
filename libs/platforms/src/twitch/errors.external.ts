import { isJsonObject } from '@stream-events/contracts';
import { readOptionalText } from '../reply-fields.js';

// Twitch's messages are one sentence. The limit is for messages from other servers, such as proxies.
const maxMessageLength = 300;

/** Returns the explanation of a rejection (`{error, status, message}`) as readable text. */
export function readErrorMessage(body: unknown): string {
  if (!isJsonObject(body)) return 'no reason given';
  const message = readOptionalText(body, 'message') || readOptionalText(body, 'error');
  return message.slice(0, maxMessageLength).toWellFormed() || 'no reason given';
}
