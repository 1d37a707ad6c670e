import { isJsonObject } from '@stream-events/contracts';
import { HttpConnection } from '../load/http-connection.js';
import { pathOf, printGet, type ListQuery } from './list-query.js';

/** A page and the duration of its request. If the request was refused, the page has no events and no neighbors. */
export interface ReadPage {
  status: number;
  ms: number;
  events: number;
  /** Paths of the neighboring pages. */
  next: string | null;
  previous: string | null;
}

export class ListClient {
  private readonly connection: HttpConnection;

  constructor(
    port: number,
    private readonly token: string,
  ) {
    this.connection = new HttpConnection(port);
  }

  close(): void {
    this.connection.close();
  }

  first(query: ListQuery): Promise<ReadPage> {
    return this.read(pathOf(query));
  }

  async read(path: string): Promise<ReadPage> {
    const sentAt = performance.now();
    const { status, body } = await this.connection.request(printGet(path, this.token));
    const ms = performance.now() - sentAt;
    const page: unknown = JSON.parse(body.toString());
    const results = isJsonObject(page) ? page.results : undefined;
    if (status !== 200 || !isJsonObject(page) || !Array.isArray(results))
      return { status, ms, events: 0, next: null, previous: null };
    const { next, previous } = page;
    return { status, ms, events: results.length, next: pathOfLink(next), previous: pathOfLink(previous) };
  }
}

function pathOfLink(link: unknown): string | null {
  if (typeof link !== 'string') return null;
  const { pathname, search } = new URL(link);
  return pathname + search;
}
