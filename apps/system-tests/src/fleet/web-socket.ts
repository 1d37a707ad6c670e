import { connect, type Socket } from 'node:net';
import { FrameReader, opcodes } from './frame-reader.js';

/** How a connection has ended. `garbled`: what came could not be read. */
export type Ending =
  | { kind: 'closed'; code: number }
  | { kind: 'refused'; status: number }
  | { kind: 'garbled'; why: string }
  | { kind: 'broken' };

/** Where to connect, and what to say first. */
export interface WebSocketTarget {
  port: number;
  path: string;
  firstMessage?: string | undefined;
}

/** Who listens. */
export interface WebSocketListener {
  onOpen?(): void;
  /** The bytes are valid during the call only. */
  onText(bytes: Buffer, start: number, end: number): void;
  /** Once, after everything else. */
  onEnd(ending: Ending): void;
}

// As long as an answer of the service may take at most.
const handshakeLimitMs = 10_000;

// One for all sockets of this process: what was read is handled before the next one reads.
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * A WebSocket of a client, bare enough that a thousand of them cost less than the server does: it reads into one buffer,
 * and nothing is made of a frame but what its listener makes.
 */
export class WebSocketClient {
  private readonly socket: Socket;
  private readonly frames: FrameReader;
  private readonly handshakeTimer: NodeJS.Timeout;
  private handshake = '';
  private isOpen = false;
  private ending: Ending = { kind: 'broken' };

  constructor(
    private readonly target: WebSocketTarget,
    private readonly listener: WebSocketListener,
  ) {
    this.frames = new FrameReader({
      onText: (bytes, start, end) => listener.onText(bytes, start, end),
      onControl: (opcode, payload) => this.onControl(opcode, payload),
    });
    const onread = { buffer: readBuffer, callback: (length: number) => this.onBytes(length) };
    this.socket = connect({ host: '127.0.0.1', port: target.port, noDelay: true, onread });
    this.handshakeTimer = setTimeout(() => this.socket.destroy(), handshakeLimitMs);
    this.socket.once('connect', () => this.sendHandshake());
    this.socket.on('error', () => undefined); // `close` follows
    this.socket.once('end', () => this.socket.end());
    this.socket.once('close', () => {
      clearTimeout(this.handshakeTimer);
      listener.onEnd(this.ending);
    });
  }

  /** Takes nothing from the socket until `goOnReading`. */
  stopReading(): void {
    this.socket.pause();
  }

  goOnReading(): void {
    this.socket.resume();
  }

  /** Leaves without a word, as most clients do. */
  close(): void {
    this.socket.destroy();
  }

  private sendHandshake(): void {
    this.socket.write(
      `GET ${this.target.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
  }

  /** Whether to read on. */
  private onBytes(length: number): boolean {
    const bytes = readBuffer.subarray(0, length);
    try {
      if (this.isOpen) this.frames.push(bytes);
      else this.onHandshake(bytes);
    } catch (error) {
      this.ending = { kind: 'garbled', why: String(error) };
      this.socket.destroy();
    }
    return true;
  }

  private onHandshake(bytes: Buffer): void {
    this.handshake += bytes.toString('latin1');
    const end = this.handshake.indexOf('\r\n\r\n');
    if (end < 0) return;
    clearTimeout(this.handshakeTimer);
    const status = Number(this.handshake.slice(9, 12));
    if (status !== 101) {
      this.ending = { kind: 'refused', status };
      this.socket.destroy();
      return;
    }
    this.isOpen = true;
    if (this.target.firstMessage !== undefined)
      this.send(opcodes.text, Buffer.from(this.target.firstMessage));
    this.listener.onOpen?.();
    const rest = Buffer.from(this.handshake.slice(end + 4), 'latin1');
    if (rest.length > 0) this.frames.push(rest);
  }

  private onControl(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.send(opcodes.pong, payload);
    if (opcode !== opcodes.close) return;
    // Without a code: https://www.rfc-editor.org/rfc/rfc6455#section-7.1.5
    this.ending = { kind: 'closed', code: payload.length < 2 ? 1005 : payload.readUInt16BE(0) };
    this.send(opcodes.close, payload.subarray(0, 2));
    this.socket.end();
  }

  /** Masked, as RFC 6455 §5.3 wants it of clients; by zeros, which leave the payload as it is. */
  private send(opcode: number, payload: Buffer): void {
    const { length } = payload;
    const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...size, 0, 0, 0, 0]), payload]));
  }
}
