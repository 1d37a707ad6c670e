import { parseIngestMessage } from '@stream-events/contracts';
import { parseRequest } from '@stream-events/messaging';
import { contracts, ingestSeeds, requestSeeds, requestWords } from '../nats-payloads.js';
import { attempt, type ParserTarget } from './parser-target.js';

export const requestTarget: ParserTarget = {
  name: 'NATS requests',
  description: `the data of requests over NATS, each parsed by a quarter of the ${contracts.length} contracts`,
  seeds: requestSeeds,
  words: requestWords,
  run: (input) => {
    let isAccepted = false;
    const json = parse(input);
    for (const contract of contracts.filter((_, index) => (index + input.length) % 4 === 0)) {
      const request = attempt(() => parseRequest(contract, contract.rawRequest ? input : json));
      isAccepted ||= request !== undefined;
    }
    return isAccepted ? 'accepted' : 'refused';
  },
};

export const ingestTarget: ParserTarget = {
  name: 'INGEST messages',
  description: 'messages on the INGEST stream; a message that is refused becomes a dead letter',
  seeds: ingestSeeds,
  words: ['id', 'eventId', 'eventType', 'eventSource', 'origin', 'eventData', 'idempotencyKey', 'occurredAt'],
  run: (input) => {
    try {
      parseIngestMessage(input);
      return 'accepted';
    } catch (error) {
      // Compare by name: under Jest, Node's own errors have other classes.
      if (promisedErrors.includes(nameOf(error))) return 'refused';
      throw error;
    }
  },
};

const promisedErrors = ['ServiceError', 'TypeError', 'SyntaxError'];

function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
}

function parse(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString());
  } catch {
    return undefined;
  }
}
