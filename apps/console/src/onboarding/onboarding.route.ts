import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const onboardingRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'onboarding',
  component: lazyRouteComponent(() => import('./onboarding.page.js'), 'OnboardingPage'),
});
