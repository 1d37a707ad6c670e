/** Receives the frames of a server. The bytes are valid only during the call. */
export interface FrameHandler {
  /** Called with a complete text message, as a range of a buffer. */
  onText(bytes: Buffer, start: number, end: number): void;
  /** Called with a ping, pong, or close frame. */
  onControl(opcode: number, payload: Buffer): void;
}

/** Opcodes of RFC 6455 §5.2. */
export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

// The first byte has FIN set and no extension bit, because the tested servers send every message as one frame.
const textHead = 0x80 | opcodes.text;
const firstControlHead = 0x80 | opcodes.close;

/**
 * Splits the bytes of a WebSocket server into frames at the lowest cost: creates no object and no copy for a frame that arrives in one
 * piece. Throws for a frame that the tested servers never send.
 */
export class FrameReader {
  /** The beginning of an incomplete frame. */
  private rest: Buffer | undefined;

  constructor(private readonly handler: FrameHandler) {}

  /** @throws when the bytes are not server frames, for example when two writers interleave */
  push(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk;
    let start = 0;
    for (let end = endOfFrame(bytes, start); end !== undefined; end = endOfFrame(bytes, start)) {
      this.handle(bytes, start, end);
      start = end;
    }
    // Copy the bytes, because the caller reuses the memory of the chunk.
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

/** Returns the end of the frame that begins at `start`; undefined while the frame is incomplete. */
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
