import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from './nats-server.js';

// On a busy machine, JetStream operations take longer than the default of 5 s.
const patiently = { timeout: 20_000 };

let nats: TestNats;
beforeEach(async () => {
  nats = await startTestNats([{ name: 'admin', publish: ['>'], subscribe: ['>'] }]);
});
afterEach(() => nats.stop());

function connectAsAdmin(): Promise<NatsConnection> {
  const { username, password, host } = new URL(nats.urlFor('admin'));
  return connect({ servers: host, user: username, pass: password, reconnectTimeWait: 20 });
}

describe(startTestNats.name, () => {
  it('throws for an unknown user', () => {
    expect(() => nats.urlFor('nobody')).toThrow('"nobody"');
  });

  it.each(['kill', 'restart'] as const)(
    'keeps port, passwords and streams over a %s',
    async (interruption) => {
      const connection = await connectAsAdmin();
      const manager = await jetstreamManager(connection, patiently);
      await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] });
      await jetstream(connection, patiently).publish('kept.one', 'x');

      if (interruption === 'kill') await nats.kill();
      await nats.restart();

      const after = await connectAsAdmin();
      const info = await (await jetstreamManager(after, patiently)).streams.info('KEPT');
      expect(info.state.messages).toBe(1);
      await Promise.all([connection.close(), after.close()]);
    },
  );
});
