import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createEmptyDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectDatabase } from './connect-database.js';
import { isUnavailableError } from './database-error.js';

/** A network between a service and its database that can make connections go silent. */
class Network {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(database: URL) {
    this.server = createServer((client) => {
      const upstream = connect(Number(database.port), database.hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
    });
  }

  static async before(database: URL): Promise<Network> {
    const network = new Network(database);
    await new Promise<void>((resolve) => network.server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Makes the current connections drop all traffic without closing, as when a host loses power. New connections still work. */
  loseConnections(): void {
    for (const socket of this.sockets) socket.unpipe();
    for (const socket of this.sockets) socket.resume();
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

describe('a database that becomes unreachable without closing its connections', () => {
  let database: TestDatabase;
  let network: Network;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase(['shop']);
    network = await Network.before(new URL(database.urlFor('shop')));
    const url = new URL(database.urlFor('shop'));
    url.port = String(network.port);
    dataSource = await connectDatabase({
      url: url.href,
      schema: 'shop',
      applicationName: 'shop-test',
      entities: [],
      migrations: [],
      poolSize: 1,
      statementTimeoutMs: 1_000,
    });
  });

  afterAll(async () => {
    await dataSource.destroy();
    network.close();
    await database.drop();
  });

  it('fails the query that waits, and the next query uses another connection', async () => {
    await eventually(() => dataSource.query('SELECT 1')); // retried, because these time limits are short for a busy machine
    network.loseConnections();

    const failure: unknown = await dataSource.query('SELECT 1').catch((error: unknown) => error);

    expect(isUnavailableError(failure)).toBe(true);
    expect(await eventually(() => dataSource.query('SELECT 2 AS two'))).toEqual([{ two: 2 }]);
  });
});
