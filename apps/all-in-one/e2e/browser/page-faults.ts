import type { Page } from 'playwright-core';

/** Collects errors of a page's scripts, violations of its security policy, and requests to hosts other than the given one. */
export function collectFaults(page: Page, url: string): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // A failed request is not a fault of the page, which must show the failure.
    const isFailedRequest = /Failed to load resource|WebSocket connection to/.test(message.text());
    if (message.type() === 'error' && !isFailedRequest) faults.push(message.text());
  });
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) faults.push(`request to ${host}`);
  });
  return faults;
}
