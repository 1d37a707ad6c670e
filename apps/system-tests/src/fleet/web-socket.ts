import { connect, type Socket } from 'node:net';
import { FrameReader, opcodes } from './frame-reader.js';

/** How a connection ended. `garbled` means that the received bytes were not valid frames. */
export type Ending =
  | { kind: 'closed'; code: number }
  | { kind: 'refused'; status: number }
  | { kind: 'garbled'; why: string }
  | { kind: 'broken' };

export interface WebSocketTarget {
  port: number;
  path: string;
  firstMessage?: string | undefined;
}

export interface WebSocketListener {
  onOpen?(): void;
  /** The bytes are valid only during the call. */
  onText(bytes: Buffer, start: number, end: number): void;
  /** Called once, after all other handlers. */
  onEnd(ending: Ending): void;
}

// Time limit for a handshake.
const handshakeLimitMs = 10_000;

// All sockets share this buffer: Node handles each socket's bytes before the next socket reads.
const readBuffer = Buffer.allocUnsafe(256 * 1024);

/**
 * A minimal WebSocket client. All clients share a read buffer and pass frames on without a copy. A thousand of them use less CPU than the
 * server.
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
    this.socket.on('error', () => undefined); // the `close` event follows
    this.socket.once('end', () => this.socket.end());
    this.socket.once('close', () => {
      clearTimeout(this.handshakeTimer);
      listener.onEnd(this.ending);
    });
  }

  /** Stops reading until `goOnReading`. */
  stopReading(): void {
    this.socket.pause();
  }

  goOnReading(): void {
    this.socket.resume();
  }

  /** Disconnects without a close frame, as most clients do. */
  close(): void {
    this.socket.destroy();
  }

  private sendHandshake(): void {
    this.socket.write(
      `GET ${this.target.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
  }

  /** Returns whether to keep reading. */
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
    // 1005 means that the frame has no code: https://www.rfc-editor.org/rfc/rfc6455#section-7.1.5
    this.ending = { kind: 'closed', code: payload.length < 2 ? 1005 : payload.readUInt16BE(0) };
    this.send(opcodes.close, payload.subarray(0, 2));
    this.socket.end();
  }

  /** Clients must mask their frames (RFC 6455 §5.3). A mask of zeros leaves the payload unchanged. */
  private send(opcode: number, payload: Buffer): void {
    const { length } = payload;
    const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...size, 0, 0, 0, 0]), payload]));
  }
}
