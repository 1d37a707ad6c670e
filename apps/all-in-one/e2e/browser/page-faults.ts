import type { Page } from 'playwright-core';

/** Collects script errors, violations of the content security policy, and requests to hosts other than that of `url`. */
export function collectFaults(page: Page, url: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // Tests cause failed requests on purpose, and the browser logs each one. Ignore these log entries.
    const isFailedRequest = /Failed to load resource|WebSocket connection to/.test(message.text());
    if (message.type() === 'error' && !isFailedRequest) faults.push(message.text());
  });
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) faults.push(`request to ${host}`);
  });
  return faults;
}
