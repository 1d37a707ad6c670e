import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  choosePasswords,
  findNatsServer,
  startEmbeddedNats,
  type EmbeddedNats,
  type NatsUser,
} from '@stream-events/embedded';
import { CuttableProxy } from './cuttable-proxy.js';
import { freePort } from './free-port.js';

/** One of the three nats-servers of a cluster. */
export interface NatsMember {
  readonly name: string;
  readonly pid: number;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts the member again with the same ports and data. */
  start(): Promise<void>;
  /** Cuts the member off from the other members; clients still reach it. The proxies keep the data between the members until `join`. */
  isolate(): void;
  /** Reconnects the member after `isolate`. */
  join(): Promise<void>;
}

/** Options of `NatsCluster.start`. */
export interface NatsClusterSetup {
  /** Data directory of the streams. The caller removes it. */
  directory: string;
  users: readonly NatsUser[];
  binary?: string;
}

// An address where nothing listens. Members advertise it, so that they reach each other only through the proxies in their routes.
const nowhere = '127.0.0.1:1';

/**
 * Three nats-servers on this machine. Each member connects to each other member through its own proxy.
 *
 * ```
 *            ┌──▶ proxy ──▶ nats-2 …
 *  nats-1 ───┤
 *            └──▶ proxy ──▶ nats-3 …
 * ```
 */
export class NatsCluster {
  private constructor(
    readonly members: readonly NatsMember[],
    private readonly urlsOf: (userName: string) => string[],
    private readonly proxies: readonly CuttableProxy[],
  ) {}

  static async start(setup: NatsClusterSetup): Promise<NatsCluster> {
    const names = ['nats-1', 'nats-2', 'nats-3'];
    const users = choosePasswords(setup.users);
    const binary =
      setup.binary ?? (await findNatsServer({ cacheDirectory: setup.directory, log: () => undefined }));
    const clusterPorts = await choosePorts(names);
    const clientPorts = await choosePorts(names);
    const links: Link[] = [];
    for (const from of names)
      for (const to of names)
        if (from !== to)
          links.push({
            from,
            to,
            proxy: await CuttableProxy.start(`nats://127.0.0.1:${clusterPorts.get(to)}`),
          });
    const startMember = async (name: string): Promise<EmbeddedNats> => {
      const directory = join(setup.directory, name);
      await mkdir(directory, { recursive: true });
      const routes = links
        .filter(({ from }) => from === name)
        .map(({ proxy }) => proxy.urlOf('nats://127.0.0.1'));
      const cluster = { name: 'test', port: clusterPorts.get(name) ?? 0, routes, advertise: nowhere };
      const port = clientPorts.get(name) ?? 0;
      return startEmbeddedNats({
        directory,
        port,
        users,
        binary,
        member: { serverName: name, cluster },
        log: () => undefined,
      });
    };
    const servers = new Map<string, EmbeddedNats>();
    for (const name of names) servers.set(name, await startMember(name));
    const members = names.map((name) =>
      toMember(name, {
        servers,
        start: () => startMember(name),
        proxies: links.filter(({ from, to }) => from === name || to === name).map(({ proxy }) => proxy),
      }),
    );
    const urlsOf = (userName: string): string[] =>
      names.map((name) => existing(servers.get(name)).urlFor(userName));
    return new NatsCluster(
      members,
      urlsOf,
      links.map(({ proxy }) => proxy),
    );
  }

  /** The URLs of all members for one user. Join them with commas for `NATS_URL`. */
  urlsFor(userName: string): string[] {
    return this.urlsOf(userName);
  }

  /** Stops the members and keeps their data. */
  async stop(): Promise<void> {
    for (const proxy of this.proxies) await proxy.heal();
    await Promise.all(this.members.map((member) => member.stop()));
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }
}

interface Link {
  from: string;
  to: string;
  proxy: CuttableProxy;
}

interface MemberParts {
  servers: Map<string, EmbeddedNats>;
  start: () => Promise<EmbeddedNats>;
  proxies: readonly CuttableProxy[];
}

function toMember(name: string, { servers, start, proxies }: MemberParts): NatsMember {
  const server = (): EmbeddedNats => existing(servers.get(name));
  return {
    name,
    get pid() {
      return server().pid;
    },
    kill: () => server().kill(),
    stop: () => server().stop(),
    start: async () => {
      servers.set(name, await start());
    },
    isolate: () => {
      for (const proxy of proxies) proxy.hang();
    },
    join: async () => {
      for (const proxy of proxies) await proxy.heal();
    },
  };
}

async function choosePorts(names: readonly string[]): Promise<Map<string, number>> {
  const ports = new Map<string, number>();
  for (const name of names) ports.set(name, await freePort());
  return ports;
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no such member');
  return value;
}
