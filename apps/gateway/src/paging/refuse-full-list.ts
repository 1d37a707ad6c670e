import { ServiceError } from '@stream-events/contracts';
import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

// Maximum number of rows, far more than anyone needs. A row takes up to 5 KiB, and a whole list can have 64 MiB.
const maxRows = 10_000;

/**
 * Rejects a new row in a full list. The API returns these lists as a whole, and every user can add rows. Without a limit, a client that
 * adds rows in a loop could make the list too large to read, and nobody could find the rows to delete.
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
