import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';

/**
 * An id of the path, of the parameter `id` unless another is named: a UUID, in lower case. A malformed one is as unknown as any
 * other: 404.
 */
export const Id = createParamDecorator((parameter: string | undefined, context: ExecutionContext): string => {
  const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
  const id = params[parameter ?? 'id'];
  if (id === undefined || !isUuid(id)) throw new ServiceError('not_found', 'There is nothing with this id.');
  return id.toLowerCase();
});
