import type { IncomingMessage } from 'node:http';

/** Whether a request has exactly one Host header. With several, Node uses the first one, but a proxy in front may use another. */
export function hasOneHost({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1;
}
