/** Matches a string, punctuation, or another value of a JSON text. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Characters that are invisible or change the direction of the text. JSON can contain them as escapes. */
const hidden = /\p{Cf}/gu;

/** Indents a JSON text. Keeps numbers and escapes unchanged. Parsing and printing the text would round large numbers. */
export function indentJson(text: string): string {
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  const breakLine = (): void => {
    lines.push(line);
    line = '  '.repeat(depth);
  };
  const all = text.match(tokens) ?? [];
  for (const [index, token] of all.entries()) {
    const next = all[index + 1];
    if (token === '{' || token === '[') {
      line += token;
      depth += 1;
      // Empty objects and lists stay on one line.
      if (next !== '}' && next !== ']') breakLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      const previous = all[index - 1];
      if (previous !== '{' && previous !== '[') breakLine();
      line += token;
    } else if (token === ',') {
      line += token;
      breakLine();
    } else line += token === ':' ? ': ' : token;
  }
  return [...lines, line].join('\n').replace(hidden, escape);
}

function escape(characters: string): string {
  return Array.from({ length: characters.length }, (_, index) => {
    const code = characters.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${code}`;
  }).join('');
}
