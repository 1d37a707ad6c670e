import { createMessage, formatTimestamp, type Message, type MessageContent } from './message.js';

/** Ways in which a message can be wrong, so that a receiver's defences can be tested. */
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

// The platform's advice is to drop what is older than ten minutes (docs/platform-facts.md §1.3): just over it.
const oldTimestampAgeMs = 11 * 60 * 1_000;

/** Makes a message with exactly this fault; everything else about it is right. */
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
      // Still valid JSON, so that only the signature can give it away.
      return { ...message, body: message.body.replace('{', '{"changed_on_the_way":true,') };
    case 'old_timestamp':
      return createMessage({
        ...content,
        timestamp: formatTimestamp(new Date(Date.now() - oldTimestampAgeMs)),
      });
    case 'wrong_secret':
      return createMessage({ ...content, secret: `not-${content.secret}` });
    case 'type_mismatch':
      // Signed correctly: the signature does not cover the header that names the type.
      return { ...message, subscriptionType: otherType(message.subscriptionType) };
  }
}

function changeLastDigit(signature: string): string {
  return signature.slice(0, -1) + (signature.endsWith('0') ? '1' : '0');
}

function otherType(type: string): string {
  return type === 'channel.follow' ? 'channel.cheer' : 'channel.follow';
}
