import { AsyncLocalStorage } from 'node:async_hooks';

/** The NATS header that carries the id of the HTTP request behind a message into the logs of every service. */
export const correlationHeader = 'Correlation-Id';

const storage = new AsyncLocalStorage<string | undefined>();

/** Runs `work` so that everything it does, in other services too, is logged under this id (or under none). */
export function runWithCorrelation<T>(id: string | undefined, work: () => T): T {
  return storage.run(id, work);
}

/** The id of the unit of work that is being done, if it has one. */
export function currentCorrelationId(): string | undefined {
  return storage.getStore();
}
