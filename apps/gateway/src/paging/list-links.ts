import { Injectable } from '@nestjs/common';
import type { ListPosition } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { pathOf, queryOf } from '../http/paths.js';
import { PublicUrl } from '../http/public-url.js';
import { printCursor } from './cursor.js';

/** Builds the `next` and `previous` links of a list: the requested URL with another cursor. */
@Injectable()
export class ListLinks {
  constructor(private readonly publicUrl: PublicUrl) {}

  /** `list` is the text that the cursor is bound to. */
  of(request: FastifyRequest, list: string, position: ListPosition): string {
    const path = pathOf(request.originalUrl);
    const parameters = queryOf(request.originalUrl);
    parameters.set('cursor', printCursor(position, list));
    return this.publicUrl.of(request, `${path}?${parameters.toString()}`);
  }
}
