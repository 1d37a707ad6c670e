/** Who gets what a server sends. The bytes are valid during the call only. */
export interface FrameHandler {
  /** A whole text message: these bytes of a buffer. */
  onText(bytes: Buffer, start: number, end: number): void;
  /** A ping, pong or close frame. */
  onControl(opcode: number, payload: Buffer): void;
}

/** Opcodes of RFC 6455 §5.2. */
export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

// FIN, no extension, and the opcode: servers of trials send every message as one frame.
const textHead = 0x80 | opcodes.text;
const firstControlHead = 0x80 | opcodes.close;

/**
 * Cuts what a WebSocket server sends into frames, at the least cost for each: no object and no copy for a frame that
 * arrives in one piece. What no server of ours may send is an error.
 */
export class FrameReader {
  /** The beginning of a frame whose end has not come yet. */
  private rest: Buffer | undefined;

  constructor(private readonly handler: FrameHandler) {}

  /** @throws when the bytes are no frames of a server, as happens where two writers get in each other's way */
  push(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk;
    let start = 0;
    for (let end = endOfFrame(bytes, start); end !== undefined; end = endOfFrame(bytes, start)) {
      this.handle(bytes, start, end);
      start = end;
    }
    // A copy: the chunk's memory is used again by whoever reads.
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

/** Where the frame ends that begins here; undefined when that has not come yet. */
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
