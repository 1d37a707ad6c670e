import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Below this size, compression saves nothing. */
const minCompressedBytes = 1_024;

/** Writes the compressed forms of the files of a page beside them. The gateway sends the form that the browser accepts. */
export function compressFiles(directory) {
  const paths = readdirSync(directory, { recursive: true }).filter((path) =>
    /\.(html|js|css|svg)$/.test(path),
  );
  for (const path of paths) {
    const bytes = readFileSync(directory + path);
    if (bytes.length < minCompressedBytes) continue;
    writeFileSync(`${directory}${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${directory}${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}
