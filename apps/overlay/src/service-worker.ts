// Lets the page load while the service is away or restarts. Without it, OBS would show an error page on air. Runs only where browsers
// allow service workers: on this computer, and over HTTPS.

/** The events of a service worker, as far as this one uses them. The types of the DOM have none of them. */
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
  // Their names contain a hash of their content.
  else if (new URL(request.url).pathname.startsWith(assets)) fetchEvent.respondWith(openAsset(request));
});

/** Returns the page of the service, otherwise the one that was kept. */
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

/** Gets the page from the service, and keeps it with its assets instead of the earlier ones. */
async function fetchPage(): Promise<Response> {
  const limit = new AbortController();
  setTimeout(() => limit.abort(), pageLimitMs);
  const response = await fetch(page, { signal: limit.signal });
  if (!response.ok) throw new Error(`The service responds with ${response.status}`);
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
