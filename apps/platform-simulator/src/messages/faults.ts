import { createMessage, formatTimestamp, type Message, type MessageContent } from './message.js';

/** Kinds of invalid messages. Receivers must reject them. */
export const faults = [
  'bad_signature',
  'short_signature',
  'missing_signature',
  'changed_body',
  'old_timestamp',
  'wrong_secret',
  'type_mismatch',
] as const;
export type Fault = (typeof faults)[number];

// Just above 10 minutes, after which receivers should reject a message (docs/platform-facts.md §1.3).
const oldTimestampAgeMs = 11 * 60 * 1_000;

/** Creates a message that is invalid in exactly one way. */
export function createFaultyMessage(content: MessageContent, fault: Fault): Message {
  const message = createMessage(content);
  switch (fault) {
    case 'bad_signature':
      return { ...message, signature: changeLastDigit(message.signature ?? '') };
    case 'short_signature':
      return { ...message, signature: message.signature?.slice(0, 'sha256='.length + 10) ?? '' };
    case 'missing_signature':
      return { ...message, signature: null };
    case 'changed_body':
      // Keep the body valid JSON, so that only the signature reveals the change.
      return { ...message, body: message.body.replace('{', '{"changed_on_the_way":true,') };
    case 'old_timestamp':
      return createMessage({
        ...content,
        timestamp: formatTimestamp(new Date(Date.now() - oldTimestampAgeMs)),
      });
    case 'wrong_secret':
      return createMessage({ ...content, secret: `not-${content.secret}` });
    case 'type_mismatch':
      // The signature stays valid, because it does not cover the type header.
      return { ...message, subscriptionType: otherType(message.subscriptionType) };
  }
}

function changeLastDigit(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0');
}

function otherType(type: string): string {
  return type === 'channel.follow' ? 'channel.cheer' : 'channel.follow';
}
