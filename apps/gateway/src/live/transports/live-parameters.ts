import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { DescribesText, filterParameters } from '../../events/event-filter-parameters.js';
import { keepAliveMs, maxEventTypes } from '../live-limits.js';

/** Describes the query of a stream of server-sent events. */
export function ServerSentEventsParameters(): MethodDecorator {
  return applyDecorators(
    DescribesEventTypes(),
    ...filterParameters.filter(({ name }) => name !== 'event_type').map(DescribesText),
    DescribesText({
      name: 'after',
      description: 'The last position that the client has: what came after it is sent first',
      example: '5f3a9c1e-1041-6a1f0c11',
    }),
    DescribesText({
      name: 'name',
      description: 'The name of the connection: a replay can be meant for the connections of one name',
      example: 'my-overlay',
    }),
  );
}

/** Describes the query of a WebSocket, which is also what its first message may have. */
export function WebSocketParameters(): MethodDecorator {
  return applyDecorators(
    ServerSentEventsParameters(),
    DescribesFlag('positions', 'Whether records have their `position`, and `ready` and `gap` are sent'),
    DescribesFlag(
      'keep_alive',
      `Whether \`{"event":"keep_alive"}\` is sent every ${keepAliveMs / 1_000} seconds`,
    ),
  );
}

function DescribesEventTypes(): MethodDecorator {
  return ApiQuery({
    name: 'event_type',
    required: false,
    description: 'Event type, exactly; repeated: any of them',
    explode: true,
    schema: {
      type: 'array',
      items: { type: 'string' },
      maxItems: maxEventTypes,
      example: ['channel-raid', 'channel-cheer'],
    },
  });
}

function DescribesFlag(name: string, description: string): MethodDecorator {
  return ApiQuery({ name, required: false, description, schema: { type: 'boolean', default: false } });
}
