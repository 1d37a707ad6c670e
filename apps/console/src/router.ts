import { createRouter } from '@tanstack/react-router';
import { accountRoute } from './account/account.route.js';
import { auditLogRoute } from './audit-log/audit-log.route.js';
import { browserSourcesRoute } from './browser-sources/browser-sources.route.js';
import { eventsRoute } from './events/events.route.js';
import { LoadingRows } from './kit/loading.js';
import { FaultPage } from './layout/fault-page.js';
import { indexRoute, rootRoute, signedInRoute, unknownRoute } from './layout/routes.js';
import { onboardingRoute } from './onboarding/onboarding.route.js';
import { platformRoute } from './platform/platform.route.js';
import { referenceRoute } from './reference/reference.route.js';
import { sessionStore } from './session/session.js';
import { signInRoute } from './sign-in/sign-in.route.js';
import { streamRoute } from './streams/stream.route.js';
import { streamerRoute } from './streamers/streamer.route.js';
import { streamersRoute } from './streamers/streamers.route.js';
import { systemRoute } from './system/system.route.js';
import { testEventRoute } from './test-event/test-event.route.js';
import { tokensRoute } from './tokens/tokens.route.js';
import { usersRoute } from './users/users.route.js';

/** To add a page, see the README. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  signedInRoute.addChildren([
    indexRoute,
    onboardingRoute,
    eventsRoute,
    testEventRoute,
    streamersRoute,
    streamerRoute,
    streamRoute,
    browserSourcesRoute,
    platformRoute,
    referenceRoute,
    systemRoute,
    accountRoute,
    tokensRoute,
    usersRoute,
    auditLogRoute,
    unknownRoute,
  ]),
]);

// Show the loading state only after this time, so that pages that load faster appear without a flash.
const pendingMs = 300;

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultErrorComponent: FaultPage,
  defaultPreload: 'intent',
  defaultPendingComponent: LoadingRows,
  defaultPendingMs: pendingMs,
  // Parse all values as text. By default, the router would turn the id `123` into a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: printSearch,
});

// When a session starts or ends, evaluate the routes again. Without a session, they redirect to the sign-in page.
sessionStore.subscribe(() => void router.invalidate());

function printSearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
  const text = new URLSearchParams(entries as [string, string][]).toString(); // Safe cast: just filtered.
  return text && `?${text}`;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
