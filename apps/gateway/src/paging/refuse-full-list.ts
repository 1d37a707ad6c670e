import { ServiceError } from '@stream-events/contracts';
import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

// Far more rows than anyone needs. A row takes up to 5 KiB in a list, and a whole list may take 64 MiB.
const maxRows = 10_000;

/**
 * Refuses another row in a list that the API returns as a whole and that every user may extend. Without this limit, a client that creates
 * rows in a loop could make the list too large to read, and then nobody could find the rows to delete.
 *
 * @throws ServiceError `conflict`
 */
export async function refuseFullList(
  manager: EntityManager,
  entity: EntityTarget<ObjectLiteral>,
  plural: string,
): Promise<void> {
  if ((await manager.count(entity)) < maxRows) return;
  throw new ServiceError(
    'conflict',
    `There are already ${maxRows.toLocaleString('en')} ${plural}, which is the maximum. Delete unused ones.`,
  );
}
