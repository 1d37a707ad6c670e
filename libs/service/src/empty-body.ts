import type { IncomingMessage } from 'node:http';

const formType = 'application/x-www-form-urlencoded';

/**
 * Removes the content type of a request without a body, because an empty body has no type. Some HTTP clients, such as Python's aiohttp, send
 * `application/octet-stream` with every POST, which a server would refuse. An empty form stays a form without fields.
 */
export function dropTypeOfEmptyBody({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isEmpty && !headers['content-type']?.startsWith(formType)) delete headers['content-type'];
}
