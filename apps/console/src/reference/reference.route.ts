import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const referenceTabs = ['endpoints', 'scopes'] as const;
export type ReferenceTab = (typeof referenceTabs)[number];

export const referenceRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'reference',
  validateSearch: ({ tab, q }: Record<string, unknown>): { tab?: ReferenceTab; q?: string } => {
    const known = referenceTabs.find((each) => each === tab);
    return {
      ...(known && { tab: known }),
      ...(typeof q === 'string' && q !== '' && { q }),
    };
  },
  component: lazyRouteComponent(() => import('./reference.page.js'), 'ReferencePage'),
});
