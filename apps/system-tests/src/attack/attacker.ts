import { connect, type Socket } from 'node:net';
import { runLoadProcess, type RunningLoad } from '../load/load-process.js';
import { attacks, type Attack, type AttackSize } from './attacks.js';

/** Which attack to run, and on which port of this machine. */
export interface AttackerOptions extends AttackSize {
  attack: string;
  port: number;
}

/** `opened` and `ends` count since the last call. */
export interface AttackerCounts {
  open: number;
  opened: number;
  /** Responses by status. A connection closed without a response counts as `closed`. */
  ends: Record<string, number>;
}

// `startLoadProcess` forks this module.

const dripMs = 1_000;
// Pause before an attacker reconnects. With immediate reconnects, the attackers would take most of the shared CPU from the gateway.
const reopenMs = { min: 5_000, spread: 10_000 };
// Open the connections over 5 s, so that the operating system's accept queue does not overflow.
const startMs = 5_000;
// Above this, a connection skips its turn: the gateway does not read, and the attacker's own memory must not grow.
const maxUnsentBytes = 1024 ** 2;

class Attacker implements RunningLoad<AttackerCounts> {
  private readonly sockets = new Set<Socket>();
  private readonly dripTimer: NodeJS.Timeout;
  private readonly attack: Attack;
  private opened = 0;
  private ends: Record<string, number> = {};
  private isStopped = false;

  constructor(private readonly options: AttackerOptions) {
    const attack = attacks.find(({ name }) => name === options.attack);
    if (!attack) throw new Error(`unknown attack ${options.attack}`);
    this.attack = attack;
    const { drip, flood } = attack;
    this.dripTimer = setInterval(() => {
      if (drip === undefined) return;
      for (const socket of this.sockets)
        if (socket.writableLength < maxUnsentBytes) socket.write(drip, 'latin1');
    }, flood?.dripMs ?? dripMs);
  }

  start(): this {
    const { addresses, perAddress } = this.options;
    for (let index = 0; index < addresses * perAddress; index += 1) {
      const address = index % addresses;
      // All of 127.0.0.0/8 is this machine. 127.0.0.1 belongs to the sender of signed messages.
      const from = `127.1.${Math.floor(address / 250)}.${(address % 250) + 1}`;
      this.openLater(from, Math.random() * startMs);
    }
    return this;
  }

  stop(): void {
    this.isStopped = true;
    clearInterval(this.dripTimer);
    for (const socket of this.sockets) socket.destroy();
  }

  takeCounts(): AttackerCounts {
    const { opened, ends } = this;
    this.opened = 0;
    this.ends = {};
    return { open: this.sockets.size, opened, ends };
  }

  private openLater(from: string, delayMs: number): void {
    const timer = setTimeout(() => this.open(from), delayMs);
    // unref: a stopped process must be able to exit.
    timer.unref();
  }

  private open(from: string): void {
    if (this.isStopped) return;
    const { begin, isUnread = false } = this.attack;
    const socket = connect({ port: this.options.port, host: '127.0.0.1', localAddress: from });
    let status: string | undefined;
    socket.on('connect', () => {
      this.opened += 1;
      this.sockets.add(socket);
      socket.write(begin(), 'latin1');
    });
    if (isUnread) socket.pause();
    else socket.on('data', (chunk) => (status ??= chunk.toString('latin1', 9, 12)));
    socket.on('error', () => undefined); // the `close` event follows
    socket.on('close', () => {
      this.sockets.delete(socket);
      const end = status ?? 'closed';
      this.ends[end] = (this.ends[end] ?? 0) + 1;
      const pauseMs = this.attack.flood?.reopenMs ?? reopenMs.min + Math.random() * reopenMs.spread;
      if (!this.isStopped) this.openLater(from, pauseMs);
    });
  }
}

runLoadProcess((options: AttackerOptions) => new Attacker(options).start());
