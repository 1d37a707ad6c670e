import { jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';

const creation = '$JS.API.CONSUMER.CREATE.';

/**
 * Makes the next consumer start at another sequence than requested, as on a server whose copy of the stream lacks messages. There, a
 * consumer finds nothing, or starts with messages before the requested sequence, which reach that server first.
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
