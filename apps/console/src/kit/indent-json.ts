/** Matches a string, a punctuation character, or another JSON value. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Characters that are invisible or change the text direction. The output shows them as escapes. */
const hidden = /\p{Cf}/gu;

/** Indents JSON without changing numbers and escapes. `JSON.parse` would round large numbers. */
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
      // Keep empty objects and arrays on one line.
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
