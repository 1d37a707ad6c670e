import { jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';

const creation = '$JS.API.CONSUMER.CREATE.';

/**
 * Makes the next consumer begin at another sequence than requested. On a server whose copy of the stream lacks messages, a consumer finds
 * nothing (as from the end of the stream on), or begins with messages before the requested sequence, which arrive there first.
 */
export function startNextConsumerAt(connection: NatsConnection, sequence: number): void {
  const request = connection.request.bind(connection);
  const spy = jest.spyOn(connection, 'request').mockImplementation((subject, payload, options) => {
    if (!subject.startsWith(creation)) return request(subject, payload, options);
    spy.mockRestore();
    const text = Buffer.from(payload ?? '').toString();
    const changed = text.replace(/"opt_start_seq":\d+/, `"opt_start_seq":${sequence}`);
    return request(subject, changed, options);
  });
}
