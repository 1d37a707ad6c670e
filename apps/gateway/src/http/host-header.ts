import type { IncomingMessage } from 'node:http';

/** Whether a request has exactly one Host header. If a request has several, Node keeps only the first, but a proxy may use another. */
export function hasOneHost({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1;
}
