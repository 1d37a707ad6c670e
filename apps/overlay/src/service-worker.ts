// Lets the page load while the service is down or restarts. Without this worker, OBS would show an error page on air. Browsers allow
// service workers only for pages from the same computer, or over HTTPS.

/** The events of a service worker that this worker uses. The DOM types do not contain them. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends WorkerEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
}

const cacheName = 'overlay';
const page = '/overlay/';
const assets = `${page}assets/`;
const pageLimitMs = 5_000;

addEventListener('install', (event) => (event as WorkerEvent).waitUntil(fetchPage())); // Safe cast: such an event.

addEventListener('fetch', (event) => {
  const fetchEvent = event as FetchEvent; // Safe cast: such an event.
  const { request } = fetchEvent;
  if (request.mode === 'navigate') fetchEvent.respondWith(openPage());
  // Assets never change, because their names contain a hash of their content.
  else if (new URL(request.url).pathname.startsWith(assets)) fetchEvent.respondWith(openAsset(request));
});

/** Returns the page from the service. If the service does not respond, returns the saved page. */
async function openPage(): Promise<Response> {
  try {
    return await fetchPage();
  } catch {
    return (await caches.match(page)) ?? Response.error(); // The browser may have deleted it.
  }
}

async function openAsset(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/** Fetches the page from the service. Saves the page and its assets, and deletes the earlier ones. */
async function fetchPage(): Promise<Response> {
  const limit = new AbortController();
  setTimeout(() => limit.abort(), pageLimitMs);
  const response = await fetch(page, { signal: limit.signal });
  if (!response.ok) throw new Error(`The service responded with ${response.status}`);
  const html = await response.clone().text();
  const paths = [...html.matchAll(/"(\/overlay\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const cache = await caches.open(cacheName);
  const kept = await cache.keys();
  await cache.addAll(paths);
  await cache.put(page, response.clone());
  const old = kept.filter(({ url }) => ![page, ...paths].includes(new URL(url).pathname));
  await Promise.all(old.map((request) => cache.delete(request)));
  return response;
}

export {};
