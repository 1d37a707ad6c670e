import { EncryptionKey, StoreIdentity } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { Alarm, AlarmCheckLease, AlarmPost } from './alarms/alarm.entity.js';
import { Connection, connectionColumns } from './connections/connection.entity.js';
import { EventTypeChoice } from './event-types/event-type-choice.entity.js';
import { CreateAppTokensAndRateBudgets1764200000000 } from './migrations/1764200000000-create-app-tokens-and-rate-budgets.js';
import { CreateSubscriptions1764210000000 } from './migrations/1764210000000-create-subscriptions.js';
import { CreateCatalogue1764220000000 } from './migrations/1764220000000-create-catalogue.js';
import { CreateStoreIdentity1764240000000 } from './migrations/1764240000000-create-store-identity.js';
import { CreatePlatformErrors1764500000000 } from './migrations/1764500000000-create-platform-errors.js';
import { CreateEncryptionKeys1767200000000 } from './migrations/1767200000000-create-encryption-keys.js';
import { CreateConnections1767400000000 } from './migrations/1767400000000-create-connections.js';
import { CreateDeliveryGaps1767500000000 } from './migrations/1767500000000-create-delivery-gaps.js';
import { Conduit } from './conduits/conduit.entity.js';
import { ConduitShard } from './conduits/conduit-shard.entity.js';
import { ShardHolder } from './conduits/shard-holder.entity.js';
import { CreateUserSessions1767510000000 } from './migrations/1767510000000-create-user-sessions.js';
import { AddTransports1767600000000 } from './migrations/1767600000000-add-transports.js';
import { CreateUserGrants1767700000000 } from './migrations/1767700000000-create-user-grants.js';
import { CreateAlarms1767810000000 } from './migrations/1767810000000-create-alarms.js';
import { AddRateBudgetsOfUsers1767900000000 } from './migrations/1767900000000-add-rate-budgets-of-users.js';
import { CreateConduits1767610000000 } from './migrations/1767610000000-create-conduits.js';
import { CreatePictures1767910000000 } from './migrations/1767910000000-create-pictures.js';
import { AddHolderBackends1768200000000 } from './migrations/1768200000000-add-holder-backends.js';
import { Picture } from './pictures/picture.entity.js';
import { AddConnectionRoles1767700100000 } from './migrations/1767700100000-add-connection-roles.js';
import { CreateStreamerEventTypes1767700200000 } from './migrations/1767700200000-create-streamer-event-types.js';
import { StreamerEventTypes } from './event-types/streamer-event-types.entity.js';
import { AppToken, appTokenColumn } from './platform/app-token.entity.js';
import { CreateSubscriptionMoves1767300000000 } from './migrations/1767300000000-create-subscription-moves.js';
import { UserGrant } from './grants/user-grant.entity.js';
import { PlatformErrorRow } from './platform/platform-error.entity.js';
import { RateBudgetRow } from './platform/rate-budget.entity.js';
import { DeliveryGapRow } from './sockets/delivery-gap.entity.js';
import { UserSession } from './sockets/user-session.entity.js';
import { Reconciliation } from './subscriptions/reconciliation.entity.js';
import { SubscriptionMoveRow } from './subscriptions/subscription-move.entity.js';
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
    SubscriptionMoveRow,
    UserGrant,
    UserSession,
  ],
  migrations: [
    CreateAppTokensAndRateBudgets1764200000000,
    CreateSubscriptions1764210000000,
    CreateCatalogue1764220000000,
    CreateStoreIdentity1764240000000,
    CreatePlatformErrors1764500000000,
    CreateEncryptionKeys1767200000000,
    CreateConnections1767400000000,
    CreateSubscriptionMoves1767300000000,
    CreateDeliveryGaps1767500000000,
    CreateUserSessions1767510000000,
    AddTransports1767600000000,
    CreateUserGrants1767700000000,
    CreateAlarms1767810000000,
    AddRateBudgetsOfUsers1767900000000,
    CreateConduits1767610000000,
    CreatePictures1767910000000,
    AddConnectionRoles1767700100000,
    CreateStreamerEventTypes1767700200000,
    AddHolderBackends1768200000000,
  ],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [appTokenColumn, ...connectionColumns],
};
