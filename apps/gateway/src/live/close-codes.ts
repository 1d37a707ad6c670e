/**
 * Why the service ends a live connection. `code` is the WebSocket close code; server-sent events carry it in `event: closed`. Codes from
 * 4000 on are defined here: RFC 6455 §7.4.2 reserves 4000 to 4999 for private use.
 */
export const closeCodes = {
  shutting_down: { code: 1012, text: 'the service is restarting: reconnect' },
  overloaded: { code: 1013, text: 'too many connections, or a part of the service is down: try again later' },
  invalid: { code: 4400, text: 'the request is not valid, or the client sends too many messages' },
  unauthenticated: { code: 4401, text: 'no valid token' },
  forbidden: { code: 4403, text: 'the token does not have the scope events:live' },
  too_slow: { code: 4408, text: 'you read too slowly: reconnect with your last position' },
  too_many: { code: 4429, text: 'this user has too many connections' },
} as const;
export type CloseReason = keyof typeof closeCodes;

/** Formats the close codes as a Markdown list for the API description. */
export function printCloseCodes(): string {
  return Object.values(closeCodes)
    .map(({ code, text }) => `- \`${code}\`: ${text}`)
    .join('\n');
}
