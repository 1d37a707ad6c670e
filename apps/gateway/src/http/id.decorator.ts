import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';

/** A UUID from the path (parameter `id` by default), in lower case. A malformed id gets 404, like an unknown one. */
export const Id = createParamDecorator((parameter: string | undefined, context: ExecutionContext): string => {
  const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
  const id = params[parameter ?? 'id'];
  if (id === undefined || !isUuid(id))
    throw new ServiceError('not_found', 'No record has this id: the id is not a UUID.');
  return id.toLowerCase();
});
