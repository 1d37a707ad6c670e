import { describeSchema } from '@stream-events/testing';
import { connectConnector } from '../test/connect-connector.js';
import { schema } from './platform-connector.database.js';

// The gateway has copied these tables and keeps them now; a later version of the connector drops them.
const retiredTables = ['scopes', 'api_endpoints', 'catalogue_seeds'];

describeSchema(schema.name, (database) => connectConnector(database, 1), retiredTables);
