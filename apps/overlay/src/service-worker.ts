// Lets the page load while the service is down. Without this worker, OBS would show an error page on air. Browsers allow service workers
// only over HTTPS or from the same computer.

/** The service worker events used here. The DOM types do not include them. */
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

addEventListener('install', (event) => (event as WorkerEvent).waitUntil(fetchPage())); // Safe cast: `install` dispatches this event.

addEventListener('fetch', (event) => {
  const fetchEvent = event as FetchEvent; // Safe cast: `fetch` dispatches this event.
  const { request } = fetchEvent;
  if (request.mode === 'navigate') fetchEvent.respondWith(openPage());
  // Assets never change: their names contain a hash of their content.
  else if (new URL(request.url).pathname.startsWith(assets)) fetchEvent.respondWith(openAsset(request));
});

/** Returns the service's page. Returns the saved page if the service responds with an error, or not within 5 s. */
async function openPage(): Promise<Response> {
  try {
    return await fetchPage();
  } catch {
    return (await caches.match(page)) ?? Response.error(); // The browser can delete saved pages.
  }
}

async function openAsset(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/** Fetches the page from the service. Saves it with its assets and deletes the earlier version. */
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
