import { connect, type Socket } from 'node:net';
import { runLoadProcess, type RunningLoad } from '../load/load-process.js';
import { attacks, type Attack, type AttackSize } from './attacks.js';

/** An attack on a port of this machine. */
export interface AttackerOptions extends AttackSize {
  attack: string;
  port: number;
}

/** Counts of the attack's connections. `opened` and `ends` count since the last call. */
export interface AttackerCounts {
  /** Connections that are open now. */
  open: number;
  opened: number;
  /** Responses by status. Connections that were closed without a response count as `closed`. */
  ends: Record<string, number>;
}

// `startLoadProcess` forks this process.

const dripMs = 1_000;
// If attackers reconnected immediately, the test would mostly measure the speed of this process, which shares the machine.
const reopenMs = { min: 5_000, spread: 10_000 };
// Open the connections over this time, so that the operating system’s accept queue drops none.
const startMs = 5_000;

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
    const { drip } = attack;
    this.dripTimer = setInterval(() => {
      if (drip !== undefined) for (const socket of this.sockets) socket.write(drip);
    }, dripMs);
  }

  start(): this {
    const { addresses, perAddress } = this.options;
    for (let index = 0; index < addresses * perAddress; index += 1) {
      const address = index % addresses;
      // Every address in 127.0.0.0/8 is this machine. The signed messages use 127.0.0.1.
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
    // The timer must not keep a stopped process alive.
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
    socket.on('error', () => undefined); // a close follows
    socket.on('close', () => {
      this.sockets.delete(socket);
      const end = status ?? 'closed';
      this.ends[end] = (this.ends[end] ?? 0) + 1;
      if (!this.isStopped) this.openLater(from, reopenMs.min + Math.random() * reopenMs.spread);
    });
  }
}

runLoadProcess((options: AttackerOptions) => new Attacker(options).start());
