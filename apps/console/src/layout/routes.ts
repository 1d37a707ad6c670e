import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { onboardingQuery } from '../api/onboarding.js';
import { queryClient } from '../api/query-client.js';
import { sessionStore } from '../session/session.js';
import { FaultPage } from './fault-page.js';
import { Layout } from './layout.js';
import { NotFoundPage } from './not-found-page.js';

export const rootRoute = createRootRoute({ errorComponent: FaultPage });

/** Parent of all pages that need a session. Without one, the user signs in first and then returns to the page. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: Layout,
  beforeLoad: ({ location }) => {
    if (sessionStore.get()) return;
    throw redirect({ to: '/sign-in', search: { from: location.href } });
  },
});

/** Redirects owners who need the guide to the guide, and everyone else to the Events page. */
export const indexRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: async () => {
    // On an error, open the Events page, which shows why the service does not respond.
    const needsGuide = await queryClient.query(onboardingQuery).catch(() => false);
    throw redirect({ to: needsGuide ? '/onboarding' : '/events' });
  },
});

export const unknownRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: NotFoundPage,
});
