import { isJsonObject } from '@stream-events/contracts';
import { readOptionalText } from './answer-fields.js';

// The platform's messages are a sentence.
const maxMessageLength = 300;

/** What the platform says about a refusal (`{error, status, message}`), for people. */
export function readErrorMessage(body: unknown): string {
  if (!isJsonObject(body)) return 'no reason given';
  const message = readOptionalText(body, 'message') || readOptionalText(body, 'error');
  return message.slice(0, maxMessageLength).toWellFormed() || 'no reason given';
}
