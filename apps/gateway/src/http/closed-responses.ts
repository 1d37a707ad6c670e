import type { ServerResponse } from 'node:http';

/** In metrics and traces, the status of a request whose client disconnected before the response began. nginx logs the same number. */
export const clientDisconnected = 499;

/** Calls back with the response status once the response has been sent or its client has disconnected. */
export function whenClosed(response: ServerResponse, onClosed: (status: number) => void): void {
  response.once('close', () => onClosed(response.headersSent ? response.statusCode : clientDisconnected));
}
