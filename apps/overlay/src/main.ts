import { closeCodes, createClient, LiveError } from '@stream-events/client';
import type { DescribedEvent } from '@stream-events/sentences';
import { AlertFeed, toAlert } from './alert-feed.js';
import { AlertQueue, type Alert } from './alert-queue.js';
import { AlertView } from './alert-view.js';
import './overlay.css';
import { PositionStore } from './position-store.js';
import { readSettings } from './settings.js';

const markMs = 250;

const settings = readSettings(location.hash);
const queue = new AlertQueue();
const frame = document.getElementById('alerts');
if (!frame) throw new Error('index.html does not contain the element #alerts.');
const view = new AlertView(frame, settings.showMs);
let state = 'starting';

// The settings are in the fragment. Browsers do not reload a page when only its fragment changes.
addEventListener('hashchange', () => location.reload());
if (settings.isDebug) showMark();
void play(settings.isPreview ? followPage() : followService());

async function play(onTaken: (alert: Alert) => void): Promise<never> {
  for (;;) {
    const alert = await queue.take();
    // Save the position before showing the alert. If the page closes during an alert, that alert is not shown again.
    onTaken(alert);
    await view.show(alert);
  }
}

/** Shows alerts from the service. Problems appear only in the `debug` mark, never on air. */
function followService(): (alert: Alert) => void {
  try {
    const feed = new AlertFeed({
      client: createClient({ url: location.origin, token: settings.token }),
      settings,
      queue,
      store: new PositionStore(settings, localStorage),
      onState: (text) => (state = text),
      onControl: (control) => {
        queue.control(control);
        if (control === 'skip') view.skipCurrent();
      },
    });
    keepPage();
    feed.run().catch((error: unknown) => (state = `refused: ${String(error)}${remedyFor(error)}`));
    return (alert) => feed.onTaken(alert);
  } catch (error) {
    state = String(error); // The token is invalid, or the browser has no storage.
    return () => undefined;
  }
}

function remedyFor(error: unknown): string {
  const isTokenRefused = error instanceof LiveError && error.closeCode === closeCodes.unauthenticated;
  return isTokenRefused
    ? '. The token has expired or was revoked. Create a new address on the console’s Browser sources page'
    : '';
}

/** Lets this page load while the service is down, if the browser supports service workers. */
function keepPage(): void {
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker
    .register('/overlay/service-worker.js', { type: 'module' })
    .catch((error: unknown) => (state = `cannot save this page for offline use: ${String(error)}`));
}

/** Shows alerts from the page that embeds this one as a preview. */
function followPage(): () => void {
  addEventListener('message', ({ origin, data }: MessageEvent<Partial<DescribedEvent> | null>) => {
    const { event_type, event_data } = data ?? {};
    // Accept only events from pages of this service, such as the embedding page. Developer tools and browser extensions send messages too.
    if (origin !== location.origin || typeof event_type !== 'string' || !event_data) return;
    if (!queue.isFull) queue.add(toAlert({ event_type, event_data }));
    view.skipCurrent();
  });
  return () => undefined;
}

function showMark(): void {
  const mark = document.body.appendChild(document.createElement('output'));
  mark.className = 'mark';
  setInterval(() => (mark.textContent = `${state}, ${queue.state}`), markMs);
}
