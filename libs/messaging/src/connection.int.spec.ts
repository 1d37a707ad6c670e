import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import { connect as connectClient, type NatsConnection } from '@nats-io/transport-node';
import { ingestSubject, natsUsers } from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { connectNats, natsConnectionOptions, superviseConnection } from './connection.js';

describe(connectNats.name, () => {
  let nats: TestNats;
  let open: NatsConnection[];

  beforeEach(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map((connection) => connection.close()));
    await nats.stop();
  });

  const withPassword = (password: string): string => {
    const url = new URL(nats.urlFor('gateway'));
    url.password = password;
    return url.href;
  };

  it('connects with the second password when the server does not know the first one yet', async () => {
    const urls = [withPassword('new-password'), nats.urlFor('gateway')];

    for (const account of [{}, { account: 'EVENTS' as const }])
      await (await connectNats({ urls, name: 'test', ...account })).close();
  });

  it('fails at once when the server rejects both passwords', async () => {
    const urls = [withPassword('wrong'), withPassword('wrong-too')];

    await expect(connectNats({ urls, name: 'test' })).rejects.toThrow(
      /cannot connect to NATS at 127\.0\.0\.1:\d+ as gateway: .*authorization/i,
    );
  });

  it('tries again when the server waited too long for the password', async () => {
    let clients = 0;
    const proxy = await startMuteProxy(nats.urlFor('gateway'), () => (clients += 1) === 1);
    const { port } = proxy.address() as AddressInfo;
    const slow = new URL(nats.urlFor('gateway'));
    slow.port = String(port);

    try {
      open.push(await connectNats({ urls: [slow.href], name: 'test' }));
    } finally {
      proxy.close();
    }

    expect(clients).toBeGreaterThan(1);
  });

  it('refuses a server that is too old, and names both versions', async () => {
    const { hostname, port } = new URL(nats.url);
    // Replaces the version in the greeting of the real server.
    const proxy = createServer((client) => {
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) socket.on('error', () => undefined); // the other end closes, too
      server.on('data', (data) =>
        client.write(data.toString('latin1').replace(/"version":"[^"]+"/, '"version":"2.10.26"'), 'latin1'),
      );
      client.pipe(server);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = new URL(nats.urlFor('gateway'));
    url.port = String((proxy.address() as AddressInfo).port);

    try {
      await expect(connectNats({ urls: [url.href], name: 'test' })).rejects.toThrow(
        `nats-server 2.10.26 at 127.0.0.1:${url.port} is too old: this service needs nats-server 2.11 or newer`,
      );
    } finally {
      proxy.close();
    }
  });

  it('leaves a broker that has stopped reading, although not all data was sent', async () => {
    const pairs: [Socket, Socket][] = [];
    const upstream = Number(new URL(nats.urlFor('gateway')).port);
    const proxy = createServer((client) => {
      const pair: [Socket, Socket] = [client, connect(upstream, '127.0.0.1')];
      for (const socket of pair) socket.on('error', () => undefined); // the other end closes, too
      pair[0].pipe(pair[1]).pipe(pair[0]);
      pairs.push(pair);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = new URL(nats.urlFor('gateway'));
    url.port = String((proxy.address() as AddressInfo).port);
    const options = natsConnectionOptions({ urls: [url.href], name: 'test' });
    const connection = await connectClient({ ...options, pingInterval: 500 });
    open.push(connection);
    superviseConnection(connection);

    for (const [client, server] of pairs) {
      client.unpipe(server).pause();
      server.unpipe(client).pause();
    }
    for (let sent = 0; sent < 32; sent += 1) connection.publish(ingestSubject, new Uint8Array(1_000_000));

    await eventually(async () => {
      expect(pairs.length).toBeGreaterThan(1);
      await connection.rtt();
    });
    proxy.close();
    for (const socket of pairs.flat()) socket.destroy();
  });

  it('connects again after the clock was set back', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    open.push(connection);
    const setBackAt = Date.now() - 3_600_000 - performance.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => setBackAt + performance.now());
    try {
      await nats.kill();
      await nats.restart();

      await eventually(() => connection.flush());
    } finally {
      clock.mockRestore();
    }
  });

  it('changes to the new password when the server is reloaded, and back, and loses no subscription', async () => {
    const old = new URL(nats.urlFor('gateway')).password;
    const urls = [withPassword('new-password'), nats.urlFor('gateway')];
    const connection = await connectNats({ urls, name: 'test' });
    open.push(connection);
    const heard: string[] = [];
    connection.subscribe('live.replay.>', { callback: (_, { subject }) => void heard.push(subject) });

    for (const [round, password] of ['new-password', old, 'new-password'].entries()) {
      await nats.changePasswords({ gateway: password });
      await eventually(async () => {
        const other = await connectNats({ urls: [withPassword(password)], name: 'other' });
        other.publish(`live.replay.${round}`);
        await other.flush();
        await other.close();
        expect(heard).toContain(`live.replay.${round}`);
      });
    }
  });

  it('waits for its password when the server gets a new one first', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    open.push(connection);
    const old = new URL(nats.urlFor('gateway')).password;
    let rejections = 0;
    void (async () => {
      for await (const { type } of connection.status()) rejections += Number(type === 'error');
    })();

    await nats.changePasswords({ gateway: 'new-password' });
    // By default, the client would give up after the second rejection.
    await eventually(() => expect(rejections).toBeGreaterThan(2));
    await nats.changePasswords({ gateway: old });

    await eventually(() => connection.flush());
  });
});

/** Starts a proxy that withholds the data of muted clients, so that the server waits for their password in vain. */
async function startMuteProxy(target: string, isMuted: () => boolean): Promise<Server> {
  const { hostname, port } = new URL(target);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on('error', () => undefined); // the other end closes, too
    server.pipe(client);
    if (isMuted()) client.resume();
    else client.pipe(server);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}
