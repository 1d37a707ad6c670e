import { EncryptionKey, StoreIdentity } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { Alarm, AlarmCheckLease, AlarmPost } from './alarms/alarm.entity.js';
import { Connection, connectionColumns } from './connections/connection.entity.js';
import { EventTypeChoice } from './event-types/event-type-choice.entity.js';
import { Conduit } from './conduits/conduit.entity.js';
import { ConduitShard } from './conduits/conduit-shard.entity.js';
import { ShardHolder } from './conduits/shard-holder.entity.js';
import { createPlatformConnector } from './migrations/create-platform-connector.js';
import { Picture } from './pictures/picture.entity.js';
import { StreamerEventTypes } from './event-types/streamer-event-types.entity.js';
import { AppToken, appTokenColumn } from './platform/app-token.entity.js';
import { UserGrant } from './grants/user-grant.entity.js';
import { PlatformErrorRow } from './platform/platform-error.entity.js';
import { RateBudgetRow } from './platform/rate-budget.entity.js';
import { DeliveryGapRow } from './sockets/delivery-gap.entity.js';
import { UserSession } from './sockets/user-session.entity.js';
import { Reconciliation } from './subscriptions/reconciliation.entity.js';
import { Subscription } from './subscriptions/subscription.entity.js';

export const schema = {
  name: serviceSchemas['platform-connector'],
  entities: [
    Alarm,
    AlarmCheckLease,
    AlarmPost,
    AppToken,
    Conduit,
    ConduitShard,
    Connection,
    DeliveryGapRow,
    EncryptionKey,
    EventTypeChoice,
    Picture,
    PlatformErrorRow,
    RateBudgetRow,
    Reconciliation,
    ShardHolder,
    StoreIdentity,
    StreamerEventTypes,
    Subscription,
    UserGrant,
    UserSession,
  ],
  migrations: [createPlatformConnector],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [appTokenColumn, ...connectionColumns],
};
