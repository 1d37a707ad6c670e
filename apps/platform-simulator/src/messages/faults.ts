import { createMessage, formatTimestamp, type Message, type MessageContent } from './message.js';

/** Ways in which a message can be invalid, to test that receivers reject such messages. */
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

// Just over the ten minutes after which receivers should reject a message (docs/platform-facts.md §1.3).
const oldTimestampAgeMs = 11 * 60 * 1_000;

/** Creates a message with exactly this fault. All its other parts are valid. */
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
      // The changed body is still valid JSON, so only the signature reveals the change.
      return { ...message, body: message.body.replace('{', '{"changed_on_the_way":true,') };
    case 'old_timestamp':
      return createMessage({
        ...content,
        timestamp: formatTimestamp(new Date(Date.now() - oldTimestampAgeMs)),
      });
    case 'wrong_secret':
      return createMessage({ ...content, secret: `not-${content.secret}` });
    case 'type_mismatch':
      // The signature is valid, because it does not cover the type header.
      return { ...message, subscriptionType: otherType(message.subscriptionType) };
  }
}

function changeLastDigit(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0');
}

function otherType(type: string): string {
  return type === 'channel.follow' ? 'channel.cheer' : 'channel.follow';
}
