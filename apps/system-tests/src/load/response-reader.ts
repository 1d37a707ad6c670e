export interface HttpResponse {
  status: number;
  body: Buffer;
}

const endOfHead = Buffer.from('\r\n\r\n');
const statusesWithoutBody = [204, 304];

/** Assembles one response from a socket's chunks. */
export class ResponseReader {
  private received: Buffer = Buffer.alloc(0);
  private chunks: Buffer[] = [];
  private head: { status: number; bytes: number; length: number } | undefined;
  private size = 0;

  /**
   * Returns the response once it is complete.
   *
   * @throws Error if Content-Length is missing; the service's own routes always send it
   */
  add(chunk: Buffer): HttpResponse | undefined {
    this.chunks.push(chunk);
    this.size += chunk.length;
    this.head ??= this.readHead();
    if (!this.head || this.size < this.head.bytes + this.head.length) return undefined;
    const { status, bytes, length } = this.head;
    return { status, body: this.join().subarray(bytes, bytes + length) };
  }

  private readHead(): ResponseReader['head'] {
    const received = this.join();
    const end = received.indexOf(endOfHead);
    if (end < 0) return undefined;
    const text = received.toString('latin1', 0, end);
    const status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (length === undefined && !statusesWithoutBody.includes(status))
      throw new Error(`cannot read a response without Content-Length: ${text}`);
    return { status, bytes: end + endOfHead.length, length: Number(length ?? 0) };
  }

  private join(): Buffer {
    this.received = this.chunks.length === 1 ? (this.chunks[0] ?? this.received) : Buffer.concat(this.chunks);
    this.chunks = [this.received];
    return this.received;
  }
}
