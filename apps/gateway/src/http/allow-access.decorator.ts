import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/** Who may use a route: anybody, users (the default), owners, or those who may register users (see `REGISTRATION`). */
export type Access = 'public' | 'user' | 'owner' | 'registration';

/** The metadata key under which `AccessGuard` finds the access of a route. */
export const accessKey = 'access';

/** Declares who may use a route, or all routes of a controller. */
export function AllowAccess(access: Access): CustomDecorator {
  return SetMetadata(accessKey, access);
}
