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

  it('is not connected from the moment that the connection is being closed', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    const watch = new ConnectionWatch(connection);

    const closing = closeNats(connection);

    expect(watch.isConnected).toBe(false);
    await closing;
    expect(watch.isConnected).toBe(false);
  });
});
