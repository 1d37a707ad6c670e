import { isJsonObject } from '@stream-events/contracts';
import { readOptionalText } from '../reply-fields.js';

// Twitch's messages are one sentence long. A proxy or another server can send longer ones, which are cut.
const maxMessageLength = 300;

/** Returns Twitch's explanation of a rejection (`{error, status, message}`) as readable text. */
export function readErrorMessage(body: unknown): string {
  if (!isJsonObject(body)) return 'no reason given';
  const message = readOptionalText(body, 'message') || readOptionalText(body, 'error');
  return message.slice(0, maxMessageLength).toWellFormed() || 'no reason given';
}
