import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { DescribesText, filterParameters } from '../../event-filters/event-filter-parameters.js';
import { keepAliveMs, maxEventTypes } from '../live-limits.js';

/** Describes the query parameters of server-sent events. */
export function ServerSentEventsParameters(): MethodDecorator {
  return applyDecorators(
    DescribesEventTypes(),
    ...filterParameters.filter(({ name }) => name !== 'event_type').map(DescribesText),
    DescribesText({
      name: 'after',
      description:
        'The last position you received. Delivery resumes after this position. Without a position, you receive new events only',
      example: '5f3a9c1e-1041-6a1f0c11',
    }),
    DescribesText({
      name: 'name',
      description:
        'Name of this connection. Replays, rehearsals, and controls can target connections by name',
      example: 'my-overlay',
    }),
    DescribesFlag('controls', 'Delivers the controls that are addressed to the name of this connection'),
  );
}

/** Describes the query parameters of a WebSocket. The first message accepts fields with the same names. */
export function WebSocketParameters(): MethodDecorator {
  return applyDecorators(
    ServerSentEventsParameters(),
    DescribesFlag(
      'positions',
      'Adds `position` to each record except replays, and sends the messages `ready` and `gap`',
    ),
    DescribesFlag('keep_alive', `Sends \`{"event":"keep_alive"}\` every ${keepAliveMs / 1_000} seconds`),
  );
}

function DescribesEventTypes(): MethodDecorator {
  return ApiQuery({
    name: 'event_type',
    required: false,
    description: 'Event type; exact match. Repeat the parameter to match any of several types',
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
