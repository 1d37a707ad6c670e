import type { IncomingMessage } from 'node:http';

type Request = Pick<IncomingMessage, 'headers'>;

const formType = 'application/x-www-form-urlencoded';

/** Whether a request announces a body that is not empty. */
export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Removes the content type of a request without a body, because an empty body has no type. Some HTTP clients, such as Python's aiohttp, send
 * `application/octet-stream` with every POST, which a server would refuse. An empty form stays a form without fields.
 */
export function dropTypeOfEmptyBody(request: Request): void {
  const { headers } = request;
  if (!hasBody(request) && !headers['content-type']?.startsWith(formType)) delete headers['content-type'];
}
