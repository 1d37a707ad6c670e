/** A block of server-sent events: what stands before an empty line. */
export interface Block {
  /** Its `id`; undefined when it has none. */
  id: string | undefined;
  /** Its `event`; `message` when it has none. */
  event: string;
  /** Its `data`, several lines of it joined; undefined when it has none. */
  data: string | undefined;
}

/** The longest block that is taken, in characters. An event is at most a NATS message, which is 1 MiB. */
const maxBlockLength = 4 * 1024 ** 2;

/**
 * Reads server-sent events (HTML standard, "interpreting an event stream") from pieces that may end anywhere.
 *
 * Blocks without data are told of as well. EventSource and eventsource-parser keep them to themselves, but an `id` alone is
 * how the service says how far a client is to which no event has come for long.
 */
export class BlockParser {
  private rest = '';
  private lines: string[] = [];
  private length = 0;

  /**
   * Takes the next piece, and returns the blocks that end in it.
   *
   * @throws RangeError when a block is longer than any event can be
   */
  push(piece: string): Block[] {
    // A carriage return at the end may be half of a line break.
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
      throw new RangeError(`A block of the stream is longer than ${maxBlockLength} characters`);
  }
}

function parseBlock(lines: readonly string[]): Block {
  let id: string | undefined;
  let event = '';
  const data: string[] = [];
  for (const line of lines) {
    const [field, value] = parseLine(line);
    // The standard has an id with a NUL ignored.
    if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  return { id, event: event || 'message', data: data.length > 0 ? data.join('\n') : undefined };
}

/** The field and the value of a line; a comment, which begins with the colon, is of the field ''. */
function parseLine(line: string): [field: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
}
