import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { natsUsers } from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { closeNats, connectNats } from './connection.js';
import { ConnectionWatch } from './connection-watch.js';

describe(ConnectionWatch.name, () => {
  let nats: TestNats;
  beforeAll(async () => {
    nats = await startTestNats([natsUsers.gateway]);
  });
  afterAll(() => nats.stop());

  it('follows a broker that goes away and comes back', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const heard: string[] = [];
    const watch = new ConnectionWatch(connection, {
      onLost: () => heard.push(`lost, connected: ${watch.isConnected}`),
      onBack: () => heard.push(`back, connected: ${watch.isConnected}`),
    });
    expect(watch.isConnected).toBe(true);

    await nats.kill();
    await eventually(() => expect(watch.isConnected).toBe(false));
    await nats.restart();
    await eventually(() => expect(watch.isConnected).toBe(true));

    expect(heard).toEqual(['lost, connected: false', 'back, connected: true']);
    await connection.close();
  });

  it('notices that the connection was lost before the watch began', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const first = new ConnectionWatch(connection);
    await nats.kill();
    await eventually(() => expect(first.isConnected).toBe(false));

    const second = new ConnectionWatch(connection);
    await eventually(() => expect(second.isConnected).toBe(false));

    await nats.restart();
    await eventually(() => expect(second.isConnected).toBe(true));
    await connection.close();
  });

  it('logs the errors that the broker reports, at most one per second, and passes all to the listener', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const onError = jest.fn();
    new ConnectionWatch(connection, { onError });

    const beganAt = performance.now();
    for (let count = 0; count < 10; count += 1) connection.publish('nobody.may', '{}');

    await eventually(() => expect(onError).toHaveBeenCalledTimes(10));
    // On a slow machine, the errors may spread over several seconds.
    expect(error.mock.calls.length).toBeGreaterThan(0);
    expect(error.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - beganAt) / 1_000);
    for (const [logged] of error.mock.calls)
      expect(logged).toMatchObject({ name: 'PermissionViolationError' });
    error.mockRestore();
    await connection.close();
  });

  it('continues after a listener fails', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const watch = new ConnectionWatch(connection, {
      onLost: () => {
        throw new Error('broken listener');
      },
    });
    await nats.kill();
    await eventually(() => expect(watch.isConnected).toBe(false));
    await nats.restart();

    await eventually(() => expect(watch.isConnected).toBe(true));
    expect(error.mock.calls).toEqual([[expect.objectContaining({ message: 'broken listener' })]]);
    error.mockRestore();
    await connection.close();
  });

  it('is not connected from the moment that the connection is being closed', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const watch = new ConnectionWatch(connection);

    const closing = closeNats(connection);

    expect(watch.isConnected).toBe(false);
    await closing;
    expect(watch.isConnected).toBe(false);
  });
});
