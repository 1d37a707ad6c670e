/** Receives a server's frames. The bytes are valid only during the call. */
export interface FrameHandler {
  /** Called for each complete text message, with its range in the buffer. */
  onText(bytes: Buffer, start: number, end: number): void;
  /** Called for each ping, pong, and close frame. */
  onControl(opcode: number, payload: Buffer): void;
}

/** Opcodes of RFC 6455 §5.2. */
export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

// FIN is set and no extension bit: the tested servers send every message as one frame.
const textHead = 0x80 | opcodes.text;
const firstControlHead = 0x80 | opcodes.close;

/**
 * Splits a WebSocket server's bytes into frames. A text frame that arrives in one piece costs no object and no copy. Throws for frames that
 * the tested servers never send.
 */
export class FrameReader {
  /** Start of an incomplete frame. */
  private rest: Buffer | undefined;

  constructor(private readonly handler: FrameHandler) {}

  /** @throws Error if the bytes are not server frames, for example because two writers interleave */
  push(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk;
    let start = 0;
    for (let end = endOfFrame(bytes, start); end !== undefined; end = endOfFrame(bytes, start)) {
      this.handle(bytes, start, end);
      start = end;
    }
    // Copy: the caller reuses the chunk's memory.
    this.rest = start < bytes.length ? Buffer.from(bytes.subarray(start)) : undefined;
  }

  private handle(bytes: Buffer, start: number, end: number): void {
    const head = bytes[start] ?? 0;
    const payload = start + headLength(bytes[start + 1] ?? 0);
    if (head === textHead) this.handler.onText(bytes, payload, end);
    else if (head >= firstControlHead) this.handler.onControl(head & 0x0f, bytes.subarray(payload, end));
    else throw new Error(`a frame begins with the byte 0x${head.toString(16)}`);
  }
}

/** End of the frame that begins at `start`. Undefined while the frame is incomplete. */
function endOfFrame(bytes: Buffer, start: number): number | undefined {
  const length = bytes[start + 1];
  if (length === undefined) return undefined;
  if (length > 127) throw new Error('a frame of the server is masked');
  const head = headLength(length);
  if (start + head > bytes.length) return undefined;
  const end = start + head + payloadLength(bytes, start, length);
  return end > bytes.length ? undefined : end;
}

function headLength(length: number): number {
  if (length < 126) return 2;
  return length === 126 ? 4 : 10;
}

function payloadLength(bytes: Buffer, start: number, length: number): number {
  if (length < 126) return length;
  return length === 126 ? bytes.readUInt16BE(start + 2) : Number(bytes.readBigUInt64BE(start + 2));
}
