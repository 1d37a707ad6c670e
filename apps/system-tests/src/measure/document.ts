import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

/** Writes a page of the documentation, formatted like the rest of the repository. */
export async function writeDocument(path: string, markdown: string): Promise<void> {
  await writeFile(path, await format(markdown, { ...(await resolveConfig(path)), parser: 'markdown' }));
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
