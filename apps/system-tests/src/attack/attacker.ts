import { connect, type Socket } from 'node:net';
import { runLoadProcess, type RunningLoad } from '../load/load-process.js';
import { ResponseReader } from '../load/response-reader.js';
import { attacks, type Action, type Member } from './attacks.js';

/** Which attack to run, from how many addresses, and on which port of this machine. */
export interface AttackerOptions {
  attack: string;
  addresses: number;
  port: number;
  member: Member;
}

/** `responses` counts since the last call. */
export interface AttackerCounts {
  open: number;
  /** For each action, the responses by status. A connection that ended without a response counts as `closed`. */
  responses: Record<string, Record<string, number>>;
}

// `startLoadProcess` forks this module.

const defaultDripMs = 1_000;
// Open all connections over 5 s at most, so that the operating system's accept queue does not overflow.
const startMsPerConnection = 1;
// Above this, a connection skips its turn: the gateway does not read, and the attacker's own memory must not grow.
const maxUnsentBytes = 1024 ** 2;

class Attacker implements RunningLoad<AttackerCounts> {
  private readonly sockets = new Set<Socket>();
  private responses: AttackerCounts['responses'] = {};
  private isStopped = false;

  constructor(private readonly options: AttackerOptions) {}

  start(): this {
    const attack = attacks.find(({ name }) => name === this.options.attack);
    if (!attack) throw new Error(`unknown attack ${this.options.attack}`);
    for (const action of attack.actions)
      for (let index = 0; index < action.connections; index += 1) {
        const address = index % this.options.addresses;
        // All of 127.0.0.0/8 is this machine. 127.0.0.1 belongs to the other clients.
        const from = `127.1.${Math.floor(address / 250)}.${(address % 250) + 1}`;
        this.openLater(action, from, Math.random() * action.connections * startMsPerConnection);
      }
    return this;
  }

  stop(): void {
    this.isStopped = true;
    for (const socket of this.sockets) socket.destroy();
  }

  takeCounts(): AttackerCounts {
    const { responses } = this;
    this.responses = {};
    return { open: [...this.sockets].filter(({ connecting }) => !connecting).length, responses };
  }

  private openLater(action: Action, from: string, delayMs: number): void {
    // unref: a stopped process must be able to exit.
    setTimeout(() => this.open(action, from), delayMs).unref();
  }

  private open(action: Action, from: string): void {
    if (this.isStopped) return;
    const { port, member } = this.options;
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    // Add the socket before it has connected, so that `stop` also closes sockets in their handshake.
    this.sockets.add(socket);
    let status: string | undefined;
    let dripping: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      socket.write(action.begin(member), 'latin1');
      const { drip, dripMs = defaultDripMs, lifeMs } = action;
      if (drip !== undefined)
        dripping = setInterval(() => {
          if (socket.writableLength < maxUnsentBytes) socket.write(drip, 'latin1');
        }, dripMs);
      if (lifeMs !== undefined) setTimeout(() => socket.destroy(), lifeMs).unref();
    });
    let reader = new ResponseReader();
    if (action.isUnread) socket.pause();
    else
      socket.on('data', (chunk) => {
        if (action.isRepeated) {
          const response = reader.add(chunk);
          if (!response) return;
          reader = new ResponseReader();
          status = String(response.status);
          this.count(action, status);
          socket.write(action.begin(member), 'latin1');
        } else if (status === undefined) {
          status = chunk.toString('latin1', 9, 12);
          this.count(action, status);
          if (action.isStream && status !== '200') socket.destroy();
        }
      });
    socket.on('error', () => undefined); // the `close` event follows
    socket.on('close', () => {
      clearInterval(dripping);
      this.sockets.delete(socket);
      if (status === undefined && !this.isStopped) this.count(action, 'closed');
      const { min, spread } = action.reopenMs;
      // A stream that had begun resumes at once.
      this.openLater(action, from, action.isStream && status === '200' ? 0 : min + Math.random() * spread);
    });
  }

  private count({ name }: Action, status: string): void {
    const byStatus = (this.responses[name] ??= {});
    byStatus[status] = (byStatus[status] ?? 0) + 1;
  }
}

runLoadProcess((options: AttackerOptions) => new Attacker(options).start());
