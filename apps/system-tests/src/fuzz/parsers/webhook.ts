import { createHmac } from 'node:crypto';
import { parseStoreEventBatch, printStoreEventBatch, type EventWithColumns } from '@stream-events/contracts';
import { WebhookService } from '@stream-events/gateway/fuzzing';
import { inbound } from '@stream-events/platforms';
import { createLogger, Registry } from '@stream-events/service';
import { ServiceError } from '@stream-events/contracts';
import type { ParserTarget } from './parser-target.js';
import { readMessageInput, webhookSeeds, webhookWords } from '../webhook-messages.js';

const secrets = ['the first secret of the fuzzing', 'the second secret of the fuzzing'];

/** The webhook without the store. The events service must be able to read every accepted message. */
export function webhookTarget(): ParserTarget {
  const stored: EventWithColumns[] = [];
  const ingest = {
    store: (event: EventWithColumns) => {
      stored.push(event);
      return Promise.resolve('stored' as const);
    },
  };
  const service = new WebhookService(
    ingest as never, // Safe cast: the service calls only `store`
    { noteFresh: () => undefined, noteStale: () => undefined } as never, // Safe cast: the service calls only these
    { PLATFORM_WEBHOOK_SECRET: secrets } as never, // Safe cast: the service reads no other variable
    createLogger('fuzzing', 'silent'),
    new Registry(),
  );
  return {
    name: 'webhook',
    description:
      'headers and bodies of platform messages, with and without a valid signature; the events service must be able to read every accepted message, and a message without a valid signature must be refused',
    seeds: webhookSeeds,
    words: webhookWords,
    run: async (input) => {
      const { headers, body, isSigned, pathType } = readMessageInput(input, secrets[0] ?? '');
      stored.length = 0;
      try {
        const { status } = await service.receive({ headers, body, pathType, fingerprint: '' });
        if (!isSigned && !isSignatureGenuine(headers, body)) throw new Error('accepted a forged message');
        for (const event of stored) parseStoreEventBatch(printStoreEventBatch({ events: [event] }));
        return status === 200 ? 'challenge' : stored.length > 0 ? 'stored' : 'ignored';
      } catch (error) {
        if (
          error instanceof ServiceError &&
          stored.length === 0 &&
          ['invalid', 'forbidden'].includes(error.code)
        )
          return error.code;
        throw error;
      }
    },
  };
}

/** Checks a signature without the service's implementation. True for genuine messages. */
function isSignatureGenuine(headers: Record<string, string | string[] | undefined>, body: Buffer): boolean {
  const { messageId, timestamp, signature } = inbound.readHeaders(headers);
  return secrets.some((secret) => {
    const hmac = createHmac('sha256', secret)
      .update(messageId + timestamp)
      .update(body)
      .digest('hex');
    return signature === `sha256=${hmac}`;
  });
}
