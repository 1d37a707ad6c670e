import { connect, type Socket } from 'node:net';
import { runLoadProcess, type RunningLoad } from '../load/load-process.js';
import { memberAttacks, type MemberAction } from './members.js';

export interface MemberOptions {
  attack: string;
  port: number;
  token: string;
  /** Start of the EVENTS stream. */
  position: string;
}

/** Responses since the last call, by action and status. A connection closed without a response counts as `broken`. */
export type MemberCounts = Record<string, Record<string, number>>;

// `startLoadProcess` forks this module.

const endOfHead = '\r\n\r\n';
// Open the connections over 1 s, so that the operating system's accept queue does not overflow.
const startMs = 1_000;
// The member's own address, because all other clients use 127.0.0.1.
const address = '127.2.0.1';

class Member implements RunningLoad<MemberCounts> {
  private readonly sockets = new Set<Socket>();
  private counts: MemberCounts = {};
  private isStopped = false;

  constructor(private readonly options: MemberOptions) {}

  start(): this {
    const attack = memberAttacks.find(({ name }) => name === this.options.attack);
    for (const action of attack?.actions ?? [])
      for (let index = 0; index < action.connections; index += 1)
        setTimeout(() => this.open(action), Math.random() * startMs);
    return this;
  }

  stop(): void {
    this.isStopped = true;
    for (const socket of this.sockets) socket.destroy();
  }

  takeCounts(): MemberCounts {
    const { counts } = this;
    this.counts = {};
    return counts;
  }

  private open(action: MemberAction): void {
    if (this.isStopped) return;
    const socket = connect({
      port: this.options.port,
      host: '127.0.0.1',
      localAddress: address,
      noDelay: true,
    });
    // Add the socket before it has connected, so that `stop` also closes sockets in their handshake.
    this.sockets.add(socket);
    const text = action.make(this.options);
    const responses = new Responses();
    let status: string | undefined;
    socket.on('connect', () => {
      socket.write(text, 'latin1');
      if (action.streamMs !== undefined) setTimeout(() => socket.destroy(), action.streamMs).unref();
    });
    socket.on('data', (chunk) => {
      if (action.isStream) {
        if (status !== undefined) return;
        status = chunk.toString('latin1', 9, 12);
        this.count(action, status);
        // The gateway keeps the connection open after a refusal. Close it here.
        if (status !== '200') socket.destroy();
        return;
      }
      for (status of responses.add(chunk)) {
        this.count(action, status);
        socket.write(text, 'latin1');
      }
    });
    socket.on('error', () => undefined); // the `close` event follows
    socket.on('close', () => {
      this.sockets.delete(socket);
      if (status === undefined) this.count(action, 'broken');
      setTimeout(() => this.open(action), status === '200' ? 0 : (action.restMs ?? 0)).unref();
    });
  }

  private count({ name }: MemberAction, status: string): void {
    const byStatus = (this.counts[name] ??= {});
    byStatus[status] = (byStatus[status] ?? 0) + 1;
  }
}

/** Counts responses and skips their bodies, so that the attacking process uses little CPU. */
class Responses {
  private head = '';
  private status = '';
  private bodyBytes = 0;

  /** Yields the status of each response that ends in `chunk`. */
  *add(chunk: Buffer): Generator<string> {
    let rest = chunk;
    while (rest.length > 0) {
      const skipped = Math.min(this.bodyBytes, rest.length);
      this.bodyBytes -= skipped;
      rest = rest.subarray(skipped);
      if (this.status !== '' && this.bodyBytes === 0) {
        yield this.status;
        this.status = '';
      }
      if (rest.length === 0) return;
      this.head += rest.toString('latin1');
      const end = this.head.indexOf(endOfHead);
      if (end < 0) return;
      const bytesOfHead = end + endOfHead.length - (this.head.length - rest.length);
      this.status = this.head.slice(9, 12);
      this.bodyBytes = Number(/\r\ncontent-length: *(\d+)/i.exec(this.head.slice(0, end + 2))?.[1] ?? 0);
      this.head = '';
      rest = rest.subarray(bytesOfHead);
      if (this.bodyBytes === 0) {
        yield this.status;
        this.status = '';
      }
    }
  }
}

runLoadProcess((options: MemberOptions) => new Member(options).start());
