import { createRouter } from '@tanstack/react-router';
import { eventsRoute } from './events/events.route.js';
import { FaultPage } from './layout/fault-page.js';
import { indexRoute, rootRoute, signedInRoute, unknownRoute } from './layout/routes.js';
import { sessionStore } from './session/session.js';
import { signInRoute } from './sign-in/sign-in.route.js';

/** All views. To add a page, see the README. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  signedInRoute.addChildren([indexRoute, eventsRoute, unknownRoute]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultErrorComponent: FaultPage,
  defaultPreload: 'intent',
});

// When the session ends, the routes decide again, and the user signs in.
sessionStore.subscribe(() => void router.invalidate());

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
