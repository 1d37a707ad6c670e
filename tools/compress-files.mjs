import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Files below this size stay uncompressed, because compression would save little. */
const minCompressedBytes = 1_024;

/** Writes compressed copies next to a page's files. The gateway sends the copy with an encoding that the browser accepts. */
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
