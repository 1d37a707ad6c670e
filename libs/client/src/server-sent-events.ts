/** A block of server-sent events: the lines before an empty line. */
export interface Block {
  /** The `id` field; undefined if the block has none. */
  id: string | undefined;
  /** The `event` field; `message` if the block has none. */
  event: string;
  /** The `data` fields, joined by line breaks; undefined if the block has none. */
  data: string | undefined;
}

/** The longest accepted block, in characters. An event fits in a NATS message, which is at most 1 MiB. */
const maxBlockLength = 4 * 1024 ** 2;

/**
 * Parses server-sent events (HTML standard, "interpreting an event stream") from pieces that may end anywhere.
 *
 * Also returns blocks without data, which EventSource and eventsource-parser drop: the service sends an `id` alone to report
 * the client's position while no event passes its filters.
 */
export class BlockParser {
  private rest = '';
  private lines: string[] = [];
  private length = 0;

  /**
   * Parses the next piece and returns the blocks that end in it.
   *
   * @throws RangeError if a block is longer than any event can be
   */
  push(piece: string): Block[] {
    // A carriage return at the end of a piece may be the first half of a CRLF.
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    const blocks: Block[] = [];
    for (const line of lines) {
      if (line !== '') this.keep(line);
      else if (this.lines.length > 0) blocks.push(this.takeBlock());
    }
    this.refuseLong(this.length + this.rest.length);
    return blocks;
  }

  private keep(line: string): void {
    this.length += line.length;
    this.refuseLong(this.length);
    this.lines.push(line);
  }

  private takeBlock(): Block {
    const block = parseBlock(this.lines);
    this.lines = [];
    this.length = 0;
    return block;
  }

  private refuseLong(length: number): void {
    if (length > maxBlockLength)
      throw new RangeError(`The event stream sent a block of more than ${maxBlockLength} characters`);
  }
}

function parseBlock(lines: readonly string[]): Block {
  let id: string | undefined;
  let event = '';
  const data: string[] = [];
  for (const line of lines) {
    const [field, value] = parseLine(line);
    // The standard ignores an id that contains a NUL.
    if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  return { id, event: event || 'message', data: data.length > 0 ? data.join('\n') : undefined };
}

/** Splits a line into field and value. For a comment, which begins with a colon, the field is ''. */
function parseLine(line: string): [field: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
}
