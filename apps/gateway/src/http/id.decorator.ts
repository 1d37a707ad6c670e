import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';

/** The `id` of the path: a UUID, in lower case. A malformed one is as unknown as any other: 404. */
export const Id = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { id } = context.switchToHttp().getRequest<FastifyRequest<{ Params: { id: string } }>>().params;
  if (!isUuid(id)) throw new ServiceError('not_found', 'There is nothing with this id.');
  return id.toLowerCase();
});
