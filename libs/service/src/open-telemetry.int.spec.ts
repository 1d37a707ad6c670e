import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OpenTelemetry } from './open-telemetry.js';

describe(OpenTelemetry.name, () => {
  it('says when the receiver refuses spans', async () => {
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(400).end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo; // Safe cast: the server listens on TCP.
    const failures: unknown[] = [];
    let noteFailure = (): void => undefined;
    const hasFailed = new Promise<void>((resolve) => (noteFailure = resolve));
    const sut = new OpenTelemetry({
      endpoint: `http://127.0.0.1:${port}`,
      headers: {},
      serviceName: 'events',
      sampler: 'always_on',
      ratio: 1,
      onFailure: (error) => {
        failures.push(error);
        noteFailure();
      },
    });

    sut.start('work', { kind: 'server' })?.end();
    await sut.close();
    // On a busy machine, `close` can return first, because it waits at most 2 s.
    await hasFailed;
    receiver.closeAllConnections();
    receiver.close();

    expect(failures).toEqual([expect.objectContaining({ code: 400 })]);
  });
});
