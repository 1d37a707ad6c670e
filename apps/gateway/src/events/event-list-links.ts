import { Injectable } from '@nestjs/common';
import type { ListPosition } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { pathOf } from '../http/paths.js';
import { PublicUrl } from '../http/public-url.js';
import { printCursor } from './event-list.cursor.js';
import type { EventListQuery } from './event-list.query.js';

/** Builds the `next` and `previous` links of a list: the request's own URL, in the form it was written, with a cursor. */
@Injectable()
export class EventListLinks {
  constructor(private readonly publicUrl: PublicUrl) {}

  /** The absolute URL of the page at a position. */
  of(request: FastifyRequest, query: EventListQuery, position: ListPosition): string {
    const path = pathOf(request.originalUrl);
    const parameters = new URLSearchParams(request.originalUrl.slice(path.length));
    parameters.set('cursor', printCursor(position, query.list));
    return this.publicUrl.of(request, `${path}?${parameters.toString()}`);
  }
}
