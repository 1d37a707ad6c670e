/** A server-sent event: the lines before an empty line. */
export interface Block {
  /** The `id` field, if any. */
  id: string | undefined;
  /** The `event` field. Default: `message`. */
  event: string;
  /** The `data` fields, joined by line breaks; undefined if there are none. */
  data: string | undefined;
}

/** Maximum length of a block, in characters. Events are smaller, because a NATS message is at most 1 MiB. */
const maxBlockLength = 4 * 1024 ** 2;

/**
 * Parses server-sent events (HTML standard, "interpreting an event stream") from pieces that can end anywhere.
 *
 * Also returns blocks without data, which EventSource and eventsource-parser drop. The service sends such a block with an `id` to report
 * the client's position while no event matches its filters.
 */
export class BlockParser {
  private rest = '';
  private lines: string[] = [];
  private length = 0;

  /**
   * Parses the next piece. Returns the blocks that it completes.
   *
   * @throws RangeError if a block is longer than `maxBlockLength`
   */
  push(piece: string): Block[] {
    // A carriage return at the end of a piece can be the first half of a CRLF.
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
    // The standard ignores ids that contain a NUL.
    if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  return { id, event: event || 'message', data: data.length > 0 ? data.join('\n') : undefined };
}

/** Splits a line into field and value. A comment, which starts with a colon, has the field ''. */
function parseLine(line: string): [field: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
}
