const newline = 0x0a;

/**
 * Parses rows in the text format of COPY. NULL becomes null. Only handles escaped tabs, line breaks, and backslashes: ids and secrets
 * contain nothing else that COPY escapes.
 */
export async function* readRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<(string | null)[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      yield bytes.toString('utf8', from, end).split('\t').map(parseValue);
      from = end + 1;
    }
    rest = bytes.subarray(from);
  }
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

function parseValue(text: string): string | null {
  if (text === String.raw`\N`) return null;
  return text.replaceAll(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
}
